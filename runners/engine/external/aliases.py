"""The engines that a runner's configuration names: `bezmen runner --engines FILE`, in TOML. A spec names an alias, never an address or a command."""

import ipaddress
import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator

from app.domain.spec import OWN_ENGINE, Name
from app.domain.value import Value

# What a spec or the runner decides: the same words in a file would change both arms, or one of them, behind the passport's back.
DECIDED = (
    "-md", "--model-draft", "-hfd", "--hf-repo-draft", "--host", "--port", "-m", "--model", "--alias", "--served-model-name", "-np", "--parallel",
    "-c", "--ctx-size", "-t", "--threads", "-tb", "--threads-batch", "-td", "--threads-draft", "-tbd", "--threads-batch-draft", "-lcs", "-lcd",
    "--lookup-cache-static", "--lookup-cache-dynamic", "-cd", "--ctx-size-draft", "--metrics", "--slots", "--no-slots", "--max-num-seqs",
    "--max-model-len", "--dtype", "--per-request-spec-decode-metrics",
)  # fmt: skip
# Every word that begins so, too.
DECIDED_ALL = ("--spec", "--draft")


class _Launched(Value):
    """`roots` are the folders under which models may lie, `arguments` what is added to every command of this engine."""

    roots: Annotated[tuple[Path, ...], Field(min_length=1)]
    arguments: tuple[str, ...] = ()

    @field_validator("roots", "server", "python", check_fields=False)
    @classmethod
    def _absolute(cls, value: Any) -> Any:
        for path in value if isinstance(value, tuple) else (value,):
            if not path.is_absolute():
                raise ValueError(f"{path} is to be an absolute path")
        return value

    @field_validator("arguments")
    @classmethod
    def _undecided(cls, arguments: tuple[str, ...]) -> tuple[str, ...]:
        for word in arguments:
            if word.startswith(DECIDED_ALL) or word.partition("=")[0] in DECIDED:
                raise ValueError(f"{word} is decided by a run's spec, and is no argument of every one")
        return arguments

    def model(self, name: str) -> Path:
        """The model of this name under one of the roots. Raises FileNotFoundError where there is none that does not lead out of them."""
        for root in self.roots:
            found = (root / name).resolve()
            if found.exists() and found.is_relative_to(root.resolve()):
                return found
        raise FileNotFoundError(f"there is no {name} under the roots of this engine")


class LlamaServer(_Launched):
    kind: Literal["llama.cpp"]
    server: Path


class VllmEnvironment(_Launched):
    """`python` is that of vLLM's own virtual environment."""

    kind: Literal["vllm"]
    python: Path


class Attached(Value):
    """A server that runs already. `model` is what it calls the model, `plain` the alias of the server without speculation; without one there is
    acceptance and no speed-up. `key_from` names the environment variable that holds its key."""

    kind: Literal["sglang", "tensorrt-llm", "lmstudio", "openai"]
    url: str
    model: Annotated[str, Field(min_length=1, max_length=256)]
    plain: Name | None = None
    key_from: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None

    @field_validator("url")
    @classmethod
    def _an_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("an address begins with http:// or https:// and names a host")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("an address holds no name, key, query or fragment; a key is named by key_from")
        return url.rstrip("/")

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    def key(self) -> str | None:
        """What the environment variable holds. Raises BadEngines where it is not set."""
        if self.key_from is None:
            return None
        if not (key := os.environ.get(self.key_from)):
            raise BadEngines(f"the environment variable {self.key_from}, which is to hold the key of an engine, is not set")
        return key


Alias = Annotated[LlamaServer | VllmEnvironment | Attached, Field(discriminator="kind")]


class Engines(Value):
    """`hosts` are those besides loopback to which an engine's address may lead."""

    engines: Annotated[dict[Name, Alias], Field(max_length=64)] = {}
    hosts: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders of all engines that are started here."""
        return tuple(dict.fromkeys(root for alias in self.engines.values() if isinstance(alias, _Launched) for root in alias.roots))

    @model_validator(mode="after")
    def _may_be_reached(self) -> Self:
        if OWN_ENGINE in self.engines:
            raise ValueError(f"engines.{OWN_ENGINE}: this is what our own loop is called; choose another name")
        for name, alias in self.engines.items():
            if not isinstance(alias, Attached):
                continue
            if not _loopback(alias.host) and alias.host not in self.hosts:
                raise ValueError(f"engines.{name}.url: {alias.host} is not this machine; add it to hosts if it is meant")
            plain = None if alias.plain is None else self.engines.get(alias.plain)
            if alias.plain is not None and (plain is None or plain.kind != alias.kind or alias.plain == name):
                raise ValueError(f"engines.{name}.plain: {alias.plain} is to be another engine of kind {alias.kind} in this file")
        return self


KINDS: tuple[str, ...] = ("llama.cpp", "vllm", *get_args(Attached.model_fields["kind"].annotation))
# What pydantic says of a key, as somebody who wrote the file understands it.
SAID = {
    "missing": "is missing",
    "extra_forbidden": "is no key that is known here",
    "union_tag_not_found": "needs a kind: " + ", ".join(KINDS),
    "union_tag_invalid": "has a kind that is not known; there are " + ", ".join(KINDS),
}


class BadEngines(ValueError):
    """The file of engines cannot be used; the sentence names the key and the line."""


def read_engines(file: Path) -> Engines:
    """Raises BadEngines for a file that cannot be read or says what is not understood."""
    try:
        text = file.read_text(encoding="utf-8")
        return Engines.model_validate(tomllib.loads(text))
    except OSError as error:
        raise BadEngines(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadEngines(f"{file} is not in UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise BadEngines(f"{file} is not TOML: {error}") from error
    except ValidationError as error:
        raise BadEngines(_sentence(file, text, error)) from error


def with_programs(engines: Engines) -> Engines:
    """The same, once the programs that it names are there: an engine that cannot be started is not offered. Raises BadEngines."""
    for name, alias in engines.engines.items():
        for key in ("server", "python"):
            program: Path | None = getattr(alias, key, None)
            if program is not None and not (program.is_file() and os.access(program, os.X_OK)):
                raise BadEngines(f"engines.{name}.{key}: {program} is no program that can be run on this machine")
    return engines


def _sentence(file: Path, text: str, error: ValidationError) -> str:
    """The first fault, with its key and line."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    said = SAID.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    keys = [str(part) for part in first["loc"] if str(part) not in KINDS]
    if not keys:
        named, _, said = said.partition(": ")
        keys = named.split(".")
    return f"{file}, line {_line(text, keys)}: {'.'.join(keys)}: {said}"


def _line(text: str, keys: list[str]) -> int:
    """The line of the deepest of `keys` that the text has, from 1."""
    at, lines = 1, text.splitlines()
    for depth, key in enumerate(keys):
        header = re.compile(rf"\s*\[\s*{re.escape('.'.join(keys[: depth + 1]))}\s*\]|\s*\"?{re.escape(key)}\"?\s*=")
        at = next((number for number, line in enumerate(lines[at - 1 :], at) if header.match(line)), at)
    return at


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
