"""Whether two specs ask for one measurement, which a family must not count twice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.canonical import text
from app.domain.catalogue import Offer
from app.domain.defaults import with_defaults
from app.domain.spec import RunSpec


@dataclass(frozen=True)
class Twins:
    """Places, from 1, of two specs that ask for one measurement. They may still judge it by different margins."""

    first: int
    second: int
    spec: RunSpec
    margins: tuple[float, float]

    @property
    def sentence(self) -> str:
        which = f"{self.first} and {self.second} ({self.spec.drafter_title} in {self.spec.language})"
        if self.margins[0] == self.margins[1]:
            return f"Runs {which} ask for the same measurement, defaults filled in; the family would count it twice, so leave one out."
        one, other = self.margins
        return (
            f"Runs {which} differ in the margin of their verdict alone, {one:g} and {other:g}: that is one measurement, which the family would count "
            "twice; choose one margin."
        )


def twins(specs: Sequence[RunSpec], offers: Iterable[Offer] = ()) -> Twins | None:
    """The first two that are one measurement as they stand, or with the defaults of a runner that may measure them."""
    for offer in (None, *offers):
        seen: dict[str, int] = {}
        for place, spec in enumerate(specs):
            first = seen.setdefault(measurement(spec, offer), place)
            if first != place:
                return Twins(first + 1, place + 1, spec, (specs[first].margin, spec.margin))
    return None


def measurement(spec: RunSpec, offer: Offer | None = None) -> str:
    """Canonical text of all that is measured: equal texts are one measurement. The margin is no part of it, since it only judges; order does not
    matter where the runner sorts, nor does what greedy decoding never looks at. Defaults are those of the offer's parts."""
    body = (spec if offer is None else with_defaults(spec, offer)).model_dump(mode="json", exclude={"margin"})
    if spec.suite.profiles is not None:
        body["suite"]["profiles"] = sorted(set(spec.suite.profiles))
    body["stop"] = sorted(set(spec.stop))
    if spec.sampling.temperature == 0:
        body["sampling"] |= {"top_k": None, "top_p": None}
    return text(body)
