"""Reports and comparisons as Parquet: the rows of the CSV with types, absent is null, and what the columns mean in the file itself."""

from collections.abc import Iterable, Sequence
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq

from app.domain.passport import DEFINITION
from app.reports.export import COLUMNS, CONTRAST_COLUMNS, Row, contrast_rows, report_rows
from app.reports.report import Comparison, Report

MEDIA = "application/vnd.apache.parquet"
_WHOLE = ("run", "against", "n", "of", "rounds", "emitted", "suite_limit", "max_new_tokens", "trials")
_REAL = ("pooled", "point", "low", "high", "level", "macro", "macro_low", "macro_high", "margin")
_ABOUT = {"bezmen.definition": DEFINITION, "bezmen.missing": "a null number has its reason in the column reason"}


def report_parquet(report: Report) -> bytes:
    return _written(COLUMNS, report_rows(report))


def comparison_parquet(comparison: Comparison) -> bytes:
    """One table: `record` is `cell` for a figure of a run, `contrast` for one run against another (`point`, not `pooled`)."""
    columns = ["record", *COLUMNS, *(name for name in CONTRAST_COLUMNS if name not in COLUMNS)]
    cells: list[Row] = [{"record": "cell", **row} for report in comparison.reports for row in report_rows(report)]
    contrasts: list[Row] = [{"record": "contrast", **row} for row in contrast_rows(comparison)]
    return _written(columns, [*cells, *contrasts])


def _type(column: str) -> pa.DataType:
    return pa.int64() if column in _WHOLE else pa.float64() if column in _REAL else pa.string()


def _written(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    schema = pa.schema([(name, _type(name)) for name in columns], metadata=_ABOUT)
    out = BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), out, compression="zstd")
    return out.getvalue()
