"""What the runs room says to the outside."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.domain.estimate import Cell
from app.domain.facts import ProgressFact
from app.domain.spec import RunSpec
from app.domain.status import RunState
from app.domain.value import Value

OutcomeFilter = Literal["pays", "does not pay", "cannot tell", "refused"]


class RunSummary(Value):
    """A run without its numbers but the two that are never shown one without the other. They are None until the run has a report.

    `facts_deleted_at`: from then on its report is kept as it was and not computed anew. `earlier_analysis` names the analysis that its numbers
    come from, where that is not the one in force."""

    id: int
    state: RunState
    spec: RunSpec
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    attempt: int
    runner: str | None = None
    progress: ProgressFact | None = None
    queue_position: int | None = None
    waiting: str | None = None
    failure: str | None = None
    failure_code: str | None = None
    retry_makes_sense: bool | None = None
    outcome: str | None = None
    refused: bool = False
    facts_deleted_at: datetime | None = None
    earlier_analysis: str | None = None
    speedup: Cell | None = None
    acceptance: Cell | None = None

    @property
    def resumable(self) -> bool:
        """Whether asking for the same once more makes sense."""
        return self.state == RunState.CANCELLED or (self.state == RunState.FAILED and bool(self.retry_makes_sense))


class RunFilter(Value):
    """`cursor` is the last page's `next_cursor`; runs come newest first."""

    language: Annotated[str, Field(max_length=64)] | None = None
    drafter: Annotated[str, Field(max_length=64)] | None = None
    outcome: OutcomeFilter | None = None
    state: RunState | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[int, Field(ge=1, le=2**53)] | None = None


class RunPage(Value):
    """`total` runs match and `hidden` do not.

    A facet counts what each of its values would show beside the other filters; `counts` ignores all filters.
    """

    items: list[RunSummary]
    total: int
    hidden: int
    facets: dict[str, dict[str, int]]
    counts: dict[str, int]
    next_cursor: int | None = None


class EventOut(Value):
    id: int
    run: int
    at: datetime
    kind: str
    body: dict[str, Any]


class FigureOut(Value):
    """A figure of one run, as the query over runs answers it. `earlier_analysis` is that of a run whose facts are gone, where it is not the one
    in force."""

    run: int
    drafter: str
    model: str
    cell: Cell
    earlier_analysis: str | None = None
