"""The definitions of figures, and the gates with how often they are wrong."""

from app.domain.outside.versions import shapes
from app.imports.open import FORMATS
from app.methodology.schemas import Definition, Limits, Methodology, OfMachines, OfTexts, Told
from app.metrics.catalogue import METRICS
from app.reports.gates import TOLERATED
from app.reports.words import name_of
from app.statistics.rates import over_machines, over_texts
from app.statistics.verdict import FAIR_BASELINE


def definitions() -> tuple[Definition, ...]:
    """In the catalogue's order."""
    return tuple(
        Definition(
            id=metric.id,
            name=name_of(metric.id, "en"),
            unit=metric.unit,
            better=metric.better,
            formula=metric.formula,
            also_printed_as=metric.also_printed_as or None,
        )
        for metric in METRICS.values()
    )


def methodology() -> Methodology:
    texts = over_texts()
    return Methodology(
        figures=definitions(),
        formats=tuple(
            Told(format=each.name, tool=each.tool, counts=each.gives, of_single_requests=each.singles) for _, each in sorted(FORMATS.items())
        ),
        words=tuple(shapes()),
        limits=Limits.model_validate(texts["limits"] | {"tolerated": TOLERATED, "fair_baseline": FAIR_BASELINE}),
        over_texts=tuple(OfTexts.model_validate(rate) for rate in texts["rates"]),
        over_machines=tuple(OfMachines.model_validate(rate) for rate in over_machines()["rates"]),
    )
