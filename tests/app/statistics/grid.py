"""Coverage of the headline's nominal 95 % interval over a grid of runs with a known speed-up.

`python -m tests.app.statistics.grid` (`make coverage`) measures every cell and writes the table that README and the methodology page quote.

Load 1: prompts are random, both arms run back to back, each pass shifts the machine as a whole; the truth is the speed-up of prompts like these.
Load 4: four slots serve the requests in an order drawn anew for each trial pair, each trial has noise of its own, and the truth is the speed-up of
these prompts over all orders. Prompts differ in length (a factor of 6) and in what speculation gives them (12 %), a request has noise of 3 %, and the
machine drifts as a random walk.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np

from app.domain.estimate import Estimate
from app.domain.spec import GENERATIONS
from app.statistics.pairs import speedup, throughput_speedup
from tests.app.statistics.simulate import Array, coverage, paired_seconds

PROMPTS, TRIAL_PAIRS, NOISES, LOADS = (8, 24, 48), (4, 8), (0.0, 0.03, 0.1), (1, 4)
EFFECT, SPREAD, OWN, STEP = 1.2, 0.12, 0.03, 0.01
ORDERS, SIMULATIONS = 512, 8000
TABLE = Path(__file__).parents[3] / "app" / "statistics" / "coverage.json"


@dataclass(frozen=True)
class Cell:
    """`covered` is the share of simulations whose interval held the truth, None where the load needs more prompts; `width` is the median half-width
    as a share of the point."""

    load: int
    prompts: int
    trial_pairs: int
    noise: float
    covered: float | None = None
    width: float | None = None


def cells() -> Iterator[Cell]:
    for load, prompts, pairs, noise in product(LOADS, PROMPTS, TRIAL_PAIRS, NOISES):
        yield Cell(load, prompts, pairs, noise)


def measured(cell: Cell, simulations: int, seed: int = 1) -> Cell:
    """The cell with its coverage."""
    if cell.load > 1 and cell.prompts < GENERATIONS * cell.load:
        return cell
    source = np.random.default_rng([seed, cell.load, cell.prompts, cell.trial_pairs, round(1000 * cell.noise)])
    found, truths = (single if cell.load == 1 else closed)(source, simulations, cell)
    held = coverage([scaled(each, truth) for each, truth in zip(found, truths, strict=True)], 1.0)
    width = float(np.median([(each.high - each.low) / 2 / each.point for each in found if each.high and each.low and each.point]))
    return Cell(cell.load, cell.prompts, cell.trial_pairs, cell.noise, held, width)


def scaled(estimate: Estimate, truth: float) -> Estimate:
    """The estimate in units of the truth. One without an interval is an error here."""
    assert estimate.point is not None
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.model_copy(update={"point": estimate.point / truth, "low": estimate.low / truth, "high": estimate.high / truth})


def single(source: np.random.Generator, simulations: int, cell: Cell, *, one_arm: bool = False) -> tuple[list[Estimate], Array]:
    """Each pass is a trial of either arm. With `one_arm` the noise of a pass is the speculative arm's alone, which pairs cannot cancel."""
    seconds, _ = paired_seconds(source, simulations, cell.prompts, passes=cell.trial_pairs, effect=EFFECT, spread=SPREAD)
    shared = np.exp(source.normal(0, cell.noise, (simulations, cell.trial_pairs, 1, 1)))
    seconds = np.concatenate([seconds[..., :1] * (1 if one_arm else shared), seconds[..., 1:] * shared], axis=-1)
    means = seconds.mean(axis=1)
    return [speedup(each[:, 0], each[:, 1]) for each in means], np.full(simulations, EFFECT)


def closed(source: np.random.Generator, simulations: int, cell: Cell) -> tuple[list[Estimate], Array]:
    """Each simulation has prompts, and so a truth, of its own."""
    shape = (simulations, cell.prompts)
    tokens = source.uniform(0.5, 3.0, shape)
    gains = np.exp(source.normal(np.log(EFFECT), SPREAD, shape))
    truths = np.concatenate([true_speedup(source, t, g, cell.load) for t, g in zip(tokens, gains, strict=True)])
    plain, speculative = np.empty((2, simulations, cell.trial_pairs))
    drift = machine(source, simulations, cell.trial_pairs, cell.noise)
    for pair in range(cell.trial_pairs):
        order = np.argsort(source.random(shape), axis=1)
        ours, gained = (np.take_along_axis(each, order, axis=1) for each in (tokens, gains))
        noise = np.exp(source.normal(0, OWN, (2, *shape)))
        plain[:, pair] = rates(ours, ours * noise[0], cell.load) / drift[:, pair, 0]
        speculative[:, pair] = rates(ours, ours / gained * noise[1], cell.load) / drift[:, pair, 1]
    return [throughput_speedup(s, p) for s, p in zip(speculative, plain, strict=True)], truths


def true_speedup(source: np.random.Generator, tokens: Array, gains: Array, load: int) -> Array:
    """The geometric mean of a quiet machine's speed-up over `ORDERS` orders of these prompts, `[1]`."""
    order = np.argsort(source.random((ORDERS, len(tokens))), axis=1)
    ours, gained = tokens[order], gains[order]
    found: Array = np.exp(np.mean(np.log(rates(ours, ours / gained, load) / rates(ours, ours, load)), keepdims=True))
    return found


def machine(source: np.random.Generator, simulations: int, pairs: int, noise: float) -> Array:
    """What a trial's seconds are multiplied by, `[simulations, pairs, arm]`: a random walk over trials in time, and each trial's own noise."""
    walk = np.cumsum(source.normal(0, STEP, (simulations, 2 * pairs)), axis=1).reshape(simulations, pairs, 2)
    turned = np.array([pair % 4 in (1, 2) for pair in range(pairs)])
    walk[:, turned] = walk[:, turned, ::-1]
    return np.exp(walk + source.normal(0, noise, walk.shape))


def rates(tokens: Array, seconds: Array, load: int) -> Array:
    """Tokens per second from the first refill to the first idle slot, `[rows]`; `load` slots serve the requests in order, both `[rows, requests]`."""
    rows, n = tokens.shape
    free, every = np.zeros((rows, load)), np.arange(rows)
    begins, ends = np.empty((rows, n)), np.empty((rows, n))
    for i in range(n):
        slot = free.argmin(axis=1)
        begins[:, i] = free[every, slot]
        ends[:, i] = free[every, slot] = begins[:, i] + seconds[:, i]
    start, end = begins[:, load, None], np.sort(ends, axis=1)[:, n - load, None]
    shares = np.clip(np.minimum(ends, end) - np.maximum(begins, start), 0, None) / seconds
    found: Array = (tokens * shares).sum(axis=1) / (end - start)[:, 0]
    return found


def main() -> None:
    table = [measured(cell, SIMULATIONS) for cell in cells()]
    for each in table:
        said = "no figure: too few prompts" if each.covered is None or each.width is None else f"{each.covered:6.1%}  ± {each.width:.1%}"
        sys.stdout.write(f"load {each.load}  prompts {each.prompts:2}  trial pairs {each.trial_pairs}  trial noise {each.noise:4.0%}  {said}\n")
    told = {"nominal": 0.95, "simulations": SIMULATIONS, "cells": [asdict(each) for each in table]}
    TABLE.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
