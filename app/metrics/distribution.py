"""Quantiles over requests: a distribution, never a pair and never an estimate of a mean."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.domain.estimate import Estimate
from app.domain.sentence import Sentence, plain
from app.metrics.arrivals import stability
from app.metrics.base import Part, Reading
from app.metrics.frame import Frames
from app.metrics.select import timed, why_untimed
from app.metrics.sums import missing, total
from app.metrics.terms import ARMS

# The fewest values from which a quantile is read: one value must lie beyond it on average.
QUANTILES = {"p50": (0.5, 2), "p95": (0.95, 20), "p99": (0.99, 100)}
NO_INTERVAL = plain("No interval: a quantile describes the requests that were measured.")


def few_values(quantile: str, n: int) -> Sentence:
    return plain("%(quantile)s needs %(least)s values, there are %(n)s.", quantile=quantile, least=QUANTILES[quantile][1], n=n)


def quantiles(values: pd.Series, part: Part, *, n: int, rounds: int | None, emitted: int | None, on_prompts: bool = False) -> list[Reading]:
    """p50, p95 and p99 of the values of `n` requests; a quantile that so few values cannot show is missing, with the number needed."""
    enough = [name for name, (_, fewest) in QUANTILES.items() if len(values) >= fewest]
    found_at = np.quantile(values.to_numpy(dtype=float), [QUANTILES[name][0] for name in enough]) if enough else ()
    points = {name: float(at) for name, at in zip(enough, found_at, strict=True)}
    found = []
    for name in QUANTILES:
        own = part | {"quantile": name}
        if name not in points:
            found.append(missing(few_values(name, len(values)), own))
            continue
        estimate = Estimate(point=points[name], n=n, counted="requests", scope="these prompts", reason=NO_INTERVAL)
        found.append(Reading(estimate, part=own, rounds=rounds, emitted=emitted, on_prompts=on_prompts))
    return found


@dataclass(frozen=True)
class PerRequest:
    """A `compute` that gives the quantiles of a value per request, for each arm. A value counted `from_arrival` holds the wait for a slot, so an
    arm that does not bear its load has no such distribution."""

    values: Callable[[pd.DataFrame], pd.Series]
    on_prompts: bool = False
    from_arrival: bool = False

    def __call__(self, frames: Frames) -> list[Reading]:
        found: list[Reading] = []
        for arm in ARMS:
            values = self.of(frames, arm)
            if not isinstance(values, pd.Series):
                found.append(missing(values, {"arm": arm}))
                continue
            rows = timed(frames, arm)
            rounds, emitted = total(rows, "rounds"), total(rows, "emitted")
            found += quantiles(values, {"arm": arm}, n=len(values), rounds=rounds, emitted=emitted, on_prompts=self.on_prompts)
        return found

    def of(self, frames: Frames, arm: str) -> pd.Series | Sentence:
        """The value of every request of an arm, or why there is none."""
        rows = timed(frames, arm)
        if rows.empty:
            return why_untimed(frames, arm)
        if self.from_arrival and frames.load.regime == "open" and (seen := stability(frames, arm)) is not None and seen.why is not None:
            return seen.why
        return self.values(rows).dropna()
