"""Every page as a person meets it: both widths, both papers, both languages, with and without JavaScript, by keyboard."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener, Service
from tests.browser.runner import Runner

OUTSIDE = """() => [...document.querySelectorAll('.canvas[data-figure]')].flatMap(canvas => {
  const frame = canvas.getBoundingClientRect();
  const outside = box => box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  return [...canvas.querySelectorAll('text')].filter(text => text.textContent.trim() && outside(text.getBoundingClientRect()))
    .map(text => text.textContent);
})"""
HOSTILE = "</script><img src=x onerror=\"document.title='broken'\">"


@pytest.fixture(scope="module")
def runs(service: Service, runner: Runner) -> Iterator[dict[str, int]]:
    """One run of each kind: Russian refused and good, English paying, hostile text, one that still waits."""
    runner.offer()
    kinds: dict[str, dict[str, Any]] = {
        "refused": {"language": "ru", "degenerate": True, "repeated_share": 0.83},
        "slower": {"language": "ru", "acceptance": 0.3},
        "pays": {"language": "en", "acceptance": 0.9},
        "few": {"language": "en", "prompts": 6, "passes": 2},
        "hostile": {"language": "en", "profile": HOSTILE},
    }
    found = {}
    for kind, facts in kinds.items():
        found[kind] = service.submit(language=facts["language"], trials=facts.get("passes", 4) // 2)
        attempt = runner.lease()
        attempt.measure(**({"prompts": 8, "passes": 4} | {name: value for name, value in facts.items() if name != "language"}))
        httpx.get(f"{service.url}/api/v1/runs/{found[kind]}/report").raise_for_status()
    found["campaign"] = service.campaign(runner)
    found["probe"] = service.probe(runner)
    found["waiting"] = service.submit(language="ru")
    yield found
    httpx.post(f"{service.url}/api/v1/runs/{found['waiting']}/cancel", headers=service.admin).raise_for_status()


def paths(runs: dict[str, int]) -> dict[str, str]:
    return {
        "runs": "/runs",
        "submit": "/submit",
        "run-slower": f"/runs/{runs['slower']}",
        "run-refused": f"/runs/{runs['refused']}",
        "run-few": f"/runs/{runs['few']}",
        "run-queued": f"/runs/{runs['waiting']}",
        "compare": f"/compare?runs={runs['slower']},{runs['pays']}",
        "compare-drafters": f"/compare?runs={runs['pays']},{runs['few']}",
        "compare-one-refused": f"/compare?runs={runs['refused']},{runs['pays']}",
        "choose": "/compare",
        "campaigns": "/campaigns",
        "campaign": f"/campaigns/{runs['campaign']}",
        "probes": "/probes",
        "probe": f"/probes/{runs['probe']}",
        "methodology": "/methodology",
        "access": "/access",
        "login": "/login",
        "languages": "/languages",
        "landscape": "/landscape",
        "runners": "/runners",
    }


@pytest.mark.parametrize(
    ("width", "paper", "locale"),
    [
        (1280, "light", "en-US"),
        (1280, "dark", "en-US"),
        (400, "light", "en-US"),
        (400, "dark", "en-US"),
        (1280, "light", "ru-RU"),
        (400, "dark", "ru-RU"),
        (320, "light", "en-US"),
        (320, "light", "ru-RU"),
    ],
)
def test_every_page_fits_and_passes(show: Opener, runner: Runner, runs: dict[str, int], width: int, paper: str, locale: str) -> None:
    """Catches a page that scrolls sideways, breaks the policy, logs an error, or that axe-core finds serious fault with."""
    found: dict[str, Any] = {}
    # A runner is alive for a lease's length after its last word.
    runner.offer()
    opened = show("/runs", width=width, color_scheme=paper, locale=locale)
    for name, path in paths(runs).items():
        opened.page.goto(path)
        opened.settled()
        if width != 320:
            opened.shot(f"{name}-{width}-{paper}-{locale[:2]}")
        wide = opened.page.evaluate("document.documentElement.scrollWidth")
        faults = opened.complaints + ([f"{wide} px wide"] if wide > width else []) + opened.axe()
        if faults:
            found[name] = faults
        opened.complaints.clear()
    assert found == {}


def test_plots_are_drawn_inside_their_frames(show: Opener, runs: dict[str, int]) -> None:
    """Catches plotly without its style sheet (labels land below the picture), and a label that is cut."""
    for width in (1280, 400):
        opened = show(paths(runs)["compare"], width=width)
        opened.settled()
        assert opened.page.evaluate(OUTSIDE) == []


def test_plots_follow_the_paper(show: Opener, runs: dict[str, int]) -> None:
    """Catches ink that stays dark on a dark page."""
    opened = show(paths(runs)["run-slower"])
    opened.settled()
    tick = opened.page.locator("#plot-forest .xtick text").first
    before = tick.evaluate("element => getComputedStyle(element).fill")
    opened.page.emulate_media(color_scheme="dark")
    expect(opened.page.locator("#plot-forest .canvas")).to_have_attribute("data-drawn", "dark")
    assert tick.evaluate("element => getComputedStyle(element).fill") != before


def test_hollow_in_the_plot_is_cannot_tell_in_the_words(show: Opener, runs: dict[str, int]) -> None:
    """Catches a plot that decides for itself."""
    for kind, words, fill in (("few", "cannot tell", "0"), ("slower", "does not pay", "1")):
        opened = show(f"/runs/{runs[kind]}")
        expect(opened.page.locator("#answer .v").first).to_have_text(words)
        opened.settled()
        mark = opened.page.locator("#plot-forest .point").first
        assert mark.evaluate("element => getComputedStyle(element).fill === 'none' ? '0' : getComputedStyle(element).fillOpacity") == fill


def test_without_javascript(show: Opener, runner: Runner, runs: dict[str, int]) -> None:
    """Catches a page whose state, numbers or form need a script."""
    waiting = show(paths(runs)["run-queued"], java_script_enabled=False).page
    expect(waiting.locator("#answer")).to_contain_text("in the queue")
    assert waiting.locator("noscript meta[http-equiv=refresh]").count() == 1
    report = show(paths(runs)["run-slower"], java_script_enabled=False).page
    report.locator("#plot-forest summary").click()
    expect(report.locator("#plot-forest table")).to_contain_text("×")
    runner.offer()
    form = show("/submit", java_script_enabled=False).page
    form.get_by_role("button", name="Queue the measurement").click()
    expect(form.get_by_role("alert")).to_contain_text("Enter the language of the prompts")


def test_a_claim_is_entered_without_javascript(show: Opener, runs: dict[str, int]) -> None:
    """Catches a form that loses what was typed, an error without its field, and a claim that stands anywhere but under what is refused."""
    page = show("/landscape", java_script_enabled=False).page
    page.get_by_label("System", exact=True).fill("n-gram lookup")
    page.get_by_label("What the figure says").select_option("acceptance")
    page.get_by_label("What the source calls it").fill("hit rate")
    page.get_by_label("Figure", exact=True).fill("62")
    page.get_by_label("Source", exact=True).fill("a colleague's talk")
    page.get_by_role("button", name="Enter the claim").click()
    expect(page.get_by_role("alert")).to_contain_text("0.8 for 80%")
    expect(page.get_by_label("Source", exact=True)).to_have_value("a colleague's talk")
    page.get_by_label("Figure", exact=True).fill("0.62")
    page.get_by_role("button", name="Enter the claim").click()
    expect(page).to_have_url(re.compile(r"/landscape#claim-\d+$"))
    row = page.locator("#refused tr", has_text="hit rate")
    expect(row).to_contain_text("62%")
    expect(row).to_contain_text("no language, no tokenizer")
    expect(row.locator(".beside .fig").first).to_be_visible()


def test_by_keyboard(show: Opener, runs: dict[str, int]) -> None:
    """Catches a skip link that is not first, a focus that cannot be seen, a table that cannot be reached."""
    page = show(paths(runs)["run-slower"]).page
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the answer")
    expect(skip).to_be_focused()
    assert skip.evaluate("element => parseFloat(getComputedStyle(element).outlineWidth)") >= 3
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#answer$"))
    summary = page.locator("#plot-forest summary")
    summary.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("#plot-forest .scroll")).to_be_focused()


def test_language_and_paper_are_kept(show: Opener, runs: dict[str, int]) -> None:
    """Catches a choice that is forgotten on the next page, or numbers left in the other language."""
    page = show(paths(runs)["run-slower"]).page
    page.get_by_role("button", name="Русский").click()
    expect(page.locator("html")).to_have_attribute("lang", "ru")
    expect(page.locator(".tile .fig b").first).to_have_text(re.compile(r"^\d+,\d+×$"))
    page.get_by_role("button", name="тёмный").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/runs")
    expect(page.locator("html")).to_have_attribute("lang", "ru")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 24, 29)"


def test_the_state_of_a_plot_is_in_the_address(show: Opener, runs: dict[str, int]) -> None:
    """Catches a toggle that cannot be linked to."""
    page = show(paths(runs)["run-slower"]).page
    page.get_by_role("link", name="given the previous was accepted").click()
    expect(page).to_have_url(re.compile(r"\?position=given#plot-positions$"))
    expect(page.locator("#plot-positions h3")).to_contain_text("given that the previous token was accepted")


def test_hostile_text_is_text(show: Opener, runs: dict[str, int]) -> None:
    """Catches a runner's words that run as a script or become an element, in the page, in its JSON or in a plot."""
    opened = show(f"/runs/{runs['hostile']}")
    opened.settled()
    assert opened.page.locator("img").count() == 0
    expect(opened.page).not_to_have_title(re.compile("broken"))
    expect(opened.page.locator("#plot-profiles .ytick text").first).to_contain_text("<img")
    assert opened.complaints == []


def test_an_unknown_run(show: Opener) -> None:
    """Catches an error page that is no page."""
    opened = show("/runs/99999")
    expect(opened.page.locator("#answer")).to_contain_text("There is no run 99999. The newest is")
    opened.shot("not-found")


def test_print_holds_what_a_quote_needs(show: Opener, runs: dict[str, int]) -> None:
    """Catches a printout without the folded tables and the passport."""
    opened = show(paths(runs)["run-slower"])
    opened.settled()
    opened.page.emulate_media(media="print")
    expect(opened.page.locator("footer")).to_contain_text("bezmen-1")
    assert opened.page.locator("header nav").is_hidden()
    height = opened.page.locator("details .full").first.evaluate("element => element.getBoundingClientRect().height")
    assert height > 100
