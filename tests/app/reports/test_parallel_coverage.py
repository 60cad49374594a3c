"""Parallel pairs with a known difference, from facts to the contrast that is shown: the interval must hold the truth as often as it says."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from app.domain.estimate import Estimate
from app.domain.facts import RequestFact
from app.metrics.catalogue import METRICS
from app.metrics.frame import from_facts
from app.reports.build import measured
from app.reports.contrasts import Side, contrasts, side_of
from app.reports.kept import Measured, keep
from app.reports.record import RunRecord
from tests.app.statistics.simulate import coverage
from tests.factories import record

PAIRS, SIMULATIONS, ROUNDS, DRAFT = 16, 200, 30, 4
BASES = {"ru": -0.8, "en": 0.2}
# How guessable a prompt is in both languages alike, and in each by itself.
COMMON, OWN = 0.6, 0.3


def truth() -> float:
    """Mean acceptance in Russian minus in English: the logistic of a normal, by 64-point Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    means = [float((weights / (1 + np.exp(-(base + np.hypot(COMMON, OWN) * nodes)))).sum() / weights.sum()) for base in BASES.values()]
    return means[0] - means[1]


@pytest.fixture(scope="module")
def worlds() -> list[tuple[RunRecord, RunRecord]]:
    source = np.random.default_rng(16)
    return [tuple(_run(language, common, source) for language in BASES) for common in source.normal(0, COMMON, (SIMULATIONS, PAIRS))]  # type: ignore[misc]


def _run(language: str, common: np.ndarray, source: np.random.Generator) -> RunRecord:
    facts = [_fact(language, i, float(BASES[language] + each + source.normal(0, OWN)), source) for i, each in enumerate(common)]
    return TEMPLATES[language].model_copy(update={"requests": tuple(facts)})


def _fact(language: str, number: int, logit: float, source: np.random.Generator) -> RequestFact:
    """A greedy answer whose rounds keep drafts with one chance; built as a copy, since only its counts matter here."""
    kept = tuple(int(n) for n in source.binomial(DRAFT, 1 / (1 + np.exp(-logit)), ROUNDS))
    base = BASE[language]
    return base.model_copy(
        update={
            "prompt": f"{language}-{number:02}", "parallel": f"{number:02}", "rounds": ROUNDS, "drafted": DRAFT * ROUNDS, "verified": sum(kept),
            "accepted": sum(kept), "round_drafted": (DRAFT,) * ROUNDS, "round_verified": kept, "round_depth": (DRAFT,) * ROUNDS,
            "round_slots": (1,) * ROUNDS, "round_step": None, "output_digest": hashlib.sha256(f"{language}{number}".encode()).hexdigest(),
        }
    )  # fmt: skip


TEMPLATES = {language: record(run=i, language=language, prompts=8, passes=2) for i, language in enumerate(BASES, start=1)}
BASE = {language: next(fact for fact in found.requests if fact.arm == "speculative") for language, found in TEMPLATES.items()}


@pytest.fixture(scope="module")
def reports() -> dict[str, Measured]:
    return {language: measured(found) for language, found in TEMPLATES.items()}


def side(found: RunRecord, template: Measured) -> Side:
    names = {fact.prompt: fact.parallel for fact in found.requests}
    kept = keep(names, from_facts(found.requests), template.report, template.kept.evidence, template.kept.subject)
    return side_of(replace(template, kept=kept), parallel=True)


def estimates(worlds: list[tuple[RunRecord, RunRecord]], reports: dict[str, Measured], *, shift: int = 0) -> Iterator[Estimate]:
    """The contrast of `acceptance_rate` in each world; with `shift` each Russian prompt is paired with the translation of another one."""
    for pair in worlds:
        a, b = (side(found, reports[found.spec.language]) for found in pair)
        if shift:
            a = replace(a, pair_of={prompt: f"{(int(name) + shift) % PAIRS:02}" for prompt, name in a.pair_of.items()})
        yield next(each.estimate for each in contrasts(a, b, "parallel pairs", ["speed"]) if each.id == "acceptance_rate" and not each.part)


@pytest.fixture(autouse=True)
def one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other figures of so many worlds would take a minute."""
    for module in ("contrasts", "kept"):
        monkeypatch.setattr(f"app.reports.{module}.METRICS", {"acceptance_rate": METRICS["acceptance_rate"]})


def test_a_known_difference_is_covered(worlds: list[tuple[RunRecord, RunRecord]], reports: dict[str, Measured]) -> None:
    """Catches pairs joined by place instead of by parallel id, a difference of the wrong sign, and a lost degree of freedom."""
    found = list(estimates(worlds, reports))
    assert {each.n for each in found} == {PAIRS}
    # Three standard errors of a share that is 0.95 over so many worlds.
    assert abs(coverage(found, truth()) - 0.95) <= 3 * (0.05 * 0.95 / SIMULATIONS) ** 0.5
    assert np.mean([each.point for each in found]) == pytest.approx(truth(), abs=0.01)
    assert np.mean([each.high < 0 for each in found if each.high is not None]) > 0.9


def test_pairs_of_other_prompts_know_less(worlds: list[tuple[RunRecord, RunRecord]], reports: dict[str, Measured]) -> None:
    """The negative control: what a pair has in common is what makes the interval narrow; joined to strangers it must be wider by far."""
    paired, strangers = (
        [each.high - each.low for each in estimates(worlds[:60], reports, shift=shift) if each.high is not None and each.low is not None]
        for shift in (0, 5)
    )
    assert len(paired) == len(strangers) == 60
    assert np.mean(paired) < 0.75 * np.mean(strangers)
