"""What `bezmen compare` says of more than two runs: every pair, and the worst of them as its status."""

import json
from xml.etree import ElementTree

import pytest

from app.commands.exits import status_of
from app.commands.junit import junit
from app.commands.markdown import markdown
from app.commands.output import text
from app.commands.told import Told, of_comparison
from app.reports.compare import compare
from app.reports.report import Comparison
from tests.factories import record, run_spec

NGRAM = record(run=1, language="ru", prompts=12, acceptance=0.4)
SKIP = record(run=2, language="ru", prompts=12, acceptance=0.6, spec=run_spec(drafter={"name": "layerskip", "params": {"skip": 10}}))
ENGLISH = record(run=3, language="en", prompts=12, acceptance=0.8)
# Differs from the first in two things at once, so that nothing may be said of either.
BOTH = record(run=4, language="en", prompts=12, acceptance=0.8, spec=run_spec(language="en", drafter={"name": "layerskip", "params": {"skip": 10}}))
AGAIN = record(run=5, language="en", prompts=12, acceptance=0.8)


def told(*records: object, locale: str = "en") -> list[Told]:
    found: Comparison = compare(list(records))  # type: ignore[arg-type]
    # As the command has it: over the wire.
    return of_comparison(Comparison.model_validate(json.loads(found.model_dump_json())), locale)


def test_every_pair_is_told_with_its_own_words_and_numbers() -> None:
    """Catches a third run whose contrast is dropped, or told with the answer, the runs or the differences of the first pair."""
    first, second = told(NGRAM, SKIP, ENGLISH)
    assert [each.name for each in (first, second)] == ["runs 1,2", "runs 1,3"]
    assert first.question == "Does ngram pay as well as layerskip in Russian?"
    assert second.question == "Does ngram pay as well in Russian as in English?"
    assert first.sentence != second.sentence
    assert all("run 1 against run 2" in row.figure for row in first.rows)
    assert all("run 1 against run 3" in row.figure for row in second.rows)
    assert {row.value for row in first.rows} != {row.value for row in second.rows}
    assert "drafter (" in first.passport.partition("differ in ")[2]
    assert "language (ru, en)" in second.passport.partition("differ in ")[2]
    assert "drafter (" not in second.passport.partition("differ in ")[2]
    # The pair alone is told as it is among others.
    alone = told(NGRAM, ENGLISH)[0]
    assert (alone.question, alone.rows) == (second.question, second.rows)


def test_the_worst_pair_is_the_status() -> None:
    """Catches a status of 0 over a pair that could not be contrasted, because another one could."""
    fine, barred = told(NGRAM, SKIP, BOTH)
    assert (fine.answer, barred.answer) == ("holds", "could not be measured")
    assert barred.rows == ()
    assert "drafter differs" in barred.sentence
    assert status_of([fine.answer]) == 0
    assert status_of([fine.answer, barred.answer]) == 3


def test_a_run_in_no_pair_is_told() -> None:
    """Catches a run that was named, is held against nothing, and is passed over without a word."""
    *_, left = told(NGRAM, ENGLISH, AGAIN)
    assert (left.name, left.answer) == ("run 5", "could not be measured")
    assert left.sentence == "Run 5 is contrasted with none: run 3, which measured the same, stands for both."


def test_one_run_without_a_passport_is_one_answer() -> None:
    (only,) = told(NGRAM, ENGLISH.model_copy(update={"preflight": None}))
    assert (only.name, only.answer) == ("runs 1,3", "could not be measured")
    assert "run 3 has no tokenizer" in only.sentence


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_every_rendering_has_every_pair(locale: str) -> None:
    """Catches a file for a build server, or a comment, that shows one pair of three."""
    found = told(NGRAM, SKIP, BOTH, locale=locale)
    sentences = [each.sentence for each in found]
    printed = "\n".join(map(text, found))
    assert all(said in printed for said in sentences)
    comment = markdown(found, "http://127.0.0.1:8000", locale)
    assert comment.count("### ") == 2
    assert comment.count("/compare?runs=1,2,4") == 2
    suites = ElementTree.fromstring(junit(found)).findall("testsuite")
    assert [(suite.get("name"), suite.get("errors")) for suite in suites] == [("bezmen runs 1,2", "0"), ("bezmen runs 1,4", "1")]
