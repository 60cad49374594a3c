"""Figures of one run against another on the same prompts, or on parallel ones: shares by difference, ratios by quotient."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from app.domain.estimate import Counted, Estimate, Figure
from app.domain.sentence import Sentence, plain
from app.domain.status import RunState
from app.metrics.base import Metric, Pairs, Sums
from app.metrics.catalogue import METRICS
from app.metrics.terms import ARMS
from app.reports.axes import Scope
from app.reports.kept import Kept, Measured, pairs_of, sums_of
from app.reports.report import Contrast, Report
from app.statistics.differences import product_quotient, quotient_of_pairs, share_difference
from app.statistics.verdict import OF_TRIAL_PAIRS


@dataclass(frozen=True)
class Side:
    """One run of a comparison: its report, its figures prompt by prompt, and what its prompts are called in a pair."""

    report: Report
    kept: Kept
    pair_of: dict[str, str]

    @cached_property
    def sums(self) -> dict[str, list[Sums]]:
        """Of every figure of sums its parts, a row a pair."""
        ids = {each.figure for each in self.kept.sums}
        return {id: [replace(sums, table=self._by_pair(sums.table).sum()) for sums in sums_of(self.kept, id)] for id in ids}

    def quotients(self, id: str) -> list[Pairs]:
        return [replace(pairs, quotients=self._by_pair(pairs.quotients).mean()) for pairs in pairs_of(self.kept, id)]

    def _by_pair(self, values: Any) -> Any:
        """Groups of the prompts of each pair; prompts without a pair are in none."""
        return values.groupby(np.array([self.pair_of.get(prompt) for prompt in values.index], dtype=object))


def side_of(run: Measured, *, parallel: bool) -> Side:
    """A prompt's name in a pair is its own, or the id that it shares with its twin in another language (one without a twin is in no pair)."""
    named = {prompt: twin if parallel else prompt for prompt, twin in run.kept.names.items()}
    return Side(run.report, run.kept, {prompt: pair for prompt, pair in named.items() if pair is not None})


def contrasts(a: Side, b: Side, counted: Counted, forbidden: Iterable[Scope]) -> Iterator[Contrast]:
    """Contrasts of every figure that both runs show and that nothing forbids, in the catalogue's order."""
    barred = set(forbidden)
    for metric in METRICS.values():
        if metric.id == "throughput" and "speed" not in barred:
            yield from _of_characters(a, b, counted)
        if metric.scale is None or scope_of(metric) in barred:
            continue
        yield from _of_sums(metric, a, b, counted)
        yield from _of_pairs(metric, a, b, counted)


def scope_of(metric: Metric) -> Scope | None:
    """What must not differ for this figure to be contrasted. Fertility is a property of the tokenizer, so tokenizers may differ there."""
    if metric.speed:
        return "speed"
    return None if metric.id == "fertility" else "tokens"


def _shows(side: Side, id: str, part: dict[str, str]) -> bool:
    return isinstance(side.report.find(id, **part), Figure)


def _of_sums(metric: Metric, a: Side, b: Side, counted: Counted) -> Iterator[Contrast]:
    others = {tuple(sums.part.items()): sums for sums in b.sums.get(metric.id, [])}
    for ours in a.sums.get(metric.id, []):
        theirs = others.get(tuple(ours.part.items()))
        if theirs is None or not _shows(a, metric.id, ours.part) or not _shows(b, metric.id, ours.part):
            continue
        shared = ours.table.index.intersection(theirs.table.index)
        if shared.empty:
            continue
        mine, other = ours.terms(shared), theirs.terms(shared)
        if metric.scale == "share":
            estimate = share_difference((mine[0][0], mine[1][0]), (other[0][0], other[1][0]), counted=counted)
        else:
            estimate = product_quotient(mine, other, counted=counted)
        yield Contrast(id=metric.id, part=ours.part, kind="difference" if metric.scale == "share" else "quotient", estimate=estimate)


def _of_pairs(metric: Metric, a: Side, b: Side, counted: Counted) -> Iterator[Contrast]:
    if not _shows(a, metric.id, {}) or not _shows(b, metric.id, {}):
        return
    for ours, theirs in zip(a.quotients(metric.id), b.quotients(metric.id), strict=True):
        left, right = ours.quotients, theirs.quotients
        shared = left.index.intersection(right.index)
        if not shared.empty:
            estimate = quotient_of_pairs(left.loc[shared].to_numpy(), right.loc[shared].to_numpy(), counted=counted)
            yield Contrast(id=metric.id, part=ours.part, kind="quotient", estimate=estimate)


def _of_characters(a: Side, b: Side, counted: Counted) -> Iterator[Contrast]:
    """How much text either run delivers in a second, arm by arm. Only characters compare across languages, and only where all prompts have twins.

    The two runs were not measured side by side, so nothing says how far the machine itself differed between them: a point without an interval.
    """
    mine, others = (set(side.pair_of.values()) for side in (a, b))
    if mine != others:
        return
    for arm in ARMS:
        part = {"arm": arm, "of": "characters"}
        ours, theirs = (side.report.find("throughput", **part) for side in (a, b))
        if isinstance(ours, Figure) and isinstance(theirs, Figure) and ours.pooled.point and theirs.pooled.point:
            point = ours.pooled.point / theirs.pooled.point
            estimate = Estimate(point=point, n=len(mine), counted=counted, scope="these prompts", reason=_APART)
            yield Contrast(id="throughput", part=part, kind="quotient", estimate=estimate)


_APART = plain("No interval: the two runs were measured one after the other, and nothing says how much the machine changed between them.")


def refused_sides(reports: Sequence[Report]) -> list[Sentence]:
    """One sentence a report whose figures are refused, so that a missing contrast is explained."""
    said = []
    for report in reports:
        gate = next((gate for gate in report.gates if gate.refused), None)
        if report.missing:
            said.append(plain("Run %(run)s has no figures to contrast: it does not say its %(field)s.", run=report.run, field=report.missing[0]))
        elif gate is not None:
            said.append(_refused(report, gate.failing, gate.n) if gate.name == "degenerate" else plain_reason(report, gate.name))
    return said


def cut_short(reports: Sequence[Report]) -> Sentence | None:
    """Why a run that did not end well is contrasted with none: what it measured before that is whatever came first."""
    for report in reports:
        if report.state == RunState.FAILED:
            return plain("Cannot tell: run %(run)s failed, so nothing is contrasted with it.", run=report.run)
        if report.state == RunState.CANCELLED:
            return plain("Cannot tell: run %(run)s was cancelled, so nothing is contrasted with it.", run=report.run)
    return None


def unpaired(reports: Sequence[Report]) -> list[Sentence]:
    """Why the speed-ups of the first two runs are not contrasted, where trial pairs carry one of them."""
    if not any(report.headline in OF_TRIAL_PAIRS for report in reports[:2]):
        return []
    return [plain("Speed-ups of throughput are not contrasted: a trial pair of one run has no twin among those of another.")]


def _refused(report: Report, failing: int, n: int) -> Sentence:
    return plain(
        "Run %(run)s (%(language)s, %(drafter)s) is refused, so nothing is contrasted with it: %(failing)s of %(n)s answers repeat themselves.",
        run=report.run,
        language=report.spec.language,
        drafter=report.spec.drafter_title,
        failing=failing,
        n=n,
    )


def plain_reason(report: Report, gate: str) -> Sentence:
    return plain(
        "Run %(run)s (%(language)s, %(drafter)s) is refused by the gate “%(gate)s”, so nothing is contrasted with it.",
        run=report.run,
        language=report.spec.language,
        drafter=report.spec.drafter_title,
        gate=gate,
    )
