"""One error family; the class docstring is the title, an instance's detail is the sentence, and one handler renders both."""

import difflib
import json
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, ClassVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.domain import spelling

logger = logging.getLogger(__name__)
MOST_NAMED = 100

REFUSALS = {
    "/language": "Refused: the language of the prompts is not given. Enter a tag such as ru or en.",
    "/tokenizer": (
        "Refused: this run does not say which tokenizer was used. Acceptance counts tokens; without the tokenizer it means nothing"
        " to anyone else. Add it, and the figure appears."
    ),
}


class AppError(Exception):
    """Something broke on our side"""

    status: ClassVar[int] = 500

    def __init__(self, detail: str, *, fields: Iterable[dict[str, str]] = (), headers: Mapping[str, str] | None = None, **extra: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.fields = list(fields)
        self.headers = dict(headers or {})
        self.extra = extra

    @classmethod
    def slug(cls) -> str:
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    def urn(cls) -> str:
        return f"urn:bezmen:problem:{cls.slug()}"

    def problem(self) -> dict[str, Any]:
        """RFC 9457. `errors` names the fields by JSON pointer (`pointer`) or by query parameter (`parameter`), or by `line` and `field` of a file."""
        body: dict[str, Any] = {"type": self.urn(), "title": (type(self).__doc__ or "").strip(), "status": self.status}
        body["detail"] = self.detail
        if self.fields:
            body["errors"] = self.fields
        return body | self.extra


class InvalidInput(AppError):
    """The request cannot be understood"""

    status = 422

    @classmethod
    def of(cls, errors: Sequence[Mapping[str, Any]]) -> "InvalidInput":
        """From pydantic's list of errors, of a request or of a value parsed elsewhere."""
        fields = [_field(error) for error in errors]
        refused = [field["detail"] for field in fields if field.get("pointer") in REFUSALS and field["detail"] == REFUSALS[field["pointer"]]]
        if refused:
            return Refused(" ".join(refused), fields=fields)
        first = fields[0] if fields else {"detail": "the body is empty"}
        where = first.get("pointer") or first.get("parameter") or "the request"
        more = f" ({len(fields) - 1} more)" if len(fields) > 1 else ""
        return cls(f"{where}: {first['detail']}{more}", fields=fields)


class Refused(InvalidInput):
    """Refused: a figure needs its language and its tokenizer"""


class NotFound(AppError):
    """There is nothing here"""

    status = 404


class Conflict(AppError):
    """This does not fit the present state"""

    status = 409


class Unauthenticated(AppError):
    """A token is needed"""

    status = 401

    def __init__(self, detail: str) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": 'Bearer realm="bezmen"'})


class Forbidden(AppError):
    """This token may not do that"""

    status = 403


class TooLarge(AppError):
    """The body is too large"""

    status = 413


class TooMany(AppError):
    """This is more than one may have at once"""

    status = 429


class DatabaseUnavailable(AppError):
    """The database does not answer"""

    status = 503

    def __init__(self) -> None:
        super().__init__("The database does not answer at the moment; nothing was changed. Try again in a few seconds.", headers={"Retry-After": "2"})


def did_you_mean(kind: str, name: str, known: Iterable[str]) -> str:
    """'There is no drafter "ngarm". Did you mean ngram?' Where nothing is like it all are named, of more than a hundred the first."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    listed = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    hint = f"Did you mean {close[0]}?" if close else f"Known: {listed}." if names else "None is known."
    return f'There is no {kind} "{name}". {hint}'


def pointer(path: Iterable[object]) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _field(error: Mapping[str, Any]) -> dict[str, str]:
    place, *path = error["loc"] if error["loc"] else ("body",)
    if place in {"query", "header", "cookie", "path"}:
        return {"parameter": str(path[0]) if path else str(place), "detail": error["msg"].removeprefix("Value error, ")}
    at = pointer(path if place == "body" else [place, *path])
    if at in REFUSALS and (error["type"] == "missing" or _says_nothing(error.get("input"))):
        return {"pointer": at, "detail": REFUSALS[at]}
    if error["type"] == "string_pattern_mismatch":
        return {"pointer": at, "detail": spelling.SAID.get(error["ctx"]["pattern"], error["msg"])}
    if error["type"] == "string_too_short" and _says_nothing(error.get("input")):
        return {"pointer": at, "detail": "there is nothing in it; say what is meant, or leave it out"}
    message = "this field is not known" if error["type"] == "extra_forbidden" else error["msg"].removeprefix("Value error, ")
    return {"pointer": at, "detail": message}


def _says_nothing(value: object) -> bool:
    """A field that is present but empty says as little as one that is absent."""
    return value is None or (isinstance(value, str) and not value.strip())


Page = Callable[[Request, dict[str, Any]], Response | Awaitable[Response]]


def wants_page(request: Request) -> bool:
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def render(problem: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    # Lone surrogates may come back in a name that we quote; they have no UTF-8.
    body = json.dumps(problem, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(body, status_code=problem["status"], headers=dict(headers or {}), media_type="application/problem+json")


def install(app: FastAPI, page: Page) -> None:
    """Every error of the application leaves through here: problem+json, or `page` where a browser asks for a page."""

    async def answer(request: Request, error: AppError) -> Response:
        problem = error.problem()
        if not wants_page(request):
            return render(problem, error.headers)
        shown = page(request, problem)
        response = shown if isinstance(shown, Response) else await shown
        response.headers.update(error.headers)
        return response

    async def known(request: Request, error: Exception) -> Response:
        return await answer(request, error if isinstance(error, AppError) else AppError(str(error)))

    async def invalid(request: Request, error: Exception) -> Response:
        return await answer(request, InvalidInput.of(error.errors() if isinstance(error, RequestValidationError) else []))

    async def http(request: Request, error: Exception) -> Response:
        return await answer(request, _from_http(request, error) if isinstance(error, HTTPException) else AppError(str(error)))

    async def unknown(request: Request, error: Exception) -> Response:
        # The number of the request, which the middleware gave it and its log lines carry.
        code = str(request.scope.get("bezmen.request_id") or secrets.token_hex(8))
        logger.error("request failed, code %s", code, exc_info=error, extra={"request": code})
        said = f"Something broke on our side; nothing you entered is lost. Quote {code} when you report it."
        return await answer(request, AppError(said, code=code, headers={"X-Request-Id": code}))

    app.add_exception_handler(AppError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unknown)


def _from_http(request: Request, error: HTTPException) -> AppError:
    if error.status_code == 404:
        return NotFound(f"There is no page or resource at {request.url.path}.")
    if error.status_code == 405:
        return _MethodNotAllowed(f"{request.url.path} does not take {request.method}.", headers=error.headers)
    return TooLarge(str(error.detail)) if error.status_code == 413 else _Other(error)


class _Other(AppError):
    """The request failed"""

    def __init__(self, error: HTTPException) -> None:
        super().__init__(str(error.detail), headers=error.headers)
        self.code = error.status_code

    def problem(self) -> dict[str, Any]:
        phrase = HTTPStatus(self.code).phrase
        slug = phrase.lower().replace(" ", "-")
        return super().problem() | {"type": f"urn:bezmen:problem:{slug}", "title": phrase, "status": self.code}


class _MethodNotAllowed(AppError):
    """This method is not allowed here"""

    status = 405

    @classmethod
    def slug(cls) -> str:
        return "method-not-allowed"
