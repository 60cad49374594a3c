"""Rows of build/bench.json and the arithmetic behind them, on made-up numbers; nothing here is timed."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark, Row
from benchmarks.catalogue import UnknownBenchmark, benchmarks, chosen
from benchmarks.pairs import TRIAL_ORDERS, Seconds, interleave
from benchmarks.told import write
from runners.clock import Clock
from runners.environment import Quiet

KEYS = ["name", "value", "low", "high", "unit", "aim", "met"]


@pytest.mark.parametrize(
    ("aim", "low", "high", "met"),
    [
        (Aim("≥", 1.1), 1.1, 1.3, True),
        (Aim("≥", 1.1), 1.0, 1.099, False),
        (Aim("≥", 1.1), 1.05, 1.2, None),
        (Aim("≥", 1.1), 1.05, 1.1, None),
        (Aim("≤", 0.03), 0.01, 0.03, True),
        (Aim("≤", 0.03), 0.031, 0.04, False),
        (Aim("≤", 0.03), 0.02, 0.04, None),
        (Aim("≤", 0.03), None, None, None),
    ],
)
def test_an_aim_is_met_by_the_whole_interval_or_missed_by_it(aim: Aim, low: float | None, high: float | None, met: bool | None) -> None:
    """Catches a point held against the aim, a bound that does not count, and the two senses mixed up."""
    assert aim.met(low, high) is met


def test_every_aim_leaves_a_row_and_no_other_figure_does() -> None:
    """Catches a figure that vanishes when it could not be measured, and one that nobody aimed at."""
    benchmark = Benchmark("b", {"a": Aim("≥", 1.0), "c": Aim("≤", 2.0, "seconds")}, dict)
    found = {"a": Estimate(point=1.2, low=1.1, high=1.3, n=8, counted="prompts")}
    first, second = benchmark.rows(found)
    assert first == Row(name="a", value=1.2, low=1.1, high=1.3, unit="ratio", aim="≥ 1", met=True)
    assert second == Row(name="c", value=None, low=None, high=None, unit="seconds", aim="≤ 2", met=None)
    with pytest.raises(KeyError, match="declares no aim"):
        benchmark.rows({"stray": found["a"]})


def test_the_file_is_a_list_of_rows_with_these_keys(tmp_path: Path) -> None:
    """Catches a renamed or added key, and an absent value written as 0."""
    rows = [Aim("≥", 1.0).row("a", None), Row(name="b", value=1.2, low=1.1, high=1.3, unit="ratio", aim="≥ 1", met=True)]
    write(rows, tmp_path / "build" / "bench.json")
    read = json.loads((tmp_path / "build" / "bench.json").read_text())
    assert [list(row) for row in read] == [KEYS, KEYS]
    assert [read[0][key] for key in ("value", "low", "high", "met")] == [None] * 4
    assert read[1]["met"] is True


def test_benchmarks_are_found_and_named() -> None:
    """Catches a benchmark that its folder holds and the command does not know."""
    files = {path.stem for path in Path("benchmarks/cases").glob("*.py")} - {"__init__"}
    assert set(benchmarks()) == files
    assert [each.name for each in chosen(["instrumented", "compiled_ngram"])] == ["instrumented", "compiled_ngram"]
    assert {each.name for each in chosen([])} == {name for name, each in benchmarks().items() if not each.named}
    with pytest.raises(UnknownBenchmark, match="There is no benchmark faster; there are"):
        chosen(["faster"])


class Scripted(Clock):
    """Time passes only when an arm says so."""

    def __init__(self) -> None:
        super().__init__(torch.device("cpu"))
        self.time = 0.0

    def now(self) -> float:
        return self.time


class Neighbours:
    """In place of the cores' counters: looks number `busy` were disturbed."""

    def __init__(self, *busy: int) -> None:
        self.busy, self.looks = busy, 0

    def read(self) -> Quiet:
        self.looks += 1
        return Quiet(load_average=None, steal=None, others=0.5 if self.looks - 1 in self.busy else 0.0, clock_mhz=None)


def timed(units: list[int], *, busy: tuple[int, ...] = (), **more: tuple[str, ...]) -> tuple[Seconds, list[str]]:
    """Arm A takes as many seconds as the unit says, B twice as many, and each run a tenth of a second more than the one before it."""
    clock, neighbours, ran = Scripted(), Neighbours(*busy), list[str]()

    def arm(name: str, factor: float) -> Callable[[int], None]:
        def run(unit: int) -> None:
            clock.time += factor * unit + 0.1 * (len(ran) % 4)
            ran.append(name)

        return run

    return interleave(units, arm("A", 1.0), arm("B", 2.0), clock, watch=lambda: neighbours, **more), ran  # type: ignore[arg-type,return-value]


def test_arms_alternate_so_that_drift_cancels() -> None:
    """Catches AABB or ABAB, under which the drift of a machine favours an arm, and times summed where means are meant."""
    found, ran = timed([1, 2, 3])
    assert "".join(ran) == "ABBABAABABBA"
    assert found.first == pytest.approx([1.15, 2.15, 3.15])
    assert found.second == pytest.approx([2.15, 4.15, 6.15])
    assert "".join(timed([1, 1], orders=TRIAL_ORDERS)[1]) == "ABBA"


def test_a_disturbed_unit_is_timed_again_and_left_out_if_disturbed_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches times of a busy machine that count, a unit that is repeated for ever, and one that vanishes without a word."""
    found, ran = timed([1, 2, 3], busy=(0, 2, 3))
    assert len(ran) == 5 * 4
    assert found.first == pytest.approx([1.15, 3.15])
    assert found.disturbed == 1
    assert "1 of 3 pairs" in capsys.readouterr().err


def test_a_ratio_above_one_means_that_the_first_arm_is_faster() -> None:
    """Catches a ratio upside down and an interval that is not t on the log over units."""
    logs = [math.log(2.0) + step for step in (-0.1, 0.1, -0.2, 0.2, -0.3, 0.3)]
    found = Seconds(first=[1.0] * 6, second=[math.exp(each) for each in logs]).first_faster()
    half = 2.5706 * math.sqrt(2 * (0.01 + 0.04 + 0.09) / 5 / 6)
    assert (found.n, found.counted) == (6, "prompts")
    assert (found.point, found.low, found.high) == pytest.approx((2.0, 2 * math.exp(-half), 2 * math.exp(half)), rel=1e-4)
