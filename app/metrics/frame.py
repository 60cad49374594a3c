"""One pandas frame per level, built from facts or from bare totals: what every figure is computed from.

Counts are float64 so that a count which its source did not give is NaN, never 0; a figure that needs it says so (Metric.needs).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from app.domain.counts import Counts
from app.domain.estimate import Counted
from app.domain.facts import RequestFact, TrialFact
from app.domain.observations import CostFact
from app.domain.outside.reading import Reading
from app.domain.spec import Load
from app.metrics.columns import WHOLES, Array, Lists, Requests, Whole
from app.metrics.window import windows

COUNTS = ("drafted", "verified", "accepted", "rounds", "undrafted", "prefill_tokens", "emitted", "discarded_bonus", "longest_draft")
TEXT = ("prompt_tokens", "prompt_characters", "prompt_words", "output_characters", "output_words")
PASSES = ("draft_layer_passes", "verify_layer_passes", "prefill_layer_passes")
TIMES = ("seconds", "ttft", "decode_seconds", "decode_tokens")
# Arrow's strings, which pandas takes wherever pyarrow is installed, make frames of short names three times slower.
pd.set_option("mode.string_storage", "python")

# Of an open load: arrival and end on the trial's clock, and the wait between arrival and slot.
ARRIVALS = ("planned_at", "queueing", "last_at")
EXPERTS = ("experts_read", "experts_chosen")
NUMBERS = (*COUNTS, *TEXT, *PASSES, *EXPERTS, *TIMES, *ARRIVALS, "text_tokens")
# What is made of several columns of a fact.
MADE = (*TIMES, "queueing", "text_tokens")

REQUEST_COLUMNS = ["arm", "purpose", "trial", "order", "prompt", "profile", "parallel", "seed", "requests", "finish", "output_digest", *NUMBERS]
REQUEST_TEXTS = ("arm", "purpose", "prompt", "profile", "parallel", "finish", "output_digest")
# `request`: the row of the request that it belongs to; `position`: the place in the output of the first token that a round drafted, from 1;
# `context`: the tokens before it, prompt included; `at`: seconds since the request's first delivery.
ROUND_COLUMNS = ["request", "drafted", "depth", "verified", "slots", "position", "context", "rounds"]
DELIVERY_COLUMNS = ["request", "gap", "tokens", "at"]
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
    its `regime` decides which figures there are and what a pair is. `trees`: drafts branched, where no round is there to tell; `clusters` is what a
    row stands for, which is not the prompt where somebody else counted. `counters` are what a served engine counted in each trial of the
    speculative headline, and `of_trial` says that these are what the one row holds (app.metrics.counters)."""

    requests: pd.DataFrame
    rounds: pd.DataFrame
    deliveries: pd.DataFrame
    trials: pd.DataFrame
    windows: pd.DataFrame
    sampled: bool = False
    load: Load = field(default_factory=Load)
    totals: bool = False
    timed_controller: bool = False
    trees: bool = False
    clusters: Counted = "prompts"
    counters: Mapping[int, Reading] = field(default_factory=dict)
    of_trial: bool = False
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
    own, passes = Requests.of(requests), tuple(trials)
    told = {fact.trial: fact.counted for fact in passes if (fact.arm, fact.purpose) == ("speculative", "headline") and fact.counted is not None}
    return Frames(
        requests=_requests(own),
        rounds=_rounds(own),
        deliveries=_deliveries(own),
        trials=_frame([_trial(fact) for fact in passes], TRIAL_COLUMNS, ("forwards", *MEMORY)),
        windows=windows(own, load or Load()),
        sampled=sampled,
        load=load or Load(),
        timed_controller=timed_controller,
        trees=any(each.tree for each in told.values()),
        counters=told,
        costs=_costs(costs),
    )


def from_counts(counts: Counts, *, trees: bool = False) -> Frames:
    """Frames of one row that holds totals: every count figure has its point and, for want of clusters, no interval.

    The depth of a round is known from a histogram only when every draft was as long as the longest (D = k·R), so only then are there rounds.
    """
    empty = from_facts(())
    return Frames(
        requests=_frame([_row(counts, "totals")], REQUEST_COLUMNS, NUMBERS),
        rounds=_frame(_rounds_of(counts), ROUND_COLUMNS, ROUND_COLUMNS[1:]),
        deliveries=empty.deliveries,
        trials=empty.trials,
        windows=empty.windows,
        totals=True,
        trees=trees,
    )


def from_requests(counts: Sequence[Counts], *, trees: bool = False) -> Frames:
    """Frames of a row a request that somebody else counted: the requests are the clusters of an interval. There are no rounds."""
    rows = [_row(each, f"{place:06d}") for place, each in enumerate(counts)]
    return replace(from_facts(()), requests=_frame(rows, REQUEST_COLUMNS, NUMBERS), clusters="requests", trees=trees)


def _row(counts: Counts, prompt: str) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(REQUEST_COLUMNS) | {name: getattr(counts, name) for name in COUNTS}
    return row | {
        "arm": "speculative", "purpose": "headline", "trial": 0, "order": 0, "prompt": prompt, "requests": counts.requests, "finish": "length"
    }  # fmt: skip


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


def _frame(rows: Sequence[dict[str, Any]], columns: list[str], numbers: Iterable[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(numbers, "float64"))


def _requests(own: Requests) -> pd.DataFrame:
    columns: dict[str, Any] = {name: pd.Series(own.text(name), dtype=object) for name in REQUEST_TEXTS}
    columns |= {name: own.whole(name) for name in WHOLES} | {name: own.number(name) for name in NUMBERS if name not in MADE}
    sent, first, last, planned = (own.number(name) for name in ("sent_at", "first_at", "last_at", "planned_at"))
    started = np.where(np.isnan(planned), sent, planned)
    columns |= {
        "drafted": np.where(own.told("drafted_source", "absent"), np.nan, own.number("drafted")),
        "requests": np.ones(len(own), dtype=np.int64),
        "seconds": last - started,
        "ttft": first - started,
        "decode_seconds": last - first,
        "decode_tokens": own.number("emitted") - _first_delivery(own),
        "queueing": sent - planned,
        # The EOS token is emitted and counted, but it carries no text.
        "text_tokens": own.number("emitted") - own.told("finish", "eos"),
    }
    return pd.DataFrame({name: columns[name] for name in REQUEST_COLUMNS}, copy=False)


def _first_delivery(own: Requests) -> Array:
    """Tokens that were there at `first_at`: the prefill's, or those of the first round where the prefill emits none."""
    found = np.minimum(np.fmax(own.number("prefill_tokens"), 1), own.number("emitted"))
    owners, at, first = _delivering(own.lists("step_tokens"))
    found[owners[first]] = own.lists("step_tokens").values[at][first]
    return found


def _delivering(steps: Lists) -> tuple[Whole, Whole | slice, Whole]:
    """The steps that brought tokens: of each its request, and where it is; and where among them each request's own begin."""
    brought = steps.values > 0
    if brought.all():
        return steps.owners, slice(None), steps.starts[:-1][steps.lengths > 0]
    owners = steps.owners[brought]
    return owners, np.flatnonzero(brought), np.flatnonzero(np.diff(owners, prepend=-1))


def _rounds(own: Requests) -> pd.DataFrame:
    verified, places = own.lists("round_verified"), _places(own)
    columns = {
        "request": verified.owners,
        "drafted": own.lists("round_drafted").values,
        "depth": own.lists("round_depth").values,
        "verified": verified.values,
        "slots": _slots(own),
        "position": places + 1,
        "context": places + np.repeat(own.number("input_tokens"), verified.lengths),
        "rounds": np.ones(len(places)),
    }
    return pd.DataFrame(columns, copy=False)


def _slots(own: Requests) -> Array:
    """Sequences beside each round `[ΣR]`; NaN where nobody told them."""
    slots, lengths = own.lists("round_slots"), own.lists("round_verified").lengths
    found = np.full(lengths.sum(), np.nan)
    found[np.repeat(slots.lengths == lengths, lengths)] = slots.values
    return found


def _places(own: Requests) -> Array:
    """Tokens that had been delivered before each round `[ΣR]`; NaN where it is not known which steps the rounds were."""
    steps, at = own.lists("step_tokens"), own.lists("round_step")
    found = np.full(own.lists("round_verified").starts[-1], np.nan)
    before = np.concatenate([[0.0], np.cumsum(steps.values)])
    first = steps.starts[at.owners]
    found[np.repeat(at.told, own.lists("round_verified").lengths)] = before[first + at.values.astype(np.int64)] - before[first]
    return found


def _rounds_of(counts: Counts) -> list[dict[str, Any]]:
    if counts.histogram is None or counts.longest_draft is None or counts.rounds is None or counts.drafted != counts.longest_draft * counts.rounds:
        return []
    return [
        {"request": 0, "drafted": counts.longest_draft, "depth": counts.longest_draft, "verified": kept, "rounds": n}
        for kept, n in enumerate(counts.histogram)
        if n
    ]


def _deliveries(own: Requests) -> pd.DataFrame:
    """A delivery is a step that brought tokens; the first of a request has no gap before it."""
    owners, at, first = _delivering(own.lists("step_tokens"))
    ends, tokens = own.lists("step_end").values[at], own.lists("step_tokens").values[at]
    since = ends - np.repeat(ends[first], np.diff(first, append=len(owners)))
    later = np.ones(len(owners), dtype=bool)
    later[first] = False
    gaps = np.diff(ends, prepend=0.0)
    return pd.DataFrame({"request": owners[later], "gap": gaps[later], "tokens": tokens[later], "at": since[later]}, copy=False)


def events_of(events: pd.DataFrame, requests: pd.DataFrame) -> pd.DataFrame:
    """The rounds or deliveries of some rows of Frames.requests, in the order of all."""
    if events.empty or requests.empty:
        return events.iloc[:0]
    owners, rows = events["request"].to_numpy(), requests.index.to_numpy()
    wanted = np.zeros(max(owners.max(), rows.max()) + 1, dtype=bool)
    wanted[rows] = True
    found: pd.DataFrame = events[wanted[owners]]
    return found


def _trial(fact: TrialFact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in TRIAL_COLUMNS}
