"""How wide the headline's interval will be at the end, from the blocks measured so far: its width and never its place.

Where the interval lies is not told before the end, since who sees it chooses when to stop. The interval itself is app.statistics.pairs', which a
runner does not know; tests hold the two against each other.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from app.domain.facts import AnyFact, RequestFact
from app.domain.spec import Regime

LEVEL = 0.95
FEWEST_PROMPTS, FEWEST_TRIAL_PAIRS, FEWEST_BLOCKS = 6, 4, 2
# A wider interval than this says nothing but that nothing is known.
WIDEST = 10.0
Pair = tuple[RequestFact, RequestFact]
Array = NDArray[np.float64]


class Forecast:
    """The spread of one run's pairs. Blocks are added as they end; one that others disturbed is not."""

    def __init__(self, regime: Regime, concurrency: int = 1, *, sampled: bool = False) -> None:
        self.regime, self.concurrency, self.decode_only = regime, concurrency, sampled
        # Log ratios of each block: at load 1 by prompt, of whole and of decode times; else one a trial pair, under its number.
        self._whole: list[dict[str, float]] = []
        self._decode: list[dict[str, float]] = []

    def add(self, facts: Sequence[AnyFact]) -> None:
        """One block: requests of other arms than the pair's, and other facts, are passed over."""
        pairs = list(_pairs(facts))
        if self.regime == "single":
            # Where answers differ the headline counts time per token.
            self.decode_only |= any(plain.output_digest != own.output_digest for plain, own in pairs)
            self._whole.append(_logs(pairs, _whole))
            self._decode.append(_logs(pairs, _decoding))
        else:
            self._whole.append(self._trial_pairs(pairs))

    def half_width(self, more: int) -> float | None:
        """Half the width of the 95 % interval as a share of its point, when `more` blocks have been added to those so far. None before the second
        block, where there will be too few pairs for an interval, and where nothing varies."""
        blocks = self._decode if self.decode_only and self.regime == "single" else self._whole
        if len(blocks) < FEWEST_BLOCKS:
            return None
        if self.regime == "single":
            common = sorted(set.intersection(*(set(block) for block in blocks)))
            return by_prompts(np.array([[block[prompt] for prompt in common] for block in blocks]), more)
        logs = np.array([log for block in blocks for log in block.values()])
        return by_trial_pairs(logs, round(len(logs) * (1 + more / len(blocks))))

    def _trial_pairs(self, pairs: Sequence[Pair]) -> dict[str, float]:
        measure = _median if self.regime == "open" else self._pace
        found = {}
        for trial in {plain.trial for plain, _ in pairs}:
            arms = zip(*((plain, own) for plain, own in pairs if plain.trial == trial), strict=True)
            times = [measure(arm) for arm in arms]
            if all(time > 0 for time in times):
                found[str(trial)] = math.log(times[0] / times[1])
        return found

    def _pace(self, requests: Sequence[RequestFact]) -> float:
        """Seconds per token from the first refill to the first idle slot, as app.metrics.window has them; 0 where there is no such time."""
        sent, last = sorted(fact.sent_at for fact in requests), sorted(fact.last_at for fact in requests)
        if len(sent) <= self.concurrency:
            return 0.0
        start, end = sent[self.concurrency], last[len(requests) - self.concurrency]
        tokens = sum(n for fact in requests for at, n in zip(fact.step_end, fact.step_tokens, strict=True) if start < at <= end)
        return max(0.0, end - start) / tokens if tokens else 0.0


def by_prompts(logs: Array, more: int) -> float | None:
    """Half-width of t over prompts from log ratios `[blocks so far, prompts]`, after `more` blocks.

    What prompts differ in stays; what a prompt differs in from block to block shrinks with more of them. Both are told apart as in a two-way table
    without replication: a block's shift, common to all prompts, moves the interval and does not widen it.
    """
    blocks, prompts = logs.shape
    if prompts < FEWEST_PROMPTS:
        return None
    residuals = logs - logs.mean(axis=0) - logs.mean(axis=1, keepdims=True) + logs.mean()
    within = float((residuals**2).sum()) / ((blocks - 1) * (prompts - 1))
    now, planned = float(logs.mean(axis=0).var(ddof=1)), blocks + more
    # Never less than if all of it were noise: the difference of two estimates can be less than nothing.
    variance = max(now - within * (1 / blocks - 1 / planned), now * blocks / planned)
    return _share(math.sqrt(variance / prompts), prompts)


def by_trial_pairs(logs: Array, planned: int) -> float | None:
    """Half-width of t over `planned` trial pairs from the log ratios of those so far, `[pairs]`."""
    if min(len(logs), planned) < FEWEST_TRIAL_PAIRS:
        return None
    return _share(float(logs.std(ddof=1)) / math.sqrt(planned), planned)


def _share(error: float, n: int) -> float | None:
    """An interval symmetric on the log, exp(m ± h), is 2·exp(m)·sinh(h) wide."""
    half = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * error
    # Equal pairs leave rounding behind, not spread.
    return math.sinh(half) if 1e-12 < half < math.asinh(WIDEST) else None


def _pairs(facts: Sequence[AnyFact]) -> Iterator[Pair]:
    """Finished headline requests of plain and of the speculative arm that are one another's."""
    done = [f for f in facts if isinstance(f, RequestFact) and f.purpose == "headline" and f.finish in ("eos", "length", "stop")]
    plain = {(fact.prompt, fact.trial, fact.seed): fact for fact in done if fact.arm == "plain"}
    for fact in done:
        other = plain.get((fact.prompt, fact.trial, fact.seed))
        if fact.arm == "speculative" and other is not None:
            yield other, fact


def _logs(pairs: Sequence[Pair], time: Callable[[RequestFact], tuple[float, float]]) -> dict[str, float]:
    """Log of plain ÷ speculative time by prompt, all passes of a block together; `time` gives seconds and what they were for. Prompts with an answer
    that took no time are not in it."""
    sums: dict[str, Array] = {}
    for pair in pairs:
        times = np.array([time(fact) for fact in pair])
        sums[pair[0].prompt] = sums.get(pair[0].prompt, np.zeros((2, 2))) + (times if (times > 0).all() else math.nan)
    return {prompt: float(np.log(plain[0] / plain[1] / (own[0] / own[1]))) for prompt, (plain, own) in sums.items() if plain[0] > 0}


def _whole(fact: RequestFact) -> tuple[float, float]:
    return _seconds(fact), 1.0


def _decoding(fact: RequestFact) -> tuple[float, float]:
    """(seconds, tokens) from the first delivery on."""
    return fact.last_at - fact.first_at, fact.emitted - next((tokens for tokens in fact.step_tokens if tokens > 0), fact.emitted)


def _seconds(fact: RequestFact) -> float:
    return fact.last_at - (fact.sent_at if fact.planned_at is None else fact.planned_at)


def _median(requests: Sequence[RequestFact]) -> float:
    return float(np.median([_seconds(fact) for fact in requests]))
