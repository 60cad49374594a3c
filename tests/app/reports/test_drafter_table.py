"""Drafters side by side: what stands under one caption, what a lacking number says, and which run speaks for a drafter."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.reports.build import build
from app.reports.drafter_table import Board, Ended, Line, boards, heads, newest
from tests.factories import environment_fact, record, requests, run_spec

BEGAN = datetime(2026, 11, 30, 12, tzinfo=UTC)


def ended(run: int, *, drafter: Any = "ngram", language: str = "en", machine: dict[str, Any] | None = None, **over: Any) -> Ended:
    spec = run_spec(drafter=drafter, language=language)
    made = record(run=run, spec=spec, language=language, **over)
    machine = {"details": {"commit": "0123456789ab"}} | (machine or {})
    return BEGAN + timedelta(hours=run), build(made.model_copy(update={"environment": environment_fact(**machine)}))


@pytest.fixture(scope="module")
def plain_board() -> Board:
    (found,) = boards([ended(2, language="ru"), ended(1), ended(3, drafter="layerskip", degenerate=True, repeated_share=0.9)], "en")
    return found


def line(board: Board, run: int) -> Line:
    return next(each for each in board.lines if each.run == run)


def test_lines_are_in_order_under_what_they_share(plain_board: Board) -> None:
    """Catches a caption without date, machine or commit, and languages that do not stand next to each other."""
    assert [(each.drafter, each.language) for each in plain_board.lines] == [("layerskip", "en"), ("ngram", "en"), ("ngram", "ru")]
    for said in ("30 Nov 2026", "x86_64, 2 cores, 2 threads", "commit 0123456789ab", "32 new tokens at most", "load closed 1"):
        assert said in plain_board.caption


def test_acceptance_never_stands_without_speed(plain_board: Board) -> None:
    """Catches a line in which a number has neither interval nor a note that says why."""
    for each in plain_board.lines:
        for entry in (each.acceptance, each.ceiling, each.speedup):
            assert "[" in entry.text or entry.text[-1] in "¹²³⁴⁵", entry.text


def test_a_refusal_takes_the_numbers_place(plain_board: Board) -> None:
    """Catches a refused acceptance that is printed or drawn after all, and a note that is said twice."""
    refused = line(plain_board, 3)
    assert refused.acceptance.text.startswith("⊘ refused")
    assert (refused.acceptance.estimate, refused.verdict, refused.decided) == (None, "refused", False)
    assert len(plain_board.notes) == len(set(plain_board.notes))
    assert any("repeat" in note for note in plain_board.notes)


@pytest.mark.parametrize(
    "other",
    [{"device": "another machine"}, {"threads": 4}, {"details": {"commit": "fedcba987654"}}, {"details": {}}],
    ids=["device", "threads", "commit", "unknown commit"],
)
def test_what_differs_in_the_caption_stands_in_another_board(other: dict[str, Any]) -> None:
    """Catches numbers of two machines or two states of the code under one caption."""
    found = boards([ended(1), ended(2, drafter="layerskip", machine=other)], "en")
    assert [[each.run for each in board.lines] for board in found] == [[2], [1]]


def test_the_newest_run_speaks_and_not_the_best() -> None:
    """Catches a table of peaks: of two runs of one drafter the one that came out better."""
    kept = newest([ended(1, acceptance=0.9), ended(2, acceptance=0.3), ended(3, language="ru")])
    assert sorted(report.run for _, report in kept) == [2, 3]


def test_answers_in_float32_are_counted() -> None:
    """Catches "lossless" of a run whose answers parted, and of one in half precision that never looked."""
    (seen,) = boards([ended(1)], "en")
    assert line(seen, 1).exact.text.startswith("no number")
    base = record(run=2, spec=run_spec(language="en"), language="en")
    own = tuple(requests(language="en", passes=1, purpose="losslessness"))
    parted = own[1].model_copy(update={"output_ids": (*own[1].output_ids[:-1], 7), "output_digest": "0" * 64})  # type: ignore[misc]
    report = build(base.model_copy(update={"requests": (*base.requests, own[0], parted, *own[2:])}))
    report = report.model_copy(update={"losslessness": tuple(each.model_copy(update={"dtype": "float32"}) for each in report.losslessness[-1:])})
    (board,) = boards([(BEGAN, report)], "en")
    assert line(board, 2).exact.text.replace("\u00a0", " ") == f"7 of 8 {line(board, 2).exact.text[-1]}"
    assert "not judged: 1" in board.notes[-1]


def test_what_is_counted_and_what_is_unknown_is_said_in_both_languages() -> None:
    """Catches "1 threads", "parallel-v1 1" and a commit of the wrong gender in a caption that is printed elsewhere."""
    runs = [ended(1, machine={"threads": 1, "details": {}})]
    said = {locale: boards(runs, locale)[0].caption.replace("\u00a0", " ") for locale in ("en", "ru")}
    assert "2 cores, 1 thread · commit unknown · 8 prompts of everyday, version 1 ·" in said["en"]
    assert "2 cores, 1 поток · коммит неизвестен · 8 промптов набора everyday версии 1 ·" in said["ru"]


def test_runs_of_the_same_parameters_stand_together() -> None:
    """Catches the Russian run of one exit under another one, because languages came first."""
    drafting = [{"name": "layerskip", "params": {"skip": skip}} for skip in (4, 10)]
    (board,) = boards([ended(run, drafter=drafting[run % 2], language=language) for run, language in enumerate(("en", "en", "ru", "ru"), 1)], "en")
    assert [(each.parts, each.language) for each in board.lines] == sorted((each.parts, each.language) for each in board.lines)


def test_russian_has_its_own_words() -> None:
    """Catches a column of the Russian picture in English."""
    assert not set(heads("ru")) & set(heads("en"))
