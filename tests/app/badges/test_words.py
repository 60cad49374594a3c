"""What a badge shows, and what it must not."""

from xml.etree import ElementTree

import pytest

from app.badges.svg import badge
from app.badges.words import of_run
from app.domain.status import RunState
from app.reports.build import build
from app.reports.shown import find
from tests.factories import record

FAST = build(record(language="en", prompts=12, acceptance=0.9))


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(("locale", "word"), [("en", "pays"), ("ru", "окупается")])
def test_speed_and_acceptance_with_intervals_and_passport(locale: str, word: str) -> None:
    """Catches a badge with a bare number, with one of the two alone, or without language and tokenizer."""
    label, message = texts(of_run(FAST, locale))
    assert FAST.passport is not None
    assert label == f"bezmen · ngram · en · {FAST.passport.tokenizer.short.removeprefix('package:')}"
    assert message.startswith(word)
    for id in (FAST.headline, "acceptance_rate"):
        shown = find(FAST, id, locale)
        assert shown.interval
        assert f"{shown.value} {shown.interval}" in message


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_it_is_narrow_and_its_title_says_all(locale: str) -> None:
    """Catches a badge wider than the column of a README, and words that were saved on the wrong side."""
    model = "a-model-with-a-very-long-name-of-many-parts-and-its-version-7b-instruct"
    long = FAST.model_copy(update={"spec": FAST.spec.model_copy(update={"drafter": FAST.spec.drafter.model_copy(update={"name": model[:60]})})})
    for report in (FAST, long):
        root = ElementTree.fromstring(of_run(report, locale))
        assert int(root.attrib["width"]) <= 300
        title = root.findtext("{http://www.w3.org/2000/svg}title") or ""
        assert report.spec.drafter.name in title
        assert {"en": "acceptance", "ru": "доля принятых"}[locale] in title
    assert "×" in texts(of_run(FAST, locale))[1]


def test_a_refused_run_shows_no_number() -> None:
    """Catches a number that the report refuses and a badge spreads."""
    refused = build(record(language="ru", prompts=12, degenerate=True, repeated_share=0.9))
    assert texts(of_run(refused, "en"))[1] == "refused"


@pytest.mark.parametrize("state", [RunState.QUEUED, RunState.RUNNING, RunState.FAILED, RunState.CANCELLED])
def test_a_run_that_did_not_succeed_shows_its_state(state: RunState) -> None:
    """Catches figures of a run that is not done, or that failed."""
    message = texts(of_run(build(record(language="en", prompts=12, acceptance=0.9, state=state)), "en"))[1]
    assert not any(sign.isdigit() for sign in message)


def test_hostile_text() -> None:
    """Catches a name that ends the element it stands in, and signs that no XML may hold."""
    drawn = badge('"><script>alert(1)</script>', "a & b \x00\x1b\ud800", "#000000", "'\"<x>")
    root = ElementTree.fromstring(drawn)
    assert {each.tag.rpartition("}")[2] for each in root.iter()} == {"svg", "title", "rect", "g", "text"}
    assert drawn.encode()
