"""The engines that a runner's configuration names: `bezmen runner --engines FILE`, in TOML. A spec names an alias, never an address or a command."""

import ipaddress
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator

from app.domain.spec import OWN_ENGINE, Name
from app.domain.value import Value
from runners.engine.external.complaints import sentence, unreadable
from runners.engine.external.decided import refusal

LAST_PORT = 65535


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
            if (why := refusal(word)) is not None:
                raise ValueError(why)
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
        try:
            parts = urlsplit(url)
        except ValueError:
            raise ValueError("an address of version 6 stands in square brackets, as in http://[::1]:8000") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("an address begins with http:// or https:// and names a host")
        if any(each.isspace() or not each.isprintable() for each in url):
            raise ValueError("an address has no blanks")
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise ValueError("an address holds no name, key, query or fragment; a key is named by key_from")
        _, colon, port = parts.netloc.rpartition("]")[2].partition(":")
        if colon and not (port.isascii() and port.isdecimal() and len(port) <= len(str(LAST_PORT)) and 1 <= int(port) <= LAST_PORT):
            raise ValueError(f"a port is a number from 1 to {LAST_PORT}, and not {port or 'nothing'}")
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

    @field_validator("hosts")
    @classmethod
    def _names_alone(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        for host in hosts:
            if not host or any(each in "/@[]" or each.isspace() for each in host) or host.count(":") == 1:
                raise ValueError(f"{host or 'nothing'} is no host; write its name or address alone, without http:// and port")
        return tuple(host.lower() for host in hosts)

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


_ALIASES: tuple[type[Value], ...] = (LlamaServer, VllmEnvironment, Attached)
KINDS: tuple[str, ...] = ("llama.cpp", "vllm", *get_args(Attached.model_fields["kind"].annotation))


class BadEngines(ValueError):
    """The file of engines cannot be used; the sentence names the key and the line."""


def read_engines(file: Path) -> Engines:
    """Raises BadEngines for a file that cannot be read or says what is not understood."""
    try:
        text = file.read_text(encoding="utf-8")
        found = Engines.model_validate(tomllib.loads(text))
    except OSError as error:
        raise BadEngines(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadEngines(f"{file} is not in UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise BadEngines(unreadable(file, error)) from error
    except ValidationError as error:
        raise BadEngines(sentence(file, text, error, _keys())) from error
    if not found.engines:
        raise BadEngines(f"{file} names no engine; each is a table that begins with [engines.NAME] and has a kind: {', '.join(KINDS)}")
    return found


def with_programs(engines: Engines) -> Engines:
    """The same, once the programs that it names are there: an engine that cannot be started is not offered. Raises BadEngines."""
    for name, alias in engines.engines.items():
        for key in ("server", "python"):
            program: Path | None = getattr(alias, key, None)
            if program is not None and not (program.is_file() and os.access(program, os.X_OK)):
                raise BadEngines(f"engines.{name}.{key}: {program} is no program that can be run on this machine")
    return engines


def _keys() -> dict[str, tuple[str, ...]]:
    """The keys that an engine of each kind may have; those of the file itself under an empty name."""
    found = {kind: tuple(alias.model_fields) for alias in _ALIASES for kind in get_args(alias.model_fields["kind"].annotation)}
    return found | {"": tuple(Engines.model_fields)}


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
