"""From one run to the next in a browser: Back, a change and a second click; what a picture is saved as."""

import re
from pathlib import Path

import httpx
from playwright.sync_api import expect

from tests.browser.conftest import Opener, Service
from tests.browser.runner import Runner
from tests.browser.test_main_job import fill


def test_back_and_a_change_is_another_run(show: Opener, service: Service, runner: Runner) -> None:
    """Catches a refusal over a key that nobody typed, and two runs out of one impatient double click."""
    runner.offer()
    page = show("/submit").page
    fill(page)
    page.get_by_role("checkbox", name="en, English").uncheck()
    button = page.get_by_role("button", name="Queue the measurement")
    button.dblclick()
    expect(page).to_have_url(re.compile(r"/runs/\d+$"))
    first = int(page.url.rsplit("/", 1)[1])
    page.go_back()
    page.get_by_label("Tokens per answer").fill("48")
    button.click()
    expect(page).to_have_url(re.compile(r"/runs/\d+$"))
    second = int(page.url.rsplit("/", 1)[1])
    assert second == first + 1
    newest = httpx.get(f"{service.url}/api/v1/runs?limit=1").json()["items"][0]
    assert (newest["id"], newest["spec"]["max_new_tokens"]) == (second, 48)
    for run in (first, second):
        httpx.post(f"{service.url}/api/v1/runs/{run}/cancel", headers=service.admin).raise_for_status()


def test_a_form_is_filled_from_a_run_and_pictures_are_saved(show: Opener, service: Service, runner: Runner, tmp_path: Path) -> None:
    """Catches a link whose form loses a field on its way through the browser, and a picture or its points that cannot be taken along."""
    runner.offer()
    run = service.submit(language="en", controller={"name": "constant", "params": {"draft_tokens": 3}}, max_new_tokens=40, trials=2)
    runner.lease().measure(prompts=8, passes=4, tokens=40)
    httpx.get(f"{service.url}/api/v1/runs/{run}/report", timeout=60).raise_for_status()
    opened = show(f"/runs/{run}")
    page = opened.page
    opened.settled()
    for name in ("SVG", "CSV"):
        with page.expect_download() as saved:
            page.locator("#plot-forest .save").get_by_text(name, exact=True).click()
        saved.value.save_as(tmp_path / name)
    assert (tmp_path / "SVG").read_text().startswith("<svg")
    assert (tmp_path / "CSV").read_text().startswith("what,x,x_low,x_high")
    assert opened.complaints == []
    page.get_by_role("link", name="Measure the same in Russian").click()
    expect(page.get_by_label("Tokens per answer")).to_have_value("40")
    expect(page.locator("aside")).to_contain_text(re.compile(r"1.run, about .+ on local"))
    page.get_by_role("button", name="Queue the measurement").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+$"))
    twin = int(page.url.rsplit("/", 1)[1])
    specs = [httpx.get(f"{service.url}/api/v1/runs/{number}").json()["spec"] for number in (run, twin)]
    assert specs[1] == specs[0] | {"language": "ru"}
    httpx.post(f"{service.url}/api/v1/runs/{twin}/cancel", headers=service.admin).raise_for_status()
