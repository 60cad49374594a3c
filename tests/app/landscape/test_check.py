"""When a claim may be set against a measurement, and how it stands there."""

from typing import Any

import pytest

from app.domain.estimate import Figure
from app.landscape.check import checks
from app.languages.schemas import Measured
from app.reports.build import build
from tests import factories
from tests.app.claims.test_type import claim


def measured() -> Measured:
    report = build(factories.record())
    spec, passport = report.spec, report.passport
    assert passport is not None
    return Measured(
        run=1, runs=1, language=spec.language, tokenizer=passport.tokenizer, tokenizer_named=spec.tokenizer, target="x", dtype="auto",
        drafter=spec.drafter, controller=spec.controller, load=spec.load, sampling=spec.sampling, suite=spec.suite.id, outcome="pays", refused=False,
        speedup=report.find(report.headline), acceptance=report.find("acceptance_rate"),
    )  # fmt: skip


def stands(**over: Any) -> list[str]:
    own = measured()
    assert own.tokenizer is not None
    given = {"language": "ru", "tokenizer": own.tokenizer.name, "lacks": (), "refused": False, "upto": None}
    return [found.stands for found in checks([claim(**given | over)], [own])]


def test_where_a_claim_lies() -> None:
    """Catches a side that is swapped, and a published range that only one of its ends decides."""
    own = measured().acceptance
    assert isinstance(own, Figure)
    assert own.pooled.low is not None
    low, high = own.pooled.low, own.pooled.high or 1.0
    assert stands(value=low / 2) == ["below"]
    assert stands(value=(low + high) / 2) == ["inside"]
    assert stands(value=(1 + high) / 2) == ["above"]
    assert stands(value=low / 2, upto=low * 1.001) == ["inside"]


@pytest.mark.parametrize(
    "over",
    [
        {"language": "en"},
        {"language": None, "refused": True},
        {"tokenizer": None, "refused": True},
        {"tokenizer": "gemma3"},
        {"tokenizer": "9f2c"},
        {"definition": None},
        {"definition": "accepted_share"},
    ],
)
def test_what_cannot_be_set_against_each_other(over: dict[str, Any]) -> None:
    """Catches two acceptances of different words or definitions that are compared because both are called acceptance."""
    assert stands() != []
    assert stands(**over) == []


def test_a_tokenizer_is_known_by_its_fingerprint_too() -> None:
    assert stands(tokenizer="9f2c41") == stands()
