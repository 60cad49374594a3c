"""What the access room says to the outside. A token stands in exactly one answer, the one that makes it."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from app.access.tokens import SCOPES, Scope
from app.domain import spelling
from app.domain.spec import Name
from app.domain.value import Value
from app.storage.view import DEFAULT

ProjectName = Annotated[str, Field(min_length=1, max_length=63, pattern=spelling.PROJECT)]


def fitting(scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
    """In their order, each once. Raises ValueError for a runner's token that could do more."""
    if "runner" in scopes and len(set(scopes)) > 1:
        raise ValueError("scopes are read, submit and admin, or runner alone")
    return tuple(scope for scope in SCOPES if scope in scopes)


Scopes = Annotated[tuple[Scope, ...], Field(min_length=1, max_length=len(SCOPES)), AfterValidator(fitting)]


class Placed(Value):
    """Something that reaches one project, or every one."""

    project: ProjectName | None = None
    every_project: bool = False

    @model_validator(mode="after")
    def _one_or_every(self) -> Self:
        if self.every_project and self.project is not None:
            raise ValueError("give a project, or set every_project")
        return self

    def place(self, home: str) -> str | None:
        """The project that is meant, None for every one; `home` where nothing is said."""
        return None if self.every_project else self.project or home


class TokenIn(Placed):
    name: Name
    scopes: Scopes = ("read", "submit")


class EnrolmentIn(Placed):
    """`name` is the new runner's; `minutes` is how long its token can be used."""

    name: Name
    minutes: Annotated[float, Field(ge=1, le=24 * 60)] = 60


class ProjectIn(Value):
    name: ProjectName


class TokenMade(Value):
    """`project` is None for every one."""

    name: str
    token: str
    project: str | None = DEFAULT


class RunnerMade(Value):
    name: str
    token: str


class TokenOut(Value):
    id: int
    name: str
    scopes: tuple[Scope, ...]
    project: str | None
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class UserOut(Value):
    id: int
    name: str
    scopes: tuple[Scope, ...]
    project: str | None
    created_at: datetime


class EnrolmentOut(Value):
    name: str
    project: str | None
    created_by: str
    created_at: datetime
    expires_at: datetime


class AccessOut(Value):
    """What the caller administers."""

    projects: list[str]
    tokens: list[TokenOut]
    users: list[UserOut]
    enrolments: list[EnrolmentOut]
