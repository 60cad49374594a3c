"""The forecast of the interval's width, held against the intervals that it is a forecast of."""

from typing import Any

import numpy as np
import pytest

from app.metrics.catalogue import readings
from app.reports.record import RunRecord, frames_of
from app.statistics.pairs import speedup, throughput_speedup
from runners.protocol.forecast import Forecast, by_prompts, by_trial_pairs
from tests import factories
from tests.app.statistics.simulate import paired_seconds
from tests.factories_load import load_record
from tests.factories_open import open_record


def width(estimate: Any) -> float:
    """Half the width as a share of the point."""
    return float((estimate.high - estimate.low) / 2 / estimate.point)


@pytest.mark.parametrize(("spread", "most"), [(0.0, 1.2), (0.12, 1.1)])
@pytest.mark.parametrize("prompts", [8, 24])
def test_two_of_six_blocks_foretell_the_interval_over_prompts(prompts: int, spread: float, most: float) -> None:
    """Catches what more blocks narrow (a prompt's own noise) taken for what they do not (how prompts differ), and the other way round. Where prompts
    do not differ at all the forecast is too wide on average: it never takes more than all of the spread for noise."""
    seconds, _ = paired_seconds(np.random.default_rng(prompts), 400, prompts, passes=12, effect=1.2, spread=spread)
    found = [width(speedup(each[:, 0], each[:, 1])) for each in seconds.mean(axis=1)]
    blocks = seconds.reshape(400, 6, 2, prompts, 2).sum(axis=2)
    logs = np.log(blocks[..., 0] / blocks[..., 1])
    foretold = [by_prompts(each[:2], 4) for each in logs]
    assert all(each is not None for each in foretold)
    assert 0.9 < np.mean([each for each in foretold if each]) / np.mean(found) < most
    # At the end nothing is left to foretell: the interval itself, but for the mean of logs in place of the log of means.
    assert [by_prompts(each, 0) for each in logs] == pytest.approx(found, rel=0.1)


def test_a_shift_of_a_whole_block_does_not_widen_the_interval_over_prompts() -> None:
    """Catches noise shared by a block counted as if prompts differed by it, and a forecast that the speed-up can be read from."""
    logs = np.random.default_rng(1).normal(0.2, 0.05, (3, 12))
    assert by_prompts(logs + np.array([[0.3], [0.0], [-0.3]]), 2) == pytest.approx(by_prompts(logs, 2))
    assert by_prompts(logs + 1.0, 2) == pytest.approx(by_prompts(logs, 2))


def test_four_of_eight_trial_pairs_foretell_the_interval_over_pairs() -> None:
    """Catches today's n in place of the planned one: a forecast too wide by √2 and by the degrees of freedom."""
    logs = np.random.default_rng(2).normal(0.2, 0.1, (4000, 8))
    found = [width(throughput_speedup(np.exp(each), np.ones(8))) for each in logs]
    foretold = [by_trial_pairs(each[:4], 8) for each in logs]
    assert 0.9 < np.mean([each for each in foretold if each]) / np.mean(found) < 1.05
    assert [by_trial_pairs(each, 8) for each in logs] == pytest.approx(found)


def test_there_is_no_width_where_there_will_be_no_interval() -> None:
    """Fewer than 6 prompts or 4 trial pairs, or pairs without any spread: None, never ± 0."""
    source = np.random.default_rng(3)
    assert by_prompts(source.normal(0, 1, (2, 5)), 4) is None
    assert by_trial_pairs(source.normal(0, 1, 3), 8) is None
    assert by_trial_pairs(np.full(4, 0.2), 8) is None
    assert by_prompts(np.full((2, 8), 0.2), 4) is None


@pytest.mark.parametrize(
    ("record", "headline"),
    [(factories.record(passes=6), "speedup_end_to_end"), (load_record(), "speedup_throughput"), (open_record(), "latency_ratio")],
    ids=["single", "closed", "open"],
)
def test_the_last_block_foretells_what_the_report_says(record: RunRecord, headline: str) -> None:
    """Catches times, windows or pairs of a forecast that are not those of the figures, in each load. At load 1 a mean of logs stands for a log of
    means, which is the same but for a tenth."""
    frames, load = frames_of(record), record.spec.load
    found = width(next(reading.pooled for metric, reading in readings(frames) if metric.id == headline and not reading.part))
    forecast, blocks = Forecast(load.regime, load.concurrency), {(trial.arm, trial.trial): trial.block for trial in record.trials}
    told = []
    for block in sorted(set(blocks.values())):
        forecast.add([fact for fact in record.requests if blocks.get((fact.arm, fact.trial)) == block])
        told.append(forecast.half_width(0))
    assert len(told) == 3
    assert told[0] is None
    assert told[-1] == pytest.approx(found, rel=0.1 if load.regime == "single" else 1e-9)
