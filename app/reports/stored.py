"""Reports and figures as an earlier version may have stored them: what this one cannot read is said so, or made anew."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from app.domain.estimate import Absent, Cell, Figure
from app.domain.sentence import plain
from app.domain.status import RunState, cut
from app.reports.report import Report

CELL: TypeAdapter[Cell] = TypeAdapter(Cell)
UNREADABLE = plain("An earlier version of the service stored this figure in a form that this one does not read.")


def report_of(stored: Any) -> Report | None:
    """None where this version cannot read it, or would not have made it: a run that was cut off has no figures."""
    try:
        found = Report.model_validate(stored)
    except ValidationError:
        return None
    return None if cut(RunState(found.state)) and any(isinstance(cell, Figure) for cell in found.cells) else found


def cell_of(stored: Any) -> Cell:
    """Absent, with the reason, where this version cannot read it."""
    try:
        return CELL.validate_python(stored)
    except ValidationError:
        id = stored.get("id") if isinstance(stored, dict) else None
        return Absent(id=str(id or "figure"), reason=UNREADABLE)
