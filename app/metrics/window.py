"""The steady window of a trial under closed load: from the first refill until a slot first stays empty (definitions § 3).

All slots are in use from its start to its end. It does not end with the last admission: answers of equal length come in generations, and a window
that takes the last generation's prefills and none of its decoding makes plain look slower by up to a quarter (tests/test_simulated_engine.py).
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.domain.facts import RequestFact
from app.domain.sentence import Sentence, plain
from app.domain.spec import GENERATIONS, Load
from app.metrics.terms import DONE, LEAST_SECONDS

NUMBERS = ("seconds", "tokens", "characters", "words")
WINDOW_COLUMNS = ["arm", "purpose", "trial", "order", "work", *NUMBERS, "why"]
NOTHING = plain("Nothing was delivered in the steady window.")
Array = NDArray[np.float64]


def windows(requests: Sequence[RequestFact], load: Load) -> pd.DataFrame:
    """A row a trial: what was delivered in its steady window and how many seconds that took; `why` says why a trial has none.

    `work` is the set of (prompt, seed) that the trial decoded, `order` its place in the pair (None where its requests do not agree).
    """
    rows = list(_rows(requests, load.concurrency)) if load.regime == "closed" else []
    return pd.DataFrame(rows, columns=WINDOW_COLUMNS).astype(dict.fromkeys(NUMBERS, "float64"))


def _rows(requests: Sequence[RequestFact], concurrency: int) -> Iterator[dict[str, Any]]:
    def key(fact: RequestFact) -> tuple[str, str, int]:
        return fact.arm, fact.purpose, fact.trial

    for (arm, purpose, trial), found in groupby(sorted(requests, key=key), key):
        own = list(found)
        orders = {fact.order for fact in own}
        row = {"arm": arm, "purpose": purpose, "trial": trial, "order": own[0].order if len(orders) == 1 else None}
        why = _why_none(own, concurrency)
        measured = {} if why else _delivered(own, *_bounds(own, concurrency))
        if measured and measured["tokens"] == 0:
            measured, why = {}, NOTHING
        yield row | {"work": frozenset((fact.prompt, fact.seed) for fact in own), "why": why} | measured


def _bounds(requests: Sequence[RequestFact], concurrency: int) -> tuple[float, float]:
    """(start, end): the first admission after the slots were full, and the first ending behind which nobody waits."""
    sent, last = sorted(fact.sent_at for fact in requests), sorted(fact.last_at for fact in requests)
    return sent[concurrency], last[len(requests) - concurrency]


def _why_none(requests: Sequence[RequestFact], concurrency: int) -> Sentence | None:
    n = len(requests)
    if any(fact.finish not in DONE for fact in requests):
        return plain("A request of the trial broke off, so it has no steady window.")
    if n < GENERATIONS * concurrency:
        least = GENERATIONS * concurrency
        return plain("%(requests)s in a trial are too few for a steady window; %(least)s are the least.", requests=n, least=least)
    if not _closed(requests, concurrency):
        return plain("The requests of the trial did not come as under a closed load of %(load)s.", load=concurrency)
    start, end = _bounds(requests, concurrency)
    return NOTHING if end - start <= LEAST_SECONDS else None


def _closed(requests: Sequence[RequestFact], concurrency: int) -> bool:
    """Whether the slots were filled before an answer of more than its prefill ended, and then nobody came before another one left."""
    sent, last = sorted(fact.sent_at for fact in requests), sorted(fact.last_at for fact in requests)
    first = min((fact.last_at for fact in requests if fact.emitted > fact.prefill_tokens), default=last[-1])
    overfull = any(entered < left - LEAST_SECONDS for entered, left in zip(sent[concurrency:], last, strict=False))
    return sent[concurrency - 1] < first and not overfull


def _delivered(requests: Sequence[RequestFact], start: float, end: float) -> dict[str, float]:
    """Tokens whose step ended in (start, end]; of a request's characters and words the share that its tokens there are of all its tokens."""
    tokens = np.array([_within(fact, start, end) for fact in requests])
    share = tokens / np.array([max(fact.emitted, 1) for fact in requests], dtype=np.float64)
    return {
        "seconds": end - start,
        "tokens": float(tokens.sum()),
        "characters": float(share @ np.array([fact.output_characters for fact in requests], dtype=np.float64)),
        "words": float(share @ np.array([fact.output_words for fact in requests], dtype=np.float64)),
    }


def _within(fact: RequestFact, start: float, end: float) -> float:
    ends, brought = np.asarray(fact.step_end, dtype=np.float64), np.asarray(fact.step_tokens, dtype=np.float64)
    return float(brought[(ends > start) & (ends <= end)].sum())
