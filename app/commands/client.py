"""How commands talk to a running service."""

import time
from collections.abc import Mapping
from typing import Any

import httpx
import typer

from app.settings import Settings

USAGE, INFRASTRUCTURE = 2, 3
PATIENCE_SECONDS = 60.0


class Client:
    """Speaks to BEZMEN_URL with BEZMEN_TOKEN, or to the service of this machine with the token that it wrote for its owner."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._http = httpx.Client(base_url=settings.base_url, timeout=60, headers={"Accept": "application/json"} | _authorization(settings))

    def get(self, path: str) -> Any:
        """Waits through a restart of the service. Ends the command with status 3 when it stays away, 2 when it refuses."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                answer = self._http.get(path)
                if answer.status_code != 503:
                    return _read(answer)
            except httpx.TransportError as error:
                if time.monotonic() > until:
                    raise self._away(error) from error
            time.sleep(1)

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        try:
            return _read(self._http.post(path, json=body, headers=headers))
        except httpx.TransportError as error:
            raise self._away(error) from error

    def _away(self, error: Exception) -> typer.Exit:
        typer.echo(f"No service answers at {self._settings.base_url} ({error}). `bezmen serve` starts one.", err=True)
        return typer.Exit(INFRASTRUCTURE)


def _authorization(settings: Settings) -> dict[str, str]:
    if settings.token is not None:
        return {"Authorization": f"Bearer {settings.token.get_secret_value()}"}
    try:
        return {"Authorization": f"Bearer {settings.admin_token_file.read_text().strip()}"}
    except OSError:
        return {}


def _read(answer: httpx.Response) -> Any:
    if answer.is_success:
        return answer.json() if answer.content else None
    try:
        problem = answer.json()
    except ValueError:
        problem = {"detail": answer.text or answer.reason_phrase}
    typer.echo(problem.get("detail", answer.reason_phrase), err=True)
    for field in problem.get("errors", []):
        typer.echo(f"  {field.get('pointer') or field.get('parameter', '')}: {field['detail']}", err=True)
    raise typer.Exit(INFRASTRUCTURE if answer.status_code >= 500 else USAGE)
