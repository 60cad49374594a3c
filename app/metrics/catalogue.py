"""Every figure that there is, and their readings without a passport."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from app.discovery import values_of
from app.domain.facts import RequestFact, TrialFact
from app.domain.observations import CostFact
from app.domain.spec import Load, Regime
from app.metrics.base import Metric, Reading
from app.metrics.frame import Frames, from_facts

_FOUND = sorted(values_of("app.metrics.figures", Metric, "METRIC"), key=lambda metric: metric.order)
METRICS: Mapping[str, Metric] = MappingProxyType({metric.id: metric for metric in _FOUND})
if len(METRICS) != len(_FOUND):
    raise TypeError("two figures have the same id")


def readings(frames: Frames) -> Iterator[tuple[Metric, Reading]]:
    """Every reading of every figure of the frames' load, in the catalogue's order."""
    for metric in of_load(frames.load.regime):
        for reading in metric.compute(frames):
            yield metric, reading


def of_load(regime: Regime) -> list[Metric]:
    """The figures that a run under such a load may have."""
    return [metric for metric in METRICS.values() if regime in metric.loads]


def key_of(id: str, part: Mapping[str, str]) -> str:
    """`acceptance_at[1]`, `throughput[plain,tokens]`; the bare id without a part."""
    return f"{id}[{','.join(part.values())}]" if part else id


def points(
    requests: Sequence[RequestFact],
    trials: Iterable[TrialFact] = (),
    *,
    sampled: bool = False,
    load: Load | None = None,
    costs: Iterable[CostFact] = (),
) -> dict[str, float | None]:
    """Bare values by id and part, for the toy and for tests. They carry no passport, so no report, page or export is made of them."""
    frames = from_facts(requests, trials, sampled=sampled, load=load, costs=costs)
    return {key_of(metric.id, reading.part): reading.pooled.point for metric, reading in readings(frames)}
