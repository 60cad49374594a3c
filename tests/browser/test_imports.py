"""Imports as a person meets them: a file by a form without a script, refused until the language is told, and read on any screen."""

import json

import httpx
import pytest
from playwright.sync_api import FilePayload, expect

from tests.app.imports.samples import content
from tests.browser.conftest import Opener, Service
from tests.integration.test_imports import BENCH


def file(**over: object) -> FilePayload:
    return {"name": "result.json", "mimeType": "application/json", "buffer": json.dumps(BENCH | over).encode()}


@pytest.fixture(scope="module")
def brought(service: Service) -> list[int]:
    """One with figures and one whose figures are refused."""
    found = []
    for query, over in (("?language=ru", {}), ("", {"tokenizer_id": None})):
        answer = httpx.post(f"{service.url}/api/v1/imports{query}", content=file(**over)["buffer"], headers=service.admin)
        found.append(int(answer.raise_for_status().json()["id"]))
    return found


@pytest.mark.parametrize(
    ("width", "paper", "locale"), [(1280, "light", "en-US"), (400, "dark", "en-US"), (1280, "dark", "ru-RU"), (320, "light", "ru-RU")]
)
def test_the_pages_fit_and_pass(show: Opener, brought: list[int], width: int, paper: str, locale: str) -> None:
    """Catches a page that scrolls sideways, logs an error, or that axe-core finds serious fault with."""
    opened = show("/imports", width=width, color_scheme=paper, locale=locale)
    found = {}
    for name, path in {"imports": "/imports", "import": f"/imports/{brought[0]}", "import-refused": f"/imports/{brought[1]}"}.items():
        opened.page.goto(path)
        opened.settled()
        opened.shot(f"{name}-{width}-{paper}-{locale[:2]}")
        wide = opened.page.evaluate("document.documentElement.scrollWidth")
        faults = opened.complaints + ([f"{wide} px wide"] if wide > width else []) + opened.axe()
        if faults:
            found[name] = faults
    assert found == {}


def test_two_texts_of_metrics_are_imported_without_a_script(show: Opener) -> None:
    """Catches a form that cannot say how many requests there were, and an error beside the wrong field or in a closed part of the form."""
    page = show("/imports", java_script_enabled=False).page

    def choose(*names: str) -> None:
        for label, name in zip(("File of the tool", "The server's counters from before"), names, strict=False):
            buffer = content(f"llama_metrics/ngram_{name}.txt")
            page.get_by_label(label).set_input_files({"name": name, "mimeType": "text/plain", "buffer": buffer})

    page.get_by_text("The file is a server's /metrics", exact=True).click()
    choose("after", "before")
    page.get_by_role("button", name="Import the file").click()
    expect(page.locator("#requests-error")).to_contain_text("does not count its requests")
    choose("after", "before")
    page.get_by_label("Requests in between").fill("eight")
    page.get_by_role("button", name="Import the file").click()
    expect(page.locator("#requests-error")).to_contain_text("whole number")
    expect(page.get_by_label("Requests in between")).to_have_value("eight")
    page.get_by_label("Requests in between").fill("8")
    choose("after")
    page.get_by_role("button", name="Import the file").click()
    expect(page.locator("#before-error")).to_be_visible()
    choose("after", "before")
    page.get_by_label("Requests at a time").fill("1")
    page.get_by_role("button", name="Import the file").click()
    expect(page.locator("#refused")).to_contain_text("neither in which language")
    page.get_by_text("What was counted").click()
    expect(page.locator("main")).to_contain_text("213")


def test_a_file_is_imported_and_completed_without_a_script(show: Opener) -> None:
    """Catches a form that needs JavaScript, a refused acceptance that is shown, and a passport that cannot be completed by hand."""
    page = show("/imports", java_script_enabled=False).page
    page.get_by_role("button", name="Import the file").click()
    expect(page.locator("#file-error")).to_contain_text("Choose the file")
    page.get_by_label("File of the tool").set_input_files({"name": "x", "mimeType": "text/plain", "buffer": b"{}"})
    page.get_by_role("button", name="Import the file").click()
    expect(page.locator("#file-error")).to_contain_text("no tool that is known here")
    page.get_by_label("File of the tool").set_input_files(file(duration=3.25))
    page.get_by_role("button", name="Import the file").click()
    expect(page.locator("#refused")).to_contain_text("does not say in which language")
    assert "81.5" not in page.locator("main").inner_text()
    page.get_by_label("language", exact=True).fill("klingonish")
    page.get_by_role("button", name="Keep the passport").click()
    expect(page.locator("#language-error")).to_contain_text("ru or en")
    page.get_by_label("language", exact=True).fill("ru")
    page.get_by_role("button", name="Keep the passport").click()
    expect(page.locator("#answer")).to_contain_text("81.5%")
    expect(page.locator("#answer")).to_contain_text("There is no verdict")
