"""One pandas frame per level, built from facts or from bare totals: what every figure is computed from.

Counts are float64 so that a count which its source did not give is NaN, never 0; a figure that needs it says so (Metric.needs).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pandas as pd

from app.domain.counts import Counts
from app.domain.facts import RequestFact, TrialFact

COUNTS = ("drafted", "verified", "accepted", "rounds", "undrafted", "prefill_tokens", "emitted", "discarded_bonus", "longest_draft")
TEXT = ("prompt_tokens", "prompt_characters", "prompt_words", "output_characters", "output_words")
PASSES = ("draft_layer_passes", "verify_layer_passes", "prefill_layer_passes")
TIMES = ("seconds", "ttft", "decode_seconds", "decode_tokens")
DONE = ("eos", "length", "stop")

NUMBERS = (*COUNTS, *TEXT, *PASSES, *TIMES, "text_tokens")

REQUEST_COLUMNS = ["arm", "purpose", "trial", "order", "prompt", "profile", "parallel", "seed", "requests", "finish", *NUMBERS]
ROUND_COLUMNS = ["arm", "purpose", "trial", "prompt", "profile", "parallel", "depth", "verified", "rounds"]
DELIVERY_COLUMNS = ["arm", "purpose", "trial", "prompt", "gap", "tokens"]
TRIAL_COLUMNS = ["arm", "purpose", "trial", "block", "forwards", "contended"]


@dataclass(frozen=True)
class Frames:
    """`requests`: a row a request (or a row of totals over `requests` of them); `rounds`: a row a verification step that carried a draft (or a row of
    equal ones); `deliveries`: a row a delivery after a request's first; `trials`: a row a trial. `sampled`: repeats differ, so all of them count."""

    requests: pd.DataFrame
    rounds: pd.DataFrame
    deliveries: pd.DataFrame
    trials: pd.DataFrame
    sampled: bool = False
    totals: bool = False


def from_facts(requests: Sequence[RequestFact], trials: Iterable[TrialFact] = (), *, sampled: bool = False) -> Frames:
    """Frames over everything that a run measured; figures select arm, purpose and trial themselves (app.metrics.select)."""
    return Frames(
        requests=_frame([_request(fact) for fact in requests], REQUEST_COLUMNS, NUMBERS),
        rounds=_frame([row for fact in requests for row in _rounds(fact)], ROUND_COLUMNS, ("depth", "verified", "rounds")),
        deliveries=_frame([row for fact in requests for row in _deliveries(fact)], DELIVERY_COLUMNS, ("gap", "tokens")),
        trials=_frame([_trial(fact) for fact in trials], TRIAL_COLUMNS, ("forwards",)),
        sampled=sampled,
    )


def from_counts(counts: Counts) -> Frames:
    """Frames of one row that holds totals: every count figure has its point and, for want of clusters, no interval.

    The depth of a round is known from a histogram only when every draft was as long as the longest (D = k·R), so only then are there rounds.
    """
    row: dict[str, Any] = dict.fromkeys(REQUEST_COLUMNS) | {name: getattr(counts, name) for name in COUNTS}
    row |= {"arm": "speculative", "purpose": "headline", "trial": 0, "order": 0, "prompt": "totals", "requests": counts.requests, "finish": "length"}
    empty = from_facts(())
    return Frames(
        requests=_frame([row], REQUEST_COLUMNS, NUMBERS),
        rounds=_frame(_rounds_of(counts), ROUND_COLUMNS, ("depth", "verified", "rounds")),
        deliveries=empty.deliveries,
        trials=empty.trials,
        totals=True,
    )


def counts_of_histogram(histogram: Sequence[int], longest_draft: int, *, requests: int = 1) -> Counts:
    """Counts behind a histogram of kept drafts per round, where every round drafted `longest_draft` tokens (D is nominal: k·R)."""
    rounds = sum(histogram)
    return Counts(
        requests=requests,
        emitted=None,
        rounds=rounds,
        drafted=longest_draft * rounds,
        verified=sum(kept * n for kept, n in enumerate(histogram)),
        longest_draft=longest_draft,
        histogram=tuple(histogram),
    )


def _frame(rows: list[dict[str, Any]], columns: list[str], numbers: Iterable[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(numbers, "float64"))


def _request(fact: RequestFact) -> dict[str, Any]:
    same = ("arm", "purpose", "trial", "order", "prompt", "profile", "parallel", "seed", "finish", *COUNTS, *TEXT, *PASSES)
    row: dict[str, Any] = {name: getattr(fact, name) for name in same} | {"requests": 1}
    if fact.drafted_source == "absent":
        row["drafted"] = None
    started = fact.sent_at if fact.planned_at is None else fact.planned_at
    return row | {
        "seconds": fact.last_at - started,
        "ttft": fact.first_at - started,
        "decode_seconds": fact.last_at - fact.first_at,
        "decode_tokens": fact.emitted - _first_delivery(fact),
        # The EOS token is emitted and counted, but it carries no text.
        "text_tokens": fact.emitted - (fact.finish == "eos"),
    }


def _first_delivery(fact: RequestFact) -> int:
    """Tokens that were there at `first_at`: the prefill's, or those of the first round where the prefill emits none."""
    return next((tokens for tokens in fact.step_tokens if tokens > 0), min(max(fact.prefill_tokens, 1), fact.emitted))


def _rounds(fact: RequestFact) -> list[dict[str, Any]]:
    same = {name: getattr(fact, name) for name in ("arm", "purpose", "trial", "prompt", "profile", "parallel")}
    return [same | {"depth": deep, "verified": kept, "rounds": 1} for deep, kept in zip(fact.round_depth, fact.round_verified, strict=True)]


def _rounds_of(counts: Counts) -> list[dict[str, Any]]:
    if counts.histogram is None or counts.longest_draft is None or counts.rounds is None or counts.drafted != counts.longest_draft * counts.rounds:
        return []
    same = {"arm": "speculative", "purpose": "headline", "trial": 0, "prompt": "totals", "profile": None, "parallel": None}
    return [same | {"depth": counts.longest_draft, "verified": kept, "rounds": n} for kept, n in enumerate(counts.histogram) if n]


def _deliveries(fact: RequestFact) -> list[dict[str, Any]]:
    same = {name: getattr(fact, name) for name in ("arm", "purpose", "trial", "prompt")}
    delivered = [(end, tokens) for end, tokens in zip(fact.step_end, fact.step_tokens, strict=True) if tokens > 0]
    return [same | {"gap": end - before, "tokens": tokens} for (before, _), (end, tokens) in pairwise(delivered)]


def _trial(fact: TrialFact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in TRIAL_COLUMNS}
