"""What the service writes down of itself: one line an event, as text or as JSON, never with what somebody keeps secret.

Of an exception the line holds its kind and where it happened. Its message stays out, but for kinds that speak of the machine or of the code:
any other may quote a prompt of a private suite.
"""

import json
import logging
import re
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

import psycopg
from starlette.types import Scope

Style = Literal["text", "json"]
REQUESTS = "bezmen.request"
REQUEST_ID = "bezmen.request_id"
# The request that is being answered.
scope_now: ContextVar[Scope | None] = ContextVar("scope_now", default=None)

_SPEAKS_OF_CODE = (OSError, psycopg.OperationalError, ArithmeticError, AttributeError, ImportError, MemoryError, NameError, RuntimeError, TypeError)
_SECRETS = (
    (re.compile(r"\bbz[a-z]_[A-Za-z0-9_-]{8,}"), "***"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+"), r"\1 ***"),
    (re.compile(r"(\w://[^\s:/@]*):[^\s/@]+@"), r"\1:***@"),
    (re.compile(r"(?i)\b(password)(\s*[=:]\s*)('[^']*'|\S+)"), r"\1\2***"),
)


def scrubbed(text: str) -> str:
    """Without tokens, passwords and credentials of any kind that we know."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def told(error: BaseException) -> str:
    """An exception and its causes, innermost first: kind, place, and the message where that cannot be somebody's text."""
    return "\n".join("".join([*traceback.format_tb(one.__traceback__), _line(one)]) for one in reversed(list(_chain(error))))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _line(error: BaseException) -> str:
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    return f"{kind}: {error}" if isinstance(error, _SPEAKS_OF_CODE) else kind


def context(record: logging.LogRecord) -> dict[str, Any]:
    """The request, run and attempt of a line, as far as there are any."""
    scope = scope_now.get() or {}
    given = scope.get("path_params", {})
    found = {
        "request": getattr(record, "request", None) or scope.get(REQUEST_ID),
        "run": getattr(record, "run", None) or _number(given.get("run") or given.get("run_id")),
        "attempt": getattr(record, "attempt", None) or _number(given.get("attempt")),
    }
    return {name: value for name, value in found.items() if value is not None}


def _number(given: object) -> int | None:
    """What stands in a path is the caller's text until it is a number."""
    text = str(given)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


class Lines(logging.Formatter):
    """Renders a record in one of the two styles."""

    def __init__(self, style: Style) -> None:
        super().__init__()
        self._json = style == "json"

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        said, trace = scrubbed(record.getMessage()), scrubbed(told(error)) if error else None
        about = {name: scrubbed(str(value)) if isinstance(value, str) else value for name, value in context(record).items()}
        if not self._json:
            where = "".join(f" {name}={value}" for name, value in about.items())
            return f"{record.levelname} {record.name}: {said}{where}" + (f"\n{trace}" if trace else "")
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": said, **about, **getattr(record, "fields", {})}
        return json.dumps(line | ({"trace": trace} if trace else {}), default=str)


def configure(style: Style) -> None:
    """Everything from warnings on; as JSON also one line for each request."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines(style))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger(REQUESTS).setLevel(logging.INFO if style == "json" else logging.WARNING)
