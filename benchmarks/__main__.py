"""`python -m benchmarks` runs all benchmarks and writes build/bench.json; `python -m benchmarks NAME…` runs some and writes nothing, since the
ratios of that file are of one run."""

import sys
from collections.abc import Sequence

from rich.console import Console

from benchmarks.base import Benchmark, NotMeasured, Row
from benchmarks.catalogue import UnknownBenchmark, chosen
from benchmarks.told import FILE, table, write
from runners.cores import measuring_cores
from runners.environment import describe, pick_device

# Columns; a pipe has none of its own, and the table's rows are to stay whole.
WIDTH = 110


def run(each: Benchmark, console: Console) -> list[Row]:
    console.print(f"{each.name} …")
    try:
        found = each.measure()
    except NotMeasured as error:
        console.print(f"{each.name}: {error}")
        return each.rows({})
    for name, estimate in found.items():
        if estimate.low is None and estimate.reason is not None:
            console.print(f"{name}: {estimate.reason.text % estimate.reason.values}")
    return each.rows(found)


def main(names: Sequence[str]) -> int:
    console = Console(highlight=False, markup=False, width=WIDTH)
    try:
        asked = chosen(names)
    except UnknownBenchmark as error:
        console.print(str(error))
        return 2
    rows = [row for each in asked for row in run(each, console)]
    machine = describe(pick_device(), measuring_cores())
    console.print(table(rows, f"{machine.device}, {machine.threads} of {machine.cores} cores, torch {machine.versions['torch']}"))
    if not names:
        write(rows)
        console.print(f"written: {FILE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
