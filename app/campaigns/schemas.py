"""What the campaigns room says to the outside."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, model_validator

from app.campaigns.product import Product, specs_of
from app.domain.multiply import MOST_RUNS
from app.domain.spec import RunSpec, Text
from app.domain.twins import twins
from app.domain.value import Value
from app.runs.schemas import RunSummary


class CampaignIn(Value):
    """Runs to be measured and weighed together, one by one or as a product: a family, in which `pays` is adjusted for the number that are tried."""

    title: Text
    runs: Annotated[tuple[RunSpec, ...], Field(min_length=2, max_length=MOST_RUNS)] | None = None
    product: Product | None = None

    @model_validator(mode="after")
    def _runs_differ(self) -> Self:
        if (self.runs is None) == (self.product is None):
            raise ValueError("a campaign names its runs, or a product that makes them, and not both")
        specs = self.specs
        if len(specs) < 2:
            raise ValueError("a campaign has at least two runs; submit a single one by itself")
        if (counted := twins(specs)) is not None:
            raise ValueError(counted.sentence)
        return self

    @property
    def specs(self) -> tuple[RunSpec, ...]:
        return self.runs if self.runs is not None else specs_of(self.product) if self.product is not None else ()


class Progress(Value):
    """`ended` of `total` runs; `remaining` seconds until all have ended on one runner, or why that is `unknown`; both None when all have ended."""

    ended: int
    total: int
    counts: dict[str, int]
    remaining: float | None = None
    unknown: str | None = None


class CampaignOut(Value):
    """`runs` holds the newest run of each measurement; `earlier` those that were resumed since."""

    id: int
    title: str
    submitted_by: str
    created_at: datetime
    progress: Progress
    runs: list[RunSummary]
    earlier: list[RunSummary]


class CampaignLine(Value):
    """A campaign in a list. `counts` are its runs by state."""

    id: int
    title: str
    submitted_by: str
    created_at: datetime
    counts: dict[str, int]


class CampaignPage(Value):
    """Newest first; `next_cursor` goes on where this page ends."""

    items: list[CampaignLine]
    next_cursor: int | None = None


class CampaignFilter(Value):
    limit: Annotated[int, Field(ge=1, le=100)] = 30
    cursor: Annotated[int, Field(ge=1, le=2**53)] | None = None
