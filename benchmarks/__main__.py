"""`python -m benchmarks` runs all benchmarks and writes build/bench.json; `python -m benchmarks NAME…` runs some and writes nothing, since the
ratios of that file are of one run."""

import os
import sys
from collections.abc import Sequence

from rich.console import Console

from benchmarks.base import Benchmark, NotMeasured, Row
from benchmarks.catalogue import UnknownBenchmark, chosen
from benchmarks.laboratory import cores
from benchmarks.told import FILE, table, write
from runners.environment import describe, pick_device

# Columns; a pipe has none of its own, and the table's rows are to stay whole.
WIDTH = 110


def run(each: Benchmark, console: Console) -> list[Row]:
    try:
        found = each.measure()
    except NotMeasured as error:
        console.print(f"{each.name}: {error}")
        return each.rows({})
    for name, estimate in found.items():
        console.print(f"{name} {estimate.point} [{estimate.low}, {estimate.high}] of {estimate.n} {estimate.counted}")
        if estimate.low is None and estimate.reason is not None:
            reason = estimate.reason
            console.print(f"{name}: {reason.text % reason.values if reason.values else reason.text}")
    return each.rows(found)


def main(names: Sequence[str]) -> int:
    console = Console(highlight=False, markup=False, width=WIDTH)
    try:
        asked = chosen(names)
    except UnknownBenchmark as error:
        console.print(str(error))
        return 2
    machine, rows = describe(pick_device(), cores()), list[Row]()
    everywhere = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    for each in asked:
        rows += run(each, console)
        if everywhere is not None:
            # What the laboratory is pinned to is no business of a service that the next one starts.
            os.sched_setaffinity(0, everywhere)
    console.print(table(rows, f"{machine.device}, {machine.threads} of {machine.cores} cores, torch {machine.versions['torch']}"))
    if not names:
        write(rows)
        console.print(f"written: {FILE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
