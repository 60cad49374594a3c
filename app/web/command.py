"""The same order as a command line."""

import json
import shlex
from typing import Any

from app.domain.spec import RunSpec

_LOAD = {"kind": "load"}


def submit_line(spec: RunSpec) -> str:
    """`bezmen submit` with whatever differs from a default; the spec that it sends is equal to this one."""
    words = ["bezmen", "submit"]
    for option, value in _options(spec):
        words += [f"--{option}", shlex.quote(value)]
    if spec.compile:
        words.append("--compile")
    if spec.ignore_eos:
        words.append("--ignore-eos")
    return " ".join(words)


def _options(spec: RunSpec) -> list[tuple[str, str]]:
    given: dict[str, Any] = spec.model_dump(mode="json", exclude_defaults=True)
    found: list[tuple[str, str]] = [("model", f"{spec.model.source}:{spec.model.title}")]
    found += [(name, str(given["model"][name])) for name in ("file", "revision", "dtype") if name in given["model"]]
    for kind in ("drafter", "controller", "verifier"):
        if kind in given:
            found.append((kind, given[kind]["name"]))
            found += [(f"{kind}-param", f"{name}={json.dumps(value)}") for name, value in given[kind].get("params", {}).items()]
    found += [("language", spec.language), ("tokenizer", spec.tokenizer), ("suite", spec.suite.id)]
    found += [("profile", name) for name in spec.suite.profiles or ()]
    found += [("limit", str(spec.suite.limit))] if spec.suite.limit is not None else []
    found += [(_LOAD.get(name, name), str(value)) for name, value in given.get("load", {}).items() if name != "burstiness" or value != 1.0]
    found += [(name.replace("_", "-"), str(value)) for name, value in given.get("sampling", {}).items()]
    found += [("stop", text) for text in spec.stop]
    plain = ("engine", "chat_template", "max_new_tokens", "trials", "margin")
    found += [(name.replace("_", "-"), str(given[name])) for name in plain if name in given]
    return found + [("label", f"{name}={value}") for name, value in spec.labels.items()]
