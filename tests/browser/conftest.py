"""The real service as a process of its own, a real Chromium, and a runner that speaks the protocol."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests import factories
from tests.browser.runner import Runner
from tests.integration.filled import PROBE

ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
]  # fmt: skip
SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
AXE = (Path(__file__).parent / "vendor" / "axe-core-4.14.1" / "axe.min.js").read_text()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass
class Service:
    """A running `bezmen serve` and what it leaves in its folder."""

    url: str
    data: Path

    @property
    def admin(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {(self.data / 'admin.token').read_text().strip()}"}

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"BEZMEN_DATA": str(self.data), "BEZMEN_URL": self.url}

    def submit(self, **over: Any) -> int:
        answer = httpx.post(f"{self.url}/api/v1/runs", json=factories.spec_body(**over), headers=self.admin)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])

    def probe(self, runner: Runner) -> int:
        """One that has succeeded."""
        made = httpx.post(f"{self.url}/api/v1/probes", json=PROBE, headers=self.admin)
        assert made.status_code == 201, made.text
        runner.probe()
        return int(made.json()["id"])

    def campaign(self, runner: Runner) -> int:
        """Two drafters in two languages: one run is measured, the others are cancelled, one of those is resumed and cancelled again."""
        runs = [factories.spec_body(drafter=drafter, language=language) for language in ("ru", "en") for drafter in ("ngram", "layerskip")]
        made = httpx.post(f"{self.url}/api/v1/campaigns", json={"title": "Два драфтера, two languages", "runs": runs}, headers=self.admin)
        assert made.status_code == 201, made.text
        runner.lease().measure(prompts=8, passes=4)
        for verb in ("cancel", "resume", "cancel"):
            httpx.post(f"{self.url}/api/v1/campaigns/{made.json()['id']}/{verb}", headers=self.admin).raise_for_status()
        return int(made.json()["id"])


@pytest.fixture(scope="package")
def service() -> Iterator[Service]:
    # Outside pytest's own directories: the database's user cannot pass those when root runs the tests.
    data = Path(tempfile.mkdtemp(prefix="bezmen-browser-"))
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "BEZMEN_TOKEN", "BEZMEN_URL"}}
    command = [sys.executable, "-c", "from app.cli import main; main()", "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment | {"BEZMEN_DATA": str(data)}, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            ready = next((line for line in process.stdout if line.startswith("ready ")), None)
            assert ready is not None, "the service did not start"
            yield Service(ready.split()[1], data)
        finally:
            process.terminate()
            process.wait(timeout=30)
    shutil.rmtree(data)


@pytest.fixture(scope="package")
def runner(service: Service) -> Iterator[Runner]:
    found = Runner(service.url, (service.data / "runner.token").read_text().strip())
    yield found
    found.close()


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    program = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium here; `apt-get install chromium` turns the browser tests on")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Shown:
    """A page and everything that its console complained about."""

    page: Page
    complaints: list[str]

    def shot(self, name: str) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def settled(self) -> None:
        """Waits until every plot is drawn."""
        self.page.wait_for_load_state("load")
        expect(self.page.locator(".canvas[data-figure]:not([data-drawn])")).to_have_count(0)

    def axe(self) -> list[str]:
        """Serious and critical findings of axe-core."""
        self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run({resultTypes: ['violations']})")
        return [f"{item['id']}: {item['nodes'][0]['html'][:120]}" for item in found["violations"] if item["impact"] in {"serious", "critical"}]


Opener = Callable[..., Shown]


@pytest.fixture
def show(chromium: Browser, service: Service) -> Iterator[Opener]:
    """Opens a path in a fresh context: `width`, and whatever Playwright's new_context takes."""
    contexts: list[BrowserContext] = []

    def opened(path: str, *, width: int = 1280, **options: Any) -> Shown:
        context = chromium.new_context(base_url=service.url, viewport={"width": width, "height": 900}, **({"locale": "en-US"} | options))
        contexts.append(context)
        context.set_default_timeout(15_000)
        page = context.new_page()
        complaints: list[str] = []

        def complain(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"}:
                complaints.append(message.text)

        page.on("console", complain)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return Shown(page, complaints)

    yield opened
    for context in contexts:
        context.close()
