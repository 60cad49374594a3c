"""Which engine a run asks for, and how it is to speculate there."""

import difflib
from dataclasses import dataclass
from typing import get_args

from pydantic import ValidationError

from app.domain.fit import beyond
from app.domain.spec import OWN_ENGINE, RunSpec
from runners.engine.external.aliases import Alias, Attached, Engines
from runners.engine.external.engines.base import Engine, Mode
from runners.engine.external.serving import engines as adapters
from runners.parts import UnknownPart
from runners.protocol.unmeasurable import Unmeasurable

# What a model is called on a server that the runner starts; its real name is in the passport.
SERVED_AS = "target"


@dataclass(frozen=True)
class Way:
    """One run's engine under its name in the runner's configuration, and how it speculates. `plain_alias` is that of the plain arm, None where there
    is no such arm."""

    alias: Alias
    plain_alias: Alias | None
    adapter: type[Engine]
    mode: Mode

    @property
    def speculative(self) -> Engine:
        return self.adapter(served_as(self.alias), self.mode)

    @property
    def plain(self) -> Engine | None:
        return None if self.plain_alias is None else self.adapter(served_as(self.plain_alias))


def served_as(alias: Alias) -> str:
    return alias.model if isinstance(alias, Attached) else SERVED_AS


def choose(spec: RunSpec, configured: Engines) -> Way:
    """Raises Unmeasurable for an engine that this runner does not have, and UnknownPart for what the engine cannot be asked for."""
    alias = configured.engines.get(spec.engine)
    if alias is None:
        known = ", ".join((OWN_ENGINE, *sorted(configured.engines)))
        raise Unmeasurable("unknown_engine", f'There is no engine "{spec.engine}" on this runner; it has {known}.')
    for _, said in beyond(spec):
        raise UnknownPart(said)
    plain = alias if not isinstance(alias, Attached) else None if alias.plain is None else configured.engines[alias.plain]
    adapter = adapters()[alias.kind]
    return Way(alias, plain, adapter, _mode(spec, adapter))


def _mode(spec: RunSpec, adapter: type[Engine]) -> Mode:
    ways: dict[str, type[Mode]] = {get_args(way.model_fields["mode"].annotation)[0]: way for way in adapter.ways}
    asked = spec.drafter
    if asked.name not in ways:
        near = difflib.get_close_matches(asked.name, ways, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" It has {', '.join(ways)}."
        raise UnknownPart(f'Engine {spec.engine} has no way to speculate called "{asked.name}".{hint}')
    try:
        return ways[asked.name].model_validate({**asked.params, "mode": asked.name})
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'parameters'}: {e['msg']}" for e in error.errors(include_url=False))
        raise UnknownPart(f"drafter {asked.name}: {wrong}") from error
