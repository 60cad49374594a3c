"""Figures, refusals and absences of one run, in the catalogue's order. A figure gets its passport here, or it does not come to be."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from app.domain.estimate import Absent, Cell, Computed, Figure, Refusal
from app.domain.passport import Passport
from app.domain.sentence import Sentence, plain
from app.domain.spec import Regime
from app.metrics.base import Metric, Reading
from app.metrics.catalogue import of_load, readings
from app.metrics.frame import Frames
from app.reports.gates import REMEDIES
from app.reports.report import Gate

Made = TypeVar("Made", bound=Computed)
Gates = Callable[[str | None], Sequence[Gate]]


def cells(frames: Frames, passport: Passport, gates_of: Gates) -> list[Cell]:
    """`gates_of` gives the gates over the requests of a profile of text, or over all for None: a figure is judged by its own requests."""
    return [_cell(metric, reading, passport, gates_of) for metric, reading in readings(frames)]


def _cell(metric: Metric, reading: Reading, passport: Passport, gates_of: Gates) -> Cell:
    found = made(Figure, metric, reading, passport=passport)
    gate = None if reading.on_prompts or isinstance(found, Absent) else refusing(gates_of(reading.part.get("profile")))
    if gate is None:
        return found
    return Refusal(id=metric.id, part=reading.part, field=gate.name, reason=gate.sentence, remedy=REMEDIES[gate.name])


def made(kind: type[Made], metric: Metric, reading: Reading, **own: Any) -> Made | Absent:
    """The figure of a reading, with its passport among what is its `own`; where there is no point, why."""
    if reading.pooled.point is None:
        return Absent(id=metric.id, part=reading.part, reason=reading.pooled.reason or plain("There is no figure."))
    return kind(
        id=metric.id,
        unit=reading.unit or metric.unit,
        part=reading.part,
        pooled=reading.pooled,
        macro=reading.macro,
        left_out=reading.left_out,
        rounds=reading.rounds,
        emitted=reading.emitted,
        **own,
    )


def refusing(gates: Sequence[Gate]) -> Gate | None:
    """The gate that refuses, or None."""
    return next((gate for gate in gates if gate.refused), None)


def without_passport(field: str, regime: Regime) -> list[Cell]:
    """What stands in place of every figure of a run that does not say `field`."""
    return [Refusal(id=metric.id, field=field, reason=_NAMELESS[field], remedy=REMEDIES[field]) for metric in of_load(regime)]


def cut_off(reason: Sentence, regime: Regime, *, again: bool) -> list[Cell]:
    """What stands in place of every figure of a run that measured something and did not succeed, for this `reason`; `again`: it may the next time."""
    remedy = REMEDIES["state"] if again else REMEDIES["cause"]
    return [Refusal(id=metric.id, field="state", reason=reason, remedy=remedy) for metric in of_load(regime)]


def unmeasured(reason: Sentence, regime: Regime) -> list[Cell]:
    return [Absent(id=metric.id, reason=reason) for metric in of_load(regime)]


_NAMELESS: dict[str, Sentence] = {
    "tokenizer": plain(
        "Refused: this run does not say which tokenizer was used. Acceptance counts tokens; without the tokenizer it means nothing to anyone else."
    ),
    "hardware": plain("Refused: this run does not say on which machine it was measured."),
}
