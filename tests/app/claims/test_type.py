"""A claim is no measurement, by type."""

import typing
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from app.claims import schemas
from app.claims.published import BOARD
from app.claims.schemas import Claim, ClaimIn
from app.domain.estimate import Absent, Cell, Estimate, Figure, Refusal
from app.domain.passport import Passport
from app.metrics.catalogue import METRICS
from tests import factories


def claim(**over: Any) -> Claim:
    values: dict[str, Any] = {
        "id": 1, "system": "EAGLE-3", "quantity": "acceptance", "unit": "share", "figure": "acceptance", "definition": "acceptance_rate",
        "value": 0.8, "upto": 0.88, "source": "its authors", "entered_by": "bezmen", "entered_at": datetime(2026, 11, 1, tzinfo=UTC),
        "lacks": ("tokenizer",), "refused": True,
        **dict.fromkeys(("target", "language", "tokenizer", "hardware", "load", "address", "published", "note")),
    }  # fmt: skip
    return Claim(**values | over)


@pytest.mark.parametrize("kind", [Estimate, Figure, Refusal, Absent, Passport])
def test_a_claim_never_becomes_a_measurement(kind: Any) -> None:
    """Catches a claim that some kind of measured value takes for its own: as it is, or by its fields."""
    assert not issubclass(Claim, kind)
    assert not issubclass(kind, Claim)
    for given in (claim(), claim().model_dump()):
        with pytest.raises(ValidationError):
            kind.model_validate(given)


def test_a_figure_does_not_take_a_claim_for_its_estimate() -> None:
    """Catches the shortest way to a wrong number: a passport of ours around somebody else's value. With our own estimate it is a figure."""
    measured = next(cell for cell in _report().cells if isinstance(cell, Figure))
    values = measured.model_dump()
    assert Figure.model_validate(values) == measured
    for given in (claim(), claim().model_dump(), claim().value):
        with pytest.raises(ValidationError):
            Figure.model_validate(values | {"pooled": given})


def test_a_claim_has_no_interval_and_no_count() -> None:
    assert {"low", "high", "n", "level", "pooled", "passport"}.isdisjoint(Claim.model_fields | ClaimIn.model_fields)
    assert Claim not in typing.get_args(Cell)
    assert not any(isinstance(item, type) and issubclass(item, Estimate) for item in vars(schemas).values())


def test_what_comes_with_the_service_is_enterable() -> None:
    """Catches a seed that the form would refuse, two seeds of one key, and a drafter or definition that does not exist."""
    keys = [one.key for entry in BOARD for one in entry.claims]
    assert len(keys) == len(set(keys))
    for entry in BOARD:
        for one in entry.claims:
            made = ClaimIn(
                system=entry.name,
                kind=entry.kind,
                quantity=one.quantity,
                figure=one.figure,
                value=one.value,
                upto=one.upto,
                source=one.source,
                **one.more,
            )
            assert made.definition is None or made.definition in METRICS


def _report() -> Any:
    from app.reports.build import build

    return build(factories.record())
