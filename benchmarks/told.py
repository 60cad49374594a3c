"""The table that a person reads and the file that a program reads."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from benchmarks.base import Row

FILE = Path("build") / "bench.json"


def table(rows: Sequence[Row], title: str) -> Table:
    made = Table(title=title, title_justify="left")
    made.add_column("name", no_wrap=True)
    for column in ("value", "95 % interval", "aim", "met"):
        made.add_column(column, justify="right", no_wrap=True)
    made.add_column("unit", no_wrap=True)
    for row in rows:
        interval = "–" if row.low is None or row.high is None else f"{row.low:.4g} … {row.high:.4g}"
        met = {True: "yes", False: "no", None: "cannot tell"}[row.met]
        made.add_row(row.name, "–" if row.value is None else f"{row.value:.4g}", interval, row.aim, met, row.unit)
    return made


def write(rows: Sequence[Row], file: Path = FILE) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([row.model_dump() for row in rows], indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
