"""What the room of imports says to the outside."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from app.domain.outside.supplied import Said
from app.domain.value import Value
from app.reports.imported import ImportedCell, ImportedReport

Format = Annotated[str, Field(min_length=1, max_length=64)]


class ImportQuery(Said):
    """Strict, like every body: a misspelt `tokenizer` must not make an import that has none."""

    format: Annotated[Format | None, Field(description="The id of the file's format, where the file does not tell it by itself.")] = None


class ImportOut(Value):
    """One import with its report. `digest` is SHA-256 of what was sent; `supplied` is what a person added to what the file tells. `recounts`
    says that its `requests` and `concurrency` can be changed: of two texts of /metrics whose differences were kept."""

    id: int
    digest: str
    imported_by: str
    created_at: datetime
    changed_at: datetime | None
    supplied: Said
    recounts: bool
    report: ImportedReport


class ImportLine(Value):
    """An import in a list: its acceptance and its tokens per round, never one without the other, or what refuses them."""

    id: int
    format: str
    tool: str
    engine: str
    target: str | None
    language: str | None
    tokenizer: str | None
    requests: int
    refusing: tuple[str, ...]
    created_at: datetime
    imported_by: str
    acceptance: ImportedCell
    tokens_per_round: ImportedCell


class ImportFilter(Value):
    """`cursor` is the last page's `next_cursor`; imports come newest first. `refused` narrows to those whose figures are refused, or are not."""

    refused: bool | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 30
    cursor: Annotated[int, Field(ge=1, le=2**53)] | None = None


class ImportPage(Value):
    """`total` are all imports, whatever the filter, and `refused` those whose figures are refused."""

    items: list[ImportLine]
    total: int
    refused: int
    next_cursor: int | None = None
