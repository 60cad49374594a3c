"""`bezmen probe`, and `bezmen probe-cancel`."""

import json
import time
from typing import Annotated, Any

import typer

from app.commands.client import INFRASTRUCTURE, Client
from app.commands.output import AsJson, Locale, Timeout, Tongue
from app.commands.settings import read, shown, usage
from app.commands.submit import key_of, model_of
from app.domain.status import FINAL, RunState
from app.probes.schemas import ProbeOut
from app.reports.probe_words import lines


def probe(
    model: Annotated[str, typer.Argument(help="SOURCE:NAME, where SOURCE is hub, path, package or zoo.")],
    languages: Annotated[str, typer.Option(help="Languages of the texts, such as ru,en. No default.")],
    ablation: Annotated[str, typer.Option(help="What is left out: last:K, the last K layers, or component, a hybrid's attention.")],
    tokenizer: Annotated[str | None, typer.Option(help="Repository, package:NAME or fingerprint; without it the one offered with the model.")] = None,
    suite: Annotated[str | None, typer.Option(help="One of the suites that come with the runners.")] = None,
    limit: Annotated[int | None, typer.Option(help="Prompts of each language at most.")] = None,
    idempotency_key: Annotated[str | None, typer.Option(help="The same key never makes a second probe.")] = None,
    timeout: Timeout = None,
    as_json: AsJson = False,
    locale: Locale = Tongue.EN,
) -> None:
    """Probe a model without a part of it: perplexity, and what acceptance follows, before anything is drafted. Status 0 when it was found, else 3."""
    body: dict[str, Any] = {"model": model_of(model), "languages": [tag.strip() for tag in languages.split(",")], "ablation": _ablation(ablation)}
    body |= {name: value for name, value in (("suite", suite), ("limit", limit)) if value is not None}
    settings, headers = read(), key_of(idempotency_key)
    with Client(settings) as client:
        body["tokenizer"] = tokenizer or _offered(client, body["model"])
        made = client.post("/api/v1/probes", body, headers)
        typer.echo(f"probe {made['id']} {settings.base_url}/probes/{made['id']}", err=True)
        try:
            found = _ended(client, made["id"], timeout)
        except KeyboardInterrupt:
            _goes_on(made["id"])
            raise
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        told = ProbeOut.model_validate(found)
        typer.echo("\n".join(lines(told.spec, told.languages, told.beside, told.failure or told.state, locale)))
    if found["state"] != RunState.SUCCEEDED:
        raise typer.Exit(INFRASTRUCTURE)


def cancel(probe: Annotated[int, typer.Argument(help="Its number.")]) -> None:
    """End a probe that has not ended, whoever waits for it."""
    with Client(read()) as client:
        found = client.post(f"/api/v1/probes/{probe}/cancel", {})
    typer.echo(f"probe {found['id']} {found['state']}")


def _goes_on(probe: int) -> None:
    typer.echo(f"Probe {probe} goes on; `bezmen probe-cancel {probe}` ends it.", err=True)


def _ablation(text: str) -> dict[str, Any]:
    kind, _, count = text.partition(":")
    if kind == "component" and not count:
        return {"kind": "component"}
    if kind == "last" and count.isdecimal():
        return {"kind": "last", "count": int(count)}
    raise usage(f"what is left out is last:K or component; this was {shown(text)}")


def _offered(client: Client, model: dict[str, Any]) -> str:
    """The tokenizer that comes with a model, as the runners name it; it is said to the service like any other."""
    name = next(value for key, value in model.items() if key != "source")
    offered = client.get("/api/v1/catalogue")["models"]
    found = next((each["tokenizer"] for each in offered if (each["source"], each["name"]) == (model["source"], name)), None)
    if found is None:
        raise usage(f"no runner offers {shown(name)} now, so its tokenizer is not known; name it with --tokenizer")
    return str(found)


def _ended(client: Client, probe: int, timeout: float | None) -> dict[str, Any]:
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        found: dict[str, Any] = client.get(f"/api/v1/probes/{probe}")
        if found["state"] in FINAL:
            return found
        if until is not None and time.monotonic() > until:
            typer.echo(f"probe {probe} has not ended in time: {found['state']}", err=True)
            _goes_on(probe)
            raise typer.Exit(INFRASTRUCTURE)
        time.sleep(1)
