"""The passport of results measured elsewhere: what their file carries, and what a person adds to it (definitions § 5)."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from app.domain.language import Language, standard_tag
from app.domain.outside.imported import Carried, Imported
from app.domain.passport import DEFINITION
from app.domain.value import Value


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("the character NUL cannot be stored")
    return text


Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256), AfterValidator(_storable)]
Teller = Literal["file", "person"]
# Without these no figure exists; of the others it is only said that nobody told them.
REFUSING = ("language", "tokenizer")


class Supplied(Value):
    """What whoever brought the file knows of the measurement; None is what they do not say."""

    language: Language | None = None
    tokenizer: Line | None = None
    target: Line | None = None
    engine_version: Line | None = None
    drafter: Line | None = None
    dtype: Line | None = None
    quantisation: Line | None = None
    chat_template: Line | None = None
    sampling: Line | None = None
    load: Line | None = None
    suite: Line | None = None
    hardware: Line | None = None


class Between(Value):
    """What is known of the requests between two texts of a server's /metrics."""

    requests: Annotated[int | None, Field(ge=1, le=10**9, description="How many ended in between; llama-server does not count them.")] = None
    concurrency: Annotated[
        int | None, Field(ge=1, le=10**6, description="How many ran at a time; of one at a time steps without a draft are known.")
    ] = None


class Said(Supplied, Between):
    """All that a person says of an import."""


class OutsidePassport(Value):
    """What a figure of an import was measured on, as far as it is told. `language` and `tokenizer` are required by the type; the tokenizer is a name,
    since no file carries a fingerprint. `told_by` says of each field, and of the number of requests where a person told it, whether the file or a
    person did."""

    definition: str = DEFINITION
    tool: str
    tool_version: str | None
    engine: str
    engine_version: str | None
    language: Language
    tokenizer: Line
    target: str | None
    drafter: str | None
    longest_draft: int | None
    dtype: str | None
    quantisation: str | None
    chat_template: str | None
    sampling: str | None
    load: str | None
    suite: str | None
    hardware: str | None
    measured_at: str | None
    told_by: dict[str, Teller]


class Known(Value):
    """All that is told of an import's measurement, complete or not. Raises ValueError where a person contradicts the file."""

    imported: Imported
    supplied: Supplied

    @model_validator(mode="after")
    def _agree(self) -> Self:
        contradicted = contradictions(self.imported.carried, self.supplied)
        if contradicted:
            raise ValueError(f"the file itself tells {', '.join(contradicted)}")
        return self

    @property
    def values(self) -> dict[str, str]:
        """Every field that is told, the file's word first, and the number of requests where that is no file's."""
        counted = {"requests": str(self.imported.total.counts.requests)} if "requests" in self.imported.said else {}
        return _words(self.supplied) | told(self.imported.carried) | counted

    @property
    def told_by(self) -> dict[str, Teller]:
        carried = told(self.imported.carried)
        said = {"load"} if self.imported.carried.load_said else set()
        return {name: "file" if name in carried and name not in said else "person" for name in self.values}

    @property
    def missing(self) -> tuple[str, ...]:
        """The fields that nobody told, those without which figures are refused first."""
        return tuple(name for name in Supplied.model_fields if name not in self.values)

    @property
    def refusing(self) -> tuple[str, ...]:
        return tuple(name for name in REFUSING if name in self.missing)


def told(carried: Carried) -> dict[str, str]:
    """What a file tells. A language that is no tag of BCP-47 names none, and is not guessed at."""
    found = {name: str(value) for name, value in carried.model_dump(exclude={"load_said"}).items() if value is not None and str(value).strip()}
    try:
        found |= {"language": standard_tag(found["language"])} if "language" in found else {}
    except ValueError:
        del found["language"]
    return found


def _words(supplied: Supplied) -> dict[str, str]:
    return {name: value for name in Supplied.model_fields if (value := getattr(supplied, name)) is not None}


def contradictions(carried: Carried, supplied: Supplied) -> dict[str, str]:
    """The fields that a person tells otherwise than the file, with the file's word."""
    own = told(carried)
    return {name: own[name] for name, value in _words(supplied).items() if own.get(name, value) != value}


def issue(imported: Imported, known: Known) -> OutsidePassport | None:
    """None where language or tokenizer is missing."""
    if known.refusing:
        return None
    values = {name: value for name, value in known.values.items() if name in OutsidePassport.model_fields}
    fields = dict.fromkeys(OutsidePassport.model_fields.keys() & Carried.model_fields.keys()) | values
    own = {"tool": imported.tool, "tool_version": imported.tool_version, "told_by": known.told_by, "longest_draft": imported.carried.longest_draft}
    return OutsidePassport.model_validate(fields | {"engine": fields.get("engine") or imported.total.engine} | own)
