"""`bezmen gate`: one status for a build to stop at."""

import re
from typing import Annotated, Any

import typer

from app.commands.client import Client
from app.commands.output import AsJson, AsMarkdown, Junit, Locale, Output, Timeout, Tongue
from app.commands.settings import read, shown, usage
from app.commands.told import of_gate
from app.commands.wait import until_ended
from app.gates.schemas import GateOut

Texts = list[str]
_ASKED = re.compile(r"(?P<figure>[a-z_]+)(?:\[(?P<part>[^\]]*)\])?=(?P<value>[^=\]]+)")


def gate(
    run: Annotated[int, typer.Argument(help="Number of the run that is judged.")],
    least: Annotated[Texts, typer.Option("--min", metavar="FIGURE=BOUND", help="The least that a figure may be; `headline` names the run's.")] = [],  # noqa: B006
    most: Annotated[Texts, typer.Option("--max", metavar="FIGURE=BOUND", help="The most that a figure may be; FIGURE[arm=plain]=… narrows it.")] = [],  # noqa: B006
    verdict: Annotated[str | None, typer.Option(help='"pays" or "does not pay".')] = None,
    baseline: Annotated[int | None, typer.Option(metavar="RUN", help="A run of the same measurement that this one must not be worse than.")] = None,
    within: Annotated[
        Texts, typer.Option(metavar="FIGURE=PART", help="How much worse than the baseline: 0.02 is 2% or 2 points. The run's margin without it.")
    ] = [],  # noqa: B006
    confirm: Annotated[bool, typer.Option("--confirm/--no-confirm", help="Measure once more before saying that it does not hold.")] = True,
    timeout: Timeout = None,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    junit: Junit = None,
    locale: Locale = Tongue.EN,
) -> None:
    """Judge a run. Status 0 holds, 1 does not, 3 could not be measured, 4 cannot tell. A bound holds or fails with its whole interval alone."""
    body = _asked(run, least, most, verdict, baseline, within)
    settings = read()
    output = Output(as_json, as_markdown, junit, locale, settings.base_url)
    with Client(settings) as client:
        until_ended(client, [run] if baseline is None else [run, baseline], timeout)
        found = client.post("/api/v1/gates", body | {"to_be_confirmed": confirm})
        if confirm and found["answer"] == "does not hold":
            repeat = _repeat(client, run)
            typer.echo(f"run {run} does not hold; run {repeat} measures it once more", err=True)
            until_ended(client, [repeat], timeout)
            found = client.post("/api/v1/gates", body | {"repeat": repeat})
    output.end([of_gate(GateOut.model_validate(found), locale)], found)


def _repeat(client: Client, run: int) -> int:
    """The one repeat of a run: asked for again it is the same one, so that nobody measures until it fits."""
    spec = client.get(f"/api/v1/runs/{run}")["spec"]
    return int(client.post("/api/v1/runs", spec, {"Idempotency-Key": f"gate-repeat-of-{run}".encode()})["id"])


def _asked(run: int, least: Texts, most: Texts, verdict: str | None, baseline: int | None, within: Texts) -> dict[str, Any]:
    body: dict[str, Any] = {"run": run, "bounds": [*_each(least, "min"), *_each(most, "max")]}
    if not body["bounds"] and verdict is None and baseline is None:
        raise usage("a gate asks something: --min FIGURE=BOUND, --max FIGURE=BOUND, --verdict pays or --baseline RUN")
    if within and baseline is None:
        raise usage("--within is towards a baseline; name its run with --baseline RUN")
    optional = {"verdict": verdict, "baseline": baseline, "tolerances": _each(within, "within") or None}
    return body | {name: value for name, value in optional.items() if value is not None}


def _each(texts: Texts, name: str) -> list[dict[str, Any]]:
    return [_figure(text) | {name: _number(text)} for text in texts]


def _matched(text: str) -> re.Match[str]:
    found = _ASKED.fullmatch(text.strip())
    if found is None:
        raise usage(f"a bound is FIGURE=NUMBER or FIGURE[NAME=VALUE,…]=NUMBER, such as headline=1.05; this was {shown(text)}")
    return found


def _figure(text: str) -> dict[str, Any]:
    found = _matched(text)
    pairs = [pair.partition("=") for pair in (found["part"] or "").split(",") if pair]
    if any(not (name and separator) for name, separator, _ in pairs):
        raise usage(f"a part of a figure is NAME=VALUE, such as throughput[arm=plain,of=tokens]=20; this was {shown(text)}")
    return {"figure": found["figure"]} | ({"part": {name.strip(): value.strip() for name, _, value in pairs}} if pairs else {})


def _number(text: str) -> float:
    value = _matched(text)["value"]
    try:
        return float(value)
    except ValueError as error:
        raise usage(f"{shown(value)} is no number; a bound is one in the figure's own unit, a share from 0 to 1") from error
