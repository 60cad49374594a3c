"""One pandas frame per level, built from facts or from bare totals: what every figure is computed from.

Counts are float64 so that a count which its source did not give is NaN, never 0; a figure that needs it says so (Metric.needs).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.domain.counts import Counts
from app.domain.facts import RequestFact, TrialFact
from app.domain.observations import CostFact
from app.domain.spec import Load
from app.metrics.window import windows

COUNTS = ("drafted", "verified", "accepted", "rounds", "undrafted", "prefill_tokens", "emitted", "discarded_bonus", "longest_draft")
TEXT = ("prompt_tokens", "prompt_characters", "prompt_words", "output_characters", "output_words")
PASSES = ("draft_layer_passes", "verify_layer_passes", "prefill_layer_passes")
TIMES = ("seconds", "ttft", "decode_seconds", "decode_tokens")
Array = NDArray[np.float64]
# Arrow's strings, which pandas takes wherever pyarrow is installed, make frames of short names three times slower.
pd.set_option("mode.string_storage", "python")

# Of an open load: arrival and end on the trial's clock, and the wait between arrival and slot.
ARRIVALS = ("planned_at", "queueing", "last_at")
NUMBERS = (*COUNTS, *TEXT, *PASSES, *TIMES, *ARRIVALS, "text_tokens")

REQUEST_COLUMNS = ["arm", "purpose", "trial", "order", "prompt", "profile", "parallel", "seed", "requests", "finish", "output_digest", *NUMBERS]
EVENT_COLUMNS = ["arm", "purpose", "trial", "prompt"]
# `position`: the place in the output of the first token that a round drafted, from 1; `context`: the tokens before it, prompt included.
ROUND_COLUMNS = [*EVENT_COLUMNS, "drafted", "depth", "verified", "slots", "position", "context", "rounds"]
DELIVERY_COLUMNS = [*EVENT_COLUMNS, "gap", "tokens"]
MEMORY = ("peak_bytes", "weight_bytes", "cache_bytes")
TRIAL_COLUMNS = ["arm", "purpose", "trial", "block", "forwards", "contended", *MEMORY]
COST_COLUMNS = ["stage", "sequences", "tokens", "seconds"]


def _costs(facts: Iterable[CostFact] = ()) -> pd.DataFrame:
    """Sequences and drafts are of the longest row in a step."""
    rows = [(fact.stage, fact.sequences, fact.tokens, seconds) for fact in facts for seconds in fact.seconds]
    return pd.DataFrame(rows, columns=COST_COLUMNS).astype({"sequences": int, "tokens": int, "seconds": float})


@dataclass(frozen=True)
class Frames:
    """`requests`: a row a request (or a row of totals over `requests` of them); `rounds`: a row a verification step that carried a draft (or a row of
    equal ones); `deliveries`: a row a delivery after a request's first; `trials`: a row a trial; `windows`: a row a trial under load
    (app.metrics.window); `costs`: a row an occurrence of a stage in profiled trials. `sampled`: repeats differ, so all of them count.
    `timed_controller`: so do they, but only where nothing disturbed the times that draft lengths hang on. `load` is what the run was measured under;
    its `regime` decides which figures there are and what a pair is."""

    requests: pd.DataFrame
    rounds: pd.DataFrame
    deliveries: pd.DataFrame
    trials: pd.DataFrame
    windows: pd.DataFrame
    sampled: bool = False
    load: Load = field(default_factory=Load)
    totals: bool = False
    timed_controller: bool = False
    costs: pd.DataFrame = field(default_factory=_costs)


def from_facts(
    requests: Sequence[RequestFact],
    trials: Iterable[TrialFact] = (),
    *,
    sampled: bool = False,
    load: Load | None = None,
    timed_controller: bool = False,
    costs: Iterable[CostFact] = (),
) -> Frames:
    """Frames over everything that a run measured; figures select arm, purpose and trial themselves (app.metrics.select)."""
    return Frames(
        requests=_frame([_request(fact) for fact in requests], REQUEST_COLUMNS, NUMBERS),
        rounds=_rounds(requests),
        deliveries=_deliveries(requests),
        trials=_frame([_trial(fact) for fact in trials], TRIAL_COLUMNS, ("forwards", *MEMORY)),
        windows=windows(requests, load or Load()),
        sampled=sampled,
        load=load or Load(),
        timed_controller=timed_controller,
        costs=_costs(costs),
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
        rounds=_frame(_rounds_of(counts), ROUND_COLUMNS, ROUND_COLUMNS[len(EVENT_COLUMNS) :]),
        deliveries=empty.deliveries,
        trials=empty.trials,
        windows=empty.windows,
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
    same = ("arm", "purpose", "trial", "order", "prompt", "profile", "parallel", "seed", "finish", "output_digest", *COUNTS, *TEXT, *PASSES)
    row: dict[str, Any] = {name: getattr(fact, name) for name in same} | {"requests": 1}
    if fact.drafted_source == "absent":
        row["drafted"] = None
    started = fact.sent_at if fact.planned_at is None else fact.planned_at
    return row | {
        "seconds": fact.last_at - started,
        "ttft": fact.first_at - started,
        "decode_seconds": fact.last_at - fact.first_at,
        "decode_tokens": fact.emitted - _first_delivery(fact),
        "planned_at": fact.planned_at,
        "queueing": None if fact.planned_at is None else fact.sent_at - fact.planned_at,
        "last_at": fact.last_at,
        # The EOS token is emitted and counted, but it carries no text.
        "text_tokens": fact.emitted - (fact.finish == "eos"),
    }


def _first_delivery(fact: RequestFact) -> int:
    """Tokens that were there at `first_at`: the prefill's, or those of the first round where the prefill emits none."""
    return next((tokens for tokens in fact.step_tokens if tokens > 0), min(max(fact.prefill_tokens, 1), fact.emitted))


def _rounds(requests: Sequence[RequestFact]) -> pd.DataFrame:
    kept = [np.asarray(fact.round_verified, dtype=np.float64) for fact in requests]
    places = [_places(fact) for fact in requests]
    columns = {
        "position": [each + 1 for each in places],
        "context": [each + (np.nan if fact.input_tokens is None else fact.input_tokens) for each, fact in zip(places, requests, strict=True)],
        "drafted": [np.asarray(fact.round_drafted, dtype=np.float64) for fact in requests],
        "slots": [np.asarray(fact.round_slots, dtype=np.float64) for fact in requests],
        "depth": [np.asarray(fact.round_depth, dtype=np.float64) for fact in requests],
        "verified": kept,
        "rounds": [np.ones(len(each)) for each in kept],
    }
    return _long(requests, columns)[ROUND_COLUMNS]


def _places(fact: RequestFact) -> Array:
    """Tokens that had been delivered before each round `[R]`; NaN where it is not known which steps the rounds were."""
    if fact.round_step is None:
        return np.full(fact.rounds, np.nan)
    delivered = np.concatenate([[0.0], np.cumsum(fact.step_tokens, dtype=np.float64)])
    found: Array = delivered[np.asarray(fact.round_step, dtype=int)]
    return found


def _rounds_of(counts: Counts) -> list[dict[str, Any]]:
    if counts.histogram is None or counts.longest_draft is None or counts.rounds is None or counts.drafted != counts.longest_draft * counts.rounds:
        return []
    same = {"arm": "speculative", "purpose": "headline", "trial": 0, "prompt": "totals"}
    return [
        same | {"drafted": counts.longest_draft, "depth": counts.longest_draft, "verified": kept, "rounds": n}
        for kept, n in enumerate(counts.histogram)
        if n
    ]


def _deliveries(requests: Sequence[RequestFact]) -> pd.DataFrame:
    ends, tokens = [], []
    for fact in requests:
        brought = np.asarray(fact.step_tokens, dtype=np.float64)
        ends.append(np.asarray(fact.step_end, dtype=np.float64)[brought > 0])
        tokens.append(brought[brought > 0])
    return _long(requests, {"gap": [np.diff(each) for each in ends], "tokens": [each[1:] for each in tokens]})[DELIVERY_COLUMNS]


def _long(requests: Sequence[RequestFact], columns: dict[str, list[Array]]) -> pd.DataFrame:
    """A row an event: arrays per request one under the other, what names the request beside them. Rows may be millions, so none is a dict."""
    lengths = [len(each) for each in next(iter(columns.values()))]
    named = {
        name: np.repeat(np.asarray([getattr(fact, name) for fact in requests], dtype=int if name == "trial" else object), lengths)
        for name in EVENT_COLUMNS
    }
    return pd.DataFrame(named | {name: np.concatenate([*arrays, np.empty(0)]) for name, arrays in columns.items()})


def _trial(fact: TrialFact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in TRIAL_COLUMNS}
