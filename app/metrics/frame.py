"""One pandas frame per level, built from facts or from bare totals: what every figure is computed from.

Counts are float64 so that a count which its source did not give is NaN, never 0; a figure that needs it says so (Metric.needs).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
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
# What a row takes from its fact as it is, and what is made of it.
REQUEST_MADE = ("requests", *TIMES, "queueing", "text_tokens")
SAME = tuple(name for name in REQUEST_COLUMNS if name not in REQUEST_MADE)
_same = attrgetter(*SAME)
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
    # What app.metrics.once has selected of these frames; a copy of them begins anew.
    selected: dict[tuple[object, ...], Any] = field(default_factory=dict, init=False, repr=False, compare=False)


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
        requests=_requests(requests),
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


def _frame(rows: Sequence[dict[str, Any] | tuple[Any, ...]], columns: list[str], numbers: Iterable[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(numbers, "float64"))


def _requests(facts: Sequence[RequestFact]) -> pd.DataFrame:
    return _frame([_request(fact) for fact in facts], [*SAME, *REQUEST_MADE], NUMBERS)[REQUEST_COLUMNS]


def _request(fact: RequestFact) -> tuple[Any, ...]:
    same = _same(fact)
    if fact.drafted_source == "absent":
        same = tuple(None if name == "drafted" else value for name, value in zip(SAME, same, strict=True))
    started = fact.sent_at if fact.planned_at is None else fact.planned_at
    made = {
        "requests": 1,
        "seconds": fact.last_at - started,
        "ttft": fact.first_at - started,
        "decode_seconds": fact.last_at - fact.first_at,
        "decode_tokens": fact.emitted - _first_delivery(fact),
        "queueing": None if fact.planned_at is None else fact.sent_at - fact.planned_at,
        # The EOS token is emitted and counted, but it carries no text.
        "text_tokens": fact.emitted - (fact.finish == "eos"),
    }
    return (*same, *(made[name] for name in REQUEST_MADE))


def _first_delivery(fact: RequestFact) -> int:
    """Tokens that were there at `first_at`: the prefill's, or those of the first round where the prefill emits none."""
    return next((tokens for tokens in fact.step_tokens if tokens > 0), min(max(fact.prefill_tokens, 1), fact.emitted))


def _rounds(requests: Sequence[RequestFact]) -> pd.DataFrame:
    places = np.concatenate([*map(_places, requests), np.empty(0)])
    before = np.asarray([np.nan if fact.input_tokens is None else fact.input_tokens for fact in requests], dtype=np.float64)
    lengths = _lengths([fact.round_verified for fact in requests])
    columns = {
        "position": places + 1,
        "context": places + np.repeat(before, lengths),
        "drafted": _flat([fact.round_drafted for fact in requests]),
        "slots": _flat([fact.round_slots for fact in requests]),
        "depth": _flat([fact.round_depth for fact in requests]),
        "verified": _flat([fact.round_verified for fact in requests]),
        "rounds": np.ones(lengths.sum()),
    }
    return _long(requests, lengths, columns)[ROUND_COLUMNS]


def _lengths(lists: Sequence[Sequence[float]]) -> NDArray[np.int64]:
    return np.asarray([len(each) for each in lists], dtype=np.int64)


def _flat(lists: Sequence[Sequence[float]]) -> Array:
    """One under the other."""
    return np.fromiter(chain.from_iterable(lists), dtype=np.float64)


def _places(fact: RequestFact) -> Array:
    """Tokens that had been delivered before each round `[R]`; NaN where it is not known which steps the rounds were."""
    if fact.round_step is None or not fact.rounds:
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
    """A delivery is a step that brought tokens; the first of a request has no gap before it."""
    owner = np.repeat(np.arange(len(requests)), _lengths([fact.step_tokens for fact in requests]))
    ends, tokens = _flat([fact.step_end for fact in requests]), _flat([fact.step_tokens for fact in requests])
    owner, ends, tokens = owner[tokens > 0], ends[tokens > 0], tokens[tokens > 0]
    later = np.flatnonzero(owner[1:] == owner[:-1]) + 1
    lengths = np.bincount(owner[later], minlength=len(requests))
    return _long(requests, lengths, {"gap": ends[later] - ends[later - 1], "tokens": tokens[later]})[DELIVERY_COLUMNS]


def _long(requests: Sequence[RequestFact], lengths: NDArray[np.int64], columns: dict[str, Array]) -> pd.DataFrame:
    """A row an event, what names the request beside it. Rows may be millions, so none is a dict."""
    named = {
        name: np.repeat(np.asarray([getattr(fact, name) for fact in requests], dtype=int if name == "trial" else object), lengths)
        for name in EVENT_COLUMNS
    }
    return pd.DataFrame(named | columns)


def _trial(fact: TrialFact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in TRIAL_COLUMNS}
