"""`bezmen submit`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from app.commands.client import Client
from app.commands.output import AsJson, AsMarkdown, Junit, Locale, Tongue
from app.commands.settings import read, shown, usage
from app.commands.wait import wait
from app.domain.spec import NAMED_IN, Name

NAME: TypeAdapter[str] = TypeAdapter(Name)
Pairs = list[str]


def submit(
    spec: Annotated[str | None, typer.Argument(help="The whole spec as JSON, @file, or - for standard input; options override it.")] = None,
    model: Annotated[str | None, typer.Option(help="SOURCE:NAME, where SOURCE is hub, path, package or zoo.")] = None,
    file: Annotated[str | None, typer.Option(help="File within the model.")] = None,
    revision: Annotated[str | None, typer.Option()] = None,
    dtype: Annotated[str | None, typer.Option(help="auto, float32, bfloat16 or float16.")] = None,
    engine: Annotated[str | None, typer.Option(help="transformers, our own loop, or the alias of an engine of a runner.")] = None,
    compile_it: Annotated[bool | None, typer.Option("--compile/--eager", help="Decode through compiled forwards; compiling is not timed.")] = None,
    drafter: Annotated[str | None, typer.Option(help="For instance ngram or layerskip.")] = None,
    drafter_param: Annotated[Pairs, typer.Option(help="NAME=VALUE; may be repeated.")] = [],  # noqa: B006
    controller: Annotated[str | None, typer.Option()] = None,
    controller_param: Annotated[Pairs, typer.Option(help="NAME=VALUE; may be repeated.")] = [],  # noqa: B006
    verifier: Annotated[str | None, typer.Option()] = None,
    verifier_param: Annotated[Pairs, typer.Option(help="NAME=VALUE; may be repeated.")] = [],  # noqa: B006
    language: Annotated[str | None, typer.Option(help="Language of the prompts, such as ru or en. No default.")] = None,
    tokenizer: Annotated[str | None, typer.Option(help="Repository, package:NAME, zoo:NAME or fingerprint of the tokenizer. No default.")] = None,
    suite: Annotated[str | None, typer.Option()] = None,
    profile: Annotated[Pairs, typer.Option(help="May be repeated; without it all but those answered in another language.")] = [],  # noqa: B006
    limit: Annotated[int | None, typer.Option(help="Prompts at most.")] = None,
    chat_template: Annotated[str | None, typer.Option(help="model or none.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Requests at once.")] = None,
    load: Annotated[str | None, typer.Option(help="closed, or open: requests arrive at a rate.")] = None,
    rate: Annotated[float | None, typer.Option(help="Requests that arrive a second, in an open load.")] = None,
    burstiness: Annotated[float | None, typer.Option(help="Shape of the gaps between arrivals: 1 is Poisson, less is burstier.")] = None,
    temperature: Annotated[float | None, typer.Option()] = None,
    top_k: Annotated[int | None, typer.Option()] = None,
    top_p: Annotated[float | None, typer.Option()] = None,
    seed: Annotated[int | None, typer.Option()] = None,
    stop: Annotated[Pairs, typer.Option(help="A stop string; may be repeated.")] = [],  # noqa: B006
    ignore_eos: Annotated[bool | None, typer.Option("--ignore-eos/--heed-eos")] = None,
    max_new_tokens: Annotated[int | None, typer.Option()] = None,
    trials: Annotated[int | None, typer.Option(help="Blocks of two plain and two speculative passes.")] = None,
    margin: Annotated[float | None, typer.Option(help="How much faster it must be to pay.")] = None,
    label: Annotated[Pairs, typer.Option(help="NAME=VALUE that the runner must have; may be repeated.")] = [],  # noqa: B006
    idempotency_key: Annotated[str | None, typer.Option(help="The same key never makes a second run.")] = None,
    wait_for_it: Annotated[bool, typer.Option("--wait", help="Wait for the answer, as `bezmen wait` does.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the number of the run alone.")] = False,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    junit: Junit = None,
    locale: Locale = Tongue.EN,
) -> None:
    """Queue a run; prints its number and its address. What follows a --wait is printed and ends as by `bezmen wait`."""
    body = _spec(spec)
    plain = {
        "engine": engine, "compile": compile_it, "language": language, "tokenizer": tokenizer, "chat_template": chat_template, "stop": stop or None,
        "ignore_eos": ignore_eos, "max_new_tokens": max_new_tokens, "trials": trials, "margin": margin, "labels": _labels(label) or None,
    }  # fmt: skip
    body |= {name: value for name, value in plain.items() if value is not None}
    _merge(body, "model", model_of(model) | {"file": file, "revision": revision, "dtype": dtype})
    _merge(body, "drafter", {"name": drafter, "params": _pairs(drafter_param) or None})
    _merge(body, "controller", {"name": controller, "params": _pairs(controller_param) or None})
    _merge(body, "verifier", {"name": verifier, "params": _pairs(verifier_param) or None})
    _merge(body, "suite", {"id": suite, "profiles": profile or None, "limit": limit})
    _merge(body, "load", {"kind": load, "concurrency": concurrency, "rate": rate, "burstiness": burstiness})
    _merge(body, "sampling", {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed})
    settings, headers = read(), key_of(idempotency_key)
    with Client(settings) as client:
        run = client.post("/api/v1/runs", body, headers)
    # With a rendering for programs, standard output is theirs alone.
    typer.echo(run["id"] if quiet else f"run {run['id']} {settings.base_url}/runs/{run['id']}", err=wait_for_it and (as_json or as_markdown))
    if wait_for_it:
        wait([run["id"]], None, as_json, as_markdown, junit, locale)


def _spec(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        if text == "-":
            text = sys.stdin.read()
        elif text.startswith("@"):
            text = Path(text[1:]).read_text(encoding="utf-8")
        body = json.loads(text)
    except OSError as error:
        raise usage(f"the spec cannot be read from {shown(error.filename)}: {error.strerror}") from error
    except RecursionError as error:
        raise usage("the spec is nested too deeply") from error
    except ValueError as error:
        raise usage(f"the spec is no JSON: {shown(error)}") from error
    if not isinstance(body, dict):
        raise usage("the spec must be a JSON object")
    return body


def model_of(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    source, _, name = text.partition(":")
    field = {str(each): named_in for each, named_in in NAMED_IN.items()}.get(source)
    if field is None or not name:
        raise usage(f"a model is SOURCE:NAME with a source of {', '.join(NAMED_IN)}; this was {shown(text)}")
    return {"source": source, field: name}


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise usage(f"a parameter is NAME=VALUE; this was {shown(text)}")
    return name, value


def _pairs(texts: Pairs) -> dict[str, Any]:
    """Values are JSON where they can be, else text."""
    found: dict[str, Any] = {}
    for name, value in map(_pair, texts):
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def _labels(texts: Pairs) -> dict[str, str]:
    """Values are text, whatever they look like."""
    found = dict(map(_pair, texts))
    for name in found:
        try:
            NAME.validate_python(name)
        except ValidationError as error:
            may = "1 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen, with a letter or a digit first"
            raise usage(f"a label is NAME=VALUE, where NAME is {may}; this name was {shown(name)}") from error
    return found


def key_of(text: str | None) -> dict[str, bytes]:
    """The header of an idempotency key, in any script."""
    if text is None:
        return {}
    sent = text.encode("utf-8", "surrogateescape")
    if not 0 < len(sent) <= 255 or text != text.strip() or any(byte < 32 or byte == 127 for byte in sent):
        raise usage("an idempotency key is one line of 1 to 255 bytes, without control characters and without spaces around it")
    return {"Idempotency-Key": sent}


def _merge(body: dict[str, Any], name: str, values: dict[str, Any]) -> None:
    given = {key: value for key, value in values.items() if value is not None}
    if given:
        old = body.get(name)
        body[name] = (old if isinstance(old, dict) else {"name": old} if isinstance(old, str) else {}) | given
