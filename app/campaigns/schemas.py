"""What the campaigns room says to the outside."""

from typing import Annotated

from pydantic import Field

from app.domain.spec import RunSpec, Text
from app.domain.value import Value
from app.runs.schemas import RunSummary


class CampaignIn(Value):
    """Runs to be measured and weighed together: a family, in which `pays` is adjusted for the number that are tried."""

    title: Text
    runs: Annotated[tuple[RunSpec, ...], Field(min_length=2, max_length=64)]


class CampaignOut(Value):
    id: int
    title: str
    runs: list[RunSummary]
