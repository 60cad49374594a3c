"""What the campaigns room says to the outside."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from app.domain.spec import RunSpec, Text
from app.domain.value import Value
from app.runs.schemas import RunSummary


class CampaignIn(Value):
    """Runs to be measured and weighed together: a family, in which `pays` is adjusted for the number that are tried."""

    title: Text
    runs: Annotated[tuple[RunSpec, ...], Field(min_length=2, max_length=64)]

    @model_validator(mode="after")
    def _no_run_twice(self) -> Self:
        if len({spec.digest() for spec in self.runs}) < len(self.runs):
            raise ValueError("two of these runs ask for the same measurement; the family would count it twice")
        return self


class CampaignOut(Value):
    id: int
    title: str
    runs: list[RunSummary]
