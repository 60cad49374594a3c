"""What a comparison needs of a run beyond its report: small, made once of all facts, and kept with the report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import pandas as pd

from app.domain.estimate import Figure
from app.domain.value import Value
from app.metrics.base import Metric, Pairs, Part, Sums
from app.metrics.catalogue import METRICS
from app.metrics.frame import Frames
from app.reports.family import ALONE, Family, family_of
from app.reports.headline import estimate_of
from app.reports.record import Kin
from app.reports.report import Report
from app.statistics.verdict import Evidence
from app.statistics.wording import Subject, decide

Found = TypeVar("Found", Sums, Pairs)


class ByPrompt(Value):
    """One part of a figure, prompt by prompt: `columns` holds the terms of a quotient of sums and their `powers`, or the one ratio of a figure of
    pairs, each `[prompts]`."""

    figure: str
    part: dict[str, str]
    prompts: tuple[str, ...]
    columns: tuple[tuple[float, ...], ...]
    powers: tuple[int, ...] = ()


class Kept(Value):
    """`names`: prompt → the id that it shares with its twin in another language, None where it has none. `evidence` and `subject` are those of the
    run's verdict, to be weighed anew in each family."""

    names: dict[str, str | None]
    sums: tuple[ByPrompt, ...]
    pairs: tuple[ByPrompt, ...]
    evidence: Evidence
    subject: Subject


@dataclass(frozen=True)
class Measured:
    """One run of a comparison. What `report` says of a family is not used: `kin` are as they are now."""

    report: Report
    kept: Kept
    kin: tuple[Kin, ...] = ()

    def weighed(self, beside: Family = ALONE) -> Report:
        """The report with its verdict in the family of its campaign and of those beside it; nothing else of it depends on that."""
        report, seen = self.report, self.kept.evidence
        cell = next((cell for cell in report.cells if cell.id == report.headline and not cell.part), None)
        family = family_of(self.kin, report.spec.margin, estimate_of(cell), beside)
        verdict = decide(replace(seen, family=family.size, still_pays=family.still_pays), self.kept.subject)
        return report.model_copy(update={"verdict": verdict, "answer": verdict.sentence})


def keep(names: Mapping[str, str | None], frames: Frames, report: Report, evidence: Evidence, subject: Subject) -> Kept:
    """Of the figures that the report shows, whatever may be contrasted."""
    return Kept(
        names=dict(names),
        sums=tuple(_of_sums(metric, sums) for metric, sums in _shown(report, frames, lambda metric: metric.sums)),
        pairs=tuple(_of_pairs(metric, pairs) for metric, pairs in _shown(report, frames, lambda metric: metric.pairs)),
        evidence=evidence,
        subject=subject,
    )


def _shown(report: Report, frames: Frames, of: Callable[[Metric], Callable[[Frames], Sequence[Found]] | None]) -> Iterator[tuple[Metric, Found]]:
    shown = {(cell.id, _key(cell.part)) for cell in report.cells if isinstance(cell, Figure)}
    figures = {id for id, _ in shown}
    for metric in METRICS.values():
        make = of(metric)
        if make is None or metric.scale is None or metric.id not in figures:
            continue
        for found in make(frames):
            if (metric.id, _key(found.part)) in shown:
                yield metric, found


def _key(part: Part) -> frozenset[tuple[str, str]]:
    return frozenset(part.items())


def _of_sums(metric: Metric, sums: Sums) -> ByPrompt:
    columns = tuple(tuple(values.tolist()) for values, _ in sums.terms())
    return ByPrompt(figure=metric.id, part=sums.part, prompts=tuple(map(str, sums.table.index)), columns=columns, powers=sums.powers)


def _of_pairs(metric: Metric, pairs: Pairs) -> ByPrompt:
    quotients = pairs.quotients
    columns = (tuple(quotients.to_numpy(dtype=float).tolist()),)
    return ByPrompt(figure=metric.id, part=pairs.part, prompts=tuple(map(str, quotients.index)), columns=columns)


def sums_of(kept: Kept, figure: str) -> list[Sums]:
    """As app.metrics gave them."""
    return [Sums(_table(each), each.powers, each.part) for each in kept.sums if each.figure == figure]


def pairs_of(kept: Kept, figure: str) -> list[Pairs]:
    return [Pairs(_table(each)[0], each.part) for each in kept.pairs if each.figure == figure]


def _table(each: ByPrompt) -> pd.DataFrame:
    return pd.DataFrame(dict(enumerate(each.columns)), index=pd.Index(each.prompts, dtype=object), dtype=float)
