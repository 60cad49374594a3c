"""The steady window of a trial under closed load: from the first refill until a slot first stays empty (definitions § 3).

All slots are in use from its start to its end. It does not end with the last admission: answers of equal length come in generations, and a window
that takes the last generation's prefills and none of its decoding makes plain look slower by up to a quarter (tests/test_simulated_engine.py).
"""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from app.domain.facts import RequestFact
from app.domain.sentence import Sentence, plain
from app.domain.spec import GENERATIONS, Load
from app.metrics.columns import Array, Requests
from app.metrics.terms import DONE, LEAST_SECONDS

NUMBERS = ("seconds", "tokens", "characters", "words")
WINDOW_COLUMNS = ["arm", "purpose", "trial", "order", "work", *NUMBERS, "why"]
NOTHING = plain("Nothing was delivered in the steady window.")


def windows(requests: Sequence[RequestFact], load: Load) -> pd.DataFrame:
    """A row a trial: what was delivered in its steady window and how many seconds that took; `why` says why a trial has none.

    `work` is the set of (prompt, seed) that the trial decoded, `order` its place in the pair (None where its requests do not agree).
    """
    rows = list(_rows(Requests.of(requests), load.concurrency)) if load.regime == "closed" else []
    return pd.DataFrame(rows, columns=WINDOW_COLUMNS).astype(dict.fromkeys(NUMBERS, "float64"))


def _rows(requests: Requests, concurrency: int) -> Iterator[dict[str, Any]]:
    for (arm, purpose, trial), own in sorted(_by_trial(requests), key=itemgetter(0)):
        orders = set(own.whole("order").tolist())
        row = {"arm": arm, "purpose": purpose, "trial": trial, "order": orders.pop() if len(orders) == 1 else None}
        why = _why_none(own, concurrency)
        measured = {} if why else _delivered(own, *_bounds(own, concurrency))
        if measured and measured["tokens"] == 0:
            measured, why = {}, NOTHING
        yield row | {"work": frozenset(zip(own.text("prompt").tolist(), own.whole("seed").tolist(), strict=True)), "why": why} | measured


def _by_trial(requests: Requests) -> Iterator[tuple[tuple[str, str, int], Requests]]:
    keys = requests.keys("arm", "purpose", "trial")
    order = np.argsort(keys, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1):
        if len(rows):
            own = requests.at(rows)
            yield (str(own.text("arm")[0]), str(own.text("purpose")[0]), int(own.whole("trial")[0])), own


def _times(requests: Requests) -> tuple[Array, Array]:
    """Admissions and endings, each in order."""
    return np.sort(requests.number("sent_at")), np.sort(requests.number("last_at"))


def _bounds(requests: Requests, concurrency: int) -> tuple[float, float]:
    """(start, end): the first admission after the slots were full, and the first ending behind which nobody waits."""
    sent, last = _times(requests)
    return float(sent[concurrency]), float(last[len(requests) - concurrency])


def _why_none(requests: Requests, concurrency: int) -> Sentence | None:
    n = len(requests)
    if not requests.told("finish", *DONE).all():
        return plain("A request of the trial broke off, so it has no steady window.")
    if n < GENERATIONS * concurrency:
        least = GENERATIONS * concurrency
        return plain("%(requests)s in a trial are too few for a steady window; %(least)s are the least.", requests=n, least=least)
    if not _closed(requests, concurrency):
        return plain("The requests of the trial did not come as under a closed load of %(load)s.", load=concurrency)
    start, end = _bounds(requests, concurrency)
    return NOTHING if end - start <= LEAST_SECONDS else None


def _closed(requests: Requests, concurrency: int) -> bool:
    """Whether the slots were filled before an answer of more than its prefill ended, and then nobody came before another one left."""
    sent, last = _times(requests)
    # Where nobody tells what the prefill emits, it is one token, as in most engines.
    decoded = requests.number("last_at")[requests.number("emitted") > np.nan_to_num(requests.number("prefill_tokens"), nan=1.0)]
    first = decoded.min() if len(decoded) else last[-1]
    overfull = (sent[concurrency:] < last[: len(sent) - concurrency] - LEAST_SECONDS).any()
    return bool(sent[concurrency - 1] < first and not overfull)


def _delivered(requests: Requests, start: float, end: float) -> dict[str, float]:
    """Tokens whose step ended in (start, end]; of a request's characters and words the share that its tokens there are of all its tokens."""
    steps, ends = requests.lists("step_tokens"), requests.lists("step_end").values
    within = (ends > start) & (ends <= end)
    tokens = np.bincount(steps.owners[within], weights=steps.values[within], minlength=len(requests))
    share = tokens / np.maximum(requests.number("emitted"), 1)
    return {
        "seconds": end - start,
        "tokens": float(tokens.sum()),
        "characters": float(share @ requests.number("output_characters")),
        "words": float(share @ requests.number("output_words")),
    }
