"""A comparison and a report saved as one file, opened where there is no network; and the page's state without a script."""

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Opener, Service
from tests.browser.runner import Runner


@pytest.fixture(scope="module")
def compared(service: Service, runner: Runner) -> str:
    runner.offer()
    found = []
    for language, acceptance in (("ru", 0.4), ("en", 0.9)):
        found.append(str(service.submit(language=language)))
        runner.lease().measure(prompts=8, passes=4, acceptance=acceptance)
    return ",".join(found)


@pytest.mark.parametrize(("width", "paper"), [(1280, "light"), (400, "dark")])
def test_a_saved_page_needs_nothing(chromium: Browser, service: Service, compared: str, tmp_path: Path, width: int, paper: str) -> None:
    """Catches a file that looks right only while its server is there: a plot that is not drawn, a request, an icon or a font that is missing."""
    for name, path in (("compare", f"/compare.html?runs={compared}"), ("run", f"/runs/{compared.split(',')[0]}/report.html")):
        saved = tmp_path / f"{name}.html"
        saved.write_bytes(httpx.get(service.url + path, timeout=60).raise_for_status().content)
        context = chromium.new_context(offline=True, viewport={"width": width, "height": 900}, color_scheme=paper)  # type: ignore[arg-type]
        page = context.new_page()
        complaints: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message, into=complaints: into.append(message.text) if message.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error, into=complaints: into.append(str(error)))
        page.on("request", lambda request, into=asked: into.append(request.url))
        page.goto(saved.as_uri())
        expect(page.locator(".canvas[data-figure]").first).to_have_attribute("data-drawn", paper)
        expect(page.locator(".canvas[data-figure]:not([data-drawn])")).to_have_count(0)
        assert page.evaluate("document.fonts.check('16px Inter')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
        assert complaints == []
        context.close()


def test_plots_are_chosen_without_a_script(show: Opener, compared: str) -> None:
    """Catches a choice that needs JavaScript, or that is lost by the next one."""
    page = show(f"/compare?runs={compared}", java_script_enabled=False).page
    page.get_by_text("Choose plots").click()
    for name in ("By text profile", "Along the answer"):
        page.get_by_role("checkbox", name=name).uncheck()
    page.get_by_role("button", name="Show these plots").click()
    expect(page.locator("#plot-forest")).to_have_count(1)
    expect(page.locator("#plot-profiles")).to_have_count(0)
    page.get_by_role("link", name="of all rounds").click()
    expect(page).to_have_url(re.compile(rf"runs={compared}&position=all&figure=forest,"))
    expect(page.locator("#plot-profiles")).to_have_count(0)
    expect(page.locator("#plot-positions h3")).to_contain_text("of all rounds")
