"""`bezmen submit`."""

import json
import sys
from pathlib import Path
from typing import Any

import typer
from pydantic import TypeAdapter, ValidationError

from app.commands import run_options as opt
from app.commands.client import Client
from app.commands.output import AsJson, AsMarkdown, Junit, Locale, Tongue
from app.commands.settings import read, shown, usage
from app.commands.wait import wait
from app.domain.spec import NAMED_IN, Name

NAME: TypeAdapter[str] = TypeAdapter(Name)


def submit(
    spec: opt.Spec = None, model: opt.Model = None, file: opt.File = None, revision: opt.Text = None, dtype: opt.Dtype = None,
    engine: opt.Engine = None, compile_it: opt.Compile = None, drafter: opt.Drafter = None, drafter_param: opt.Params = opt.NONE,
    controller: opt.Text = None, controller_param: opt.Params = opt.NONE, verifier: opt.Text = None, verifier_param: opt.Params = opt.NONE,
    language: opt.Language = None, tokenizer: opt.Tokenizer = None, suite: opt.Text = None, profile: opt.Profiles = opt.NONE, limit: opt.Limit = None,
    chat_template: opt.ChatTemplate = None, concurrency: opt.Concurrency = None, load: opt.Load = None, rate: opt.Rate = None,
    burstiness: opt.Burstiness = None, temperature: opt.Real = None, top_k: opt.Number = None, top_p: opt.Real = None, seed: opt.Number = None,
    stop: opt.Stop = opt.NONE, ignore_eos: opt.IgnoreEos = None, max_new_tokens: opt.Number = None, trials: opt.Trials = None,
    margin: opt.Margin = None, label: opt.Labels = opt.NONE, idempotency_key: opt.Key = None, wait_for_it: opt.Wait = False, quiet: opt.Quiet = False,
    as_json: AsJson = False, as_markdown: AsMarkdown = False, junit: Junit = None, locale: Locale = Tongue.EN,
) -> None:  # fmt: skip
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


def _pairs(texts: list[str]) -> dict[str, Any]:
    """Values are JSON where they can be, else text."""
    found: dict[str, Any] = {}
    for name, value in map(_pair, texts):
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def _labels(texts: list[str]) -> dict[str, str]:
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
