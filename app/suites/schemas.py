"""What the room of suites says to the outside. Of a private suite there is no text in any of it."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from app.domain.prompt import Prompt
from app.domain.spec import Name
from app.domain.value import Value

Counts = dict[str, dict[str, int]]


class SuiteOut(Value):
    """`prompts` is how many one language has at least, without profiles that stand `apart`: those that a run takes only where it names them.
    `parallel` prompts have a twin in every language, those of profiles apart among them. It, `apart` and `counts`, prompts by language and
    profile, are None for a suite that a runner alone has, which tells none of them."""

    id: Name
    version: str
    digest: str
    languages: tuple[str, ...]
    profiles: tuple[str, ...]
    prompts: int
    origin: Literal["runner", "uploaded"]
    private: bool = False
    counts: Counts | None = None
    parallel: int | None = None
    apart: tuple[str, ...] | None = None
    uploaded_by: str | None = None
    uploaded_at: datetime | None = None


class WarningOut(Value):
    line: int | None
    field: str | None
    detail: str


class UploadOut(SuiteOut):
    """`warnings` are the first of `warned`: what of the suite cannot be compared between languages."""

    warned: int = 0
    warnings: list[WarningOut] = []


class PromptPage(Value):
    """Prompts in the order of their ids; `next_place` is None on the last page."""

    items: list[Prompt]
    next_place: int | None = None


Id = Annotated[str, Field(max_length=128)]


class UploadQuery(Value):
    """Strict, like every body: a misspelt `private` must not make a suite public."""

    id: Annotated[Id, Field(description="A name and a version, such as mine-v1.")]
    private: Annotated[bool, Field(description="Whether its text goes to nobody but the runner that measures with it.")] = False
