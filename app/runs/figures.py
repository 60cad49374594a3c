"""Figures by their names: one of a run, or one over all runs."""

from collections.abc import Mapping

from fastapi import Request

from app.access.seen import Seen, Who, narrowed
from app.domain.estimate import Absent, Figure, Refusal
from app.domain.status import FINAL, RunState, cut
from app.errors import Conflict, NotFound, did_you_mean
from app.metrics.catalogue import METRICS
from app.reports.format import say
from app.runs import records
from app.runs.analysis import analysis
from app.runs.schemas import FigureOut
from app.runs.service import NotFinished, Runs
from app.runs.summary import no_part
from app.storage.database import Database


class NoSuchFigure(NotFound):
    """There is no such figure"""


class FigureRefused(Conflict):
    """This figure is refused"""


class FigureAbsent(Conflict):
    """This figure could not be computed"""


class Figures(Seen):
    def __init__(self, database: Database, runs: Runs) -> None:
        self._database = database
        self._runs = runs

    async def of_run(self, run: int, id: str, part: Mapping[str, str]) -> Figure:
        """One figure alone. Raises NoSuchFigure, NotFinished, FigureRefused naming the field or gate, FigureAbsent."""
        if id not in METRICS:
            raise NoSuchFigure(did_you_mean("figure", id, METRICS))
        report = await self._runs.report(run)
        if report.state not in FINAL:
            raise NotFinished(f"Run {run} is {report.state}; its figures come when it has ended.")
        # Of a run that was cut off each figure is refused as a whole.
        cell = report.find(id, **({} if cut(RunState(report.state)) else part))
        match cell:
            case Figure():
                return cell
            case Refusal():
                said = say(cell.reason)
                remedy = say(cell.remedy) if cell.remedy else None
                raise FigureRefused(said, fields=[{"pointer": f"/{cell.field}", "detail": said}], figure=id, field=cell.field, run=run, remedy=remedy)
            case Absent():
                raise FigureAbsent(say(cell.reason), figure=id, run=run)
            case None:
                raise NoSuchFigure(no_part(run, id, part, [other.part for other in report.cells if other.id == id]))

    async def over_runs(
        self, id: str, *, language: str | None = None, drafter: str | None = None, model: str | None = None, parts: bool = False, limit: int = 200
    ) -> list[FigureOut]:
        """One figure over finished runs; a refusal stands where its figure would."""
        if id not in METRICS:
            raise NoSuchFigure(did_you_mean("figure", id, METRICS))
        async with self._database.transaction() as connection:
            return await records.query(
                connection, self.view, id, analysis(), {"language": language, "drafter": drafter, "model": model}, parts=parts, limit=limit
            )


def figures_service(request: Request, who: Who) -> Figures:
    return narrowed(request, Figures, who)
