"""How commands talk to a running service."""

import json
import math
import re
import time
from collections.abc import Mapping
from typing import Any, Self

import httpx
import typer

from app.commands.settings import USAGE, shown, usage
from app.errors import pointer
from app.settings import Settings

INFRASTRUCTURE = 3
# What was asked is right and cannot be had at present: a run that has not ended, no runner, a full queue.
_NOT_NOW = {409, 429}
PATIENCE_SECONDS = 60.0


class Client:
    """Speaks to BEZMEN_URL with BEZMEN_TOKEN, or to the service of this machine with the token that it wrote for its owner."""

    def __init__(self, settings: Settings) -> None:
        """Ends the command with status 2 where the address or the token cannot be sent."""
        self._settings = settings
        headers = {"Accept": "application/json"} | _authorization(settings)
        try:
            self._http = httpx.Client(base_url=settings.base_url, timeout=60, headers=headers)
        except httpx.InvalidURL as error:
            raise self._no_address() from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, path: str) -> Any:
        """Waits through a restart of the service. Ends the command with status 3 when it stays away, 2 when it refuses."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                answer = self._http.get(path)
                if answer.status_code != 503:
                    return _read(answer)
            except httpx.UnsupportedProtocol as error:
                raise self._no_address() from error
            except httpx.TransportError as error:
                if time.monotonic() > until:
                    raise self._away(error) from error
            time.sleep(1)

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, bytes] | None = None) -> Any:
        """Ends the command as `get` does, but waits for nothing; also with status 2 over a number that JSON does not have."""
        try:
            # ASCII, because an argument may hold what has no UTF-8; the service then says which field it is.
            content = json.dumps(body, allow_nan=False).encode()
        except ValueError as error:
            raise usage(f"{endless(body) or 'A number'} is not finite; NaN and infinity are no numbers of a run.") from error
        return self.send(path, content, {"Content-Type": b"application/json", **(headers or {})})

    def send(self, path: str, content: bytes, headers: Mapping[str, bytes]) -> Any:
        """A body as it is. Ends the command as `get` does, but waits for nothing."""
        try:
            return _read(self._http.post(path, content=content, headers=_raw(headers)))
        except httpx.UnsupportedProtocol as error:
            raise self._no_address() from error
        except httpx.TransportError as error:
            raise self._away(error) from error

    def _no_address(self) -> typer.Exit:
        return usage(f"BEZMEN_URL cannot be {shown(self._settings.base_url)}: an address begins with http:// or https://.")

    def _away(self, error: Exception) -> typer.Exit:
        typer.echo(f"No service answers at {self._settings.base_url} ({error}). `bezmen serve` starts one.", err=True)
        return typer.Exit(INFRASTRUCTURE)


def _raw(headers: Mapping[str, bytes]) -> dict[bytes, bytes]:
    return {name.encode(): value for name, value in headers.items()}


def endless(value: Any, path: tuple[object, ...] = ()) -> str | None:
    """The pointer of the first NaN or infinity inside."""
    if isinstance(value, float) and not math.isfinite(value):
        return pointer(path)
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((found for key, item in inside if (found := endless(item, (*path, key)))), None)


def _authorization(settings: Settings) -> dict[str, str]:
    if settings.token is not None:
        return _bearer(settings.token.get_secret_value().strip(), "BEZMEN_TOKEN")
    try:
        return _bearer(settings.admin_token_file.read_text(encoding="utf-8", errors="replace").strip(), str(settings.admin_token_file))
    except OSError:
        return {}


def _bearer(token: str, origin: str) -> dict[str, str]:
    if not re.fullmatch(r"[!-~]+", token):
        raise usage(f"{origin} holds no token: a token is one word of ASCII characters, as `bezmen token create` prints it.")
    return {"Authorization": f"Bearer {token}"}


def _place(field: Mapping[str, str]) -> str:
    """Where an error lies: in the body, in the query, or at a line of a file."""
    if field.get("line"):
        return f"line {field['line']}" + (f", {field['field']}" if field.get("field") else "")
    return field.get("pointer") or field.get("parameter") or field.get("field") or "the file"


def _read(answer: httpx.Response) -> Any:
    if answer.is_success:
        return answer.json() if answer.content else None
    try:
        problem = answer.json()
    except ValueError:
        problem = {"detail": answer.text or answer.reason_phrase}
    said = str(problem.get("detail", answer.reason_phrase))
    typer.echo(said, err=True)
    for field in problem.get("errors", []):
        # The sentence names the first of them, or the only one, itself.
        if field["detail"] not in said:
            typer.echo(f"  {_place(field)}: {field['detail']}", err=True)
    raise typer.Exit(INFRASTRUCTURE if answer.status_code >= 500 or answer.status_code in _NOT_NOW else USAGE)
