"""Suites as a person meets them: uploaded by a form without a script, named by line where wrong, read where public."""

import json

import httpx
import pytest
from playwright.sync_api import FilePayload, expect

from tests.browser.conftest import Opener, Service
from tests.browser.runner import Runner

SECRET = "the ferryman counts only the odd waves"


def file(*texts: str) -> FilePayload:
    lines = [
        {
            "id": f"p{n}-{language}",
            "parallel": f"p{n}",
            "language": language,
            "profile": "dialogue",
            "answer": "prompt",
            "text": f"{text} ({language})",
        }
        for n, text in enumerate(texts)
        for language in ("ru", "en")
    ]
    return {"name": "mine.jsonl", "mimeType": "application/jsonl", "buffer": "\n".join(json.dumps(line) for line in lines).encode()}


@pytest.fixture(scope="module")
def uploaded(service: Service, runner: Runner) -> None:
    runner.offer()
    for id, query in (("open-v1", ""), ("closed-v1", "&private=true")):
        body = file("What would you pack for a week on a small boat?", f"Explain why {SECRET}.")["buffer"]
        headers = service.admin | {"Content-Type": "application/jsonl"}
        httpx.post(f"{service.url}/api/v1/suites?id={id}{query}", content=body, headers=headers).raise_for_status()


@pytest.mark.parametrize(
    ("width", "paper", "locale"),
    [(1280, "light", "en-US"), (400, "dark", "en-US"), (1280, "dark", "ru-RU"), (400, "light", "ru-RU"), (320, "light", "ru-RU")],
)
def test_the_pages_fit_and_pass(show: Opener, uploaded: None, runner: Runner, width: int, paper: str, locale: str) -> None:
    """Catches a page that scrolls sideways, logs an error, that axe-core finds serious fault with, or that shows private text."""
    runner.offer()
    opened = show("/suites", width=width, color_scheme=paper, locale=locale)
    found = {}
    for name, path in {
        "suites": "/suites",
        "suite": "/suites/open-v1",
        "suite-private": "/suites/closed-v1",
        "suite-runner": "/suites/everyday",
    }.items():
        opened.page.goto(path)
        opened.settled()
        opened.shot(f"{name}-{width}-{paper}-{locale[:2]}")
        wide = opened.page.evaluate("document.documentElement.scrollWidth")
        shown = SECRET in opened.page.content()
        faults = opened.complaints + ([f"{wide} px wide"] if wide > width else []) + opened.axe() + (["text"] if shown != (name == "suite") else [])
        if faults:
            found[name] = faults
        opened.complaints.clear()
    assert found == {}


def test_a_suite_is_uploaded_without_a_script(show: Opener, runner: Runner) -> None:
    """Catches a form that needs a script, and errors that do not say where."""
    runner.offer()
    opened = show("/suites", java_script_enabled=False)
    page = opened.page
    page.get_by_label("Name and version").fill("boat-v1")
    wrong = file("Where is north?")
    wrong["buffer"] += b'\n{"id": "x"}'
    page.get_by_label("File of JSON lines").set_input_files(wrong)
    page.get_by_role("button", name="Upload the suite").click()
    expect(page.get_by_role("alert")).to_contain_text("Line 3, language: This field is missing.")
    opened.shot("suites-errors")
    expect(page.get_by_label("Name and version")).to_have_value("boat-v1")
    page.get_by_label("File of JSON lines").set_input_files(file("Where is north?"))
    page.get_by_role("button", name="Upload the suite").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What does boat-v1 ask?")
    expect(page.get_by_text("Where is north? (en)")).to_be_visible()
    page.goto("/submit")
    expect(page.get_by_text("boat-v1")).to_be_visible()
