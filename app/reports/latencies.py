"""How long each request took, as the shares of an arm's requests that were done by a time: what the quantiles of the figures are read from."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from app.domain.estimate import Cell, Figure
from app.domain.value import Value
from app.metrics.catalogue import METRICS
from app.metrics.distribution import PerRequest
from app.metrics.frame import Frames
from app.metrics.terms import ARMS

MOST_STEPS = 100


class Ecdf(Value):
    """Of an arm's `n` requests the share `shares[i]` took at most `seconds[i]`: every request is a step, of very many only some."""

    id: str
    arm: str
    n: int
    seconds: tuple[float, ...]
    shares: tuple[float, ...]


def ecdfs(frames: Frames, cells: Sequence[Cell]) -> Iterator[Ecdf]:
    """Of every distribution that has a quantile to show: what is refused or absent there has no curve here."""
    shown = {(cell.id, cell.part.get("arm")) for cell in cells if isinstance(cell, Figure) and "quantile" in cell.part}
    for id, metric in METRICS.items():
        if not isinstance(metric.compute, PerRequest):
            continue
        for arm in ARMS:
            if (id, arm) in shown and isinstance(values := metric.compute.of(frames, arm), pd.Series):
                yield _ecdf(id, arm, np.sort(values.to_numpy(dtype=float)))


def _ecdf(id: str, arm: str, values: np.ndarray) -> Ecdf:
    n = len(values)
    ranks = np.unique(np.linspace(1, n, min(n, MOST_STEPS)).round().astype(int))
    return Ecdf(id=id, arm=arm, n=n, seconds=tuple(map(float, values[ranks - 1])), shares=tuple(float(rank / n) for rank in ranks))
