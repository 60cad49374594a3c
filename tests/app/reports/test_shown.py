"""What a cell says in each of its states."""

import pytest

from app.domain.estimate import Absent, Estimate, Refusal
from app.domain.sentence import plain
from app.reports.build import build
from app.reports.report import Gate, Report
from app.reports.shown import find, part_of, show, show_estimate
from tests import factories


@pytest.fixture(scope="module")
def slower() -> Report:
    return build(factories.record(prompts=24, passes=6, acceptance=0.35))


def test_a_part_of_one_is_no_plural() -> None:
    """Catches "1 sequences"."""
    cells = [Absent(id="draft_cost", part={"sequences": n, "tokens": n}, reason=plain("none")) for n in ("1", "4")]
    assert [part_of(cell, "en") for cell in cells] == ["1 sequence, 1 draft", "4 sequences, 4 drafts"]
    assert part_of(cells[0], "ru") == "последовательностей: 1, черновых токенов: 1"


def test_a_value_has_interval_and_n(slower: Report) -> None:
    """Catches a number that is shown without what it rests on."""
    shown = find(slower, "acceptance_rate", "en")
    assert (shown.state, shown.n.replace("\u00a0", " ")) == ("value", "24 prompts")
    assert shown.value.endswith("%")
    assert shown.interval.startswith("[")


def test_prompts_without_a_draft_are_not_in_n() -> None:
    """Catches "16 prompts" under an interval of the nine that drafted."""
    found = Estimate(point=0.26, low=0.2, high=0.33, n=9, of=16, counted="prompts")
    assert show_estimate("share", found, "en").n.replace("\u00a0", " ") == "9 of 16 prompts"
    assert show_estimate("share", found, "ru").n.replace("\u00a0", " ") == "9 из 16 промптов"


def test_the_headline_follows_the_verdict() -> None:
    """Catches a filled mark beside "cannot tell": the state comes from the verdict, not from the interval."""
    report = build(factories.record(prompts=6, passes=2))
    assert report.verdict.outcome == "cannot tell"
    assert find(report, report.headline, "en").state == "cannot tell"
    assert find(report, "acceptance_rate", "en").state == "value"


def test_a_refusal_and_an_absence_give_their_reason(slower: Report) -> None:
    """Catches a blank or a zero in place of a reason."""
    refusal = Refusal(id="acceptance_rate", field="tokenizer", reason=plain("no tokenizer"), remedy=plain("name it"))
    absent = Absent(id="acceptance_rate", reason=plain("no draft was made"))
    assert (show(refusal, slower, "en").state, show(refusal, slower, "en").why, show(refusal, slower, "en").remedy) == (
        "refused",
        "no tokenizer",
        "name it",
    )
    assert (show(absent, slower, "en").state, show(absent, slower, "en").why) == ("absent", "no draft was made")
    assert find(slower, "break_even_load", "en").why != ""


def test_counts_that_do_not_close_make_every_value_suspect(slower: Report) -> None:
    """Catches a suspect number that looks like any other."""
    gate = Gate(name="closure", refused=True, failing=1, n=24, limit=0.0, sentence=plain("does not close by 114"))
    doubtful = slower.model_copy(update={"gates": (gate,)})
    shown = find(doubtful, "acceptance_rate", "en")
    assert (shown.state, shown.why) == ("suspect", "does not close by 114")


def test_a_profile_s_name_is_nobody_s_word_to_translate() -> None:
    """Catches a profile called "facts" that a Russian page renames."""
    refusal = Refusal(id="acceptance_rate", part={"profile": "facts"}, field="degenerate", reason=plain("loops"))
    fertility = Absent(id="fertility", part={"text": "prompts", "per": "word"}, reason=plain("none"))
    assert part_of(refusal, "ru") == "facts"
    assert part_of(fertility, "ru") == "промпты, на слово"


def test_what_holds_for_the_whole_holds_for_its_parts(slower: Report) -> None:
    """Catches "not measured" where the report knows the reason for the whole arm."""
    absent = Absent(id="throughput", part={"arm": "plain"}, reason=plain("every block was disturbed"))
    report = slower.model_copy(update={"cells": (absent,)})
    assert find(report, "throughput", "en", arm="plain", of="words").why == "every block was disturbed"
    assert find(report, "throughput", "en", arm="control", of="words").why == "not measured in this run"
