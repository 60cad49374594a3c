"""The engines beside our own loop, as a runner publishes them."""

from typing import Any

from app.domain.catalogue import OfferedModel, Part, ServedEngine
from app.domain.outside.versions import shapes
from runners.engine.external.aliases import Alias, Attached, Engines
from runners.engine.external.engines.base import Engine, Mode
from runners.engine.external.serving import engines as adapters
from runners.served.models import servable


def served(configured: Engines, models: tuple[OfferedModel, ...]) -> tuple[ServedEngine, ...]:
    """One for each alias, but for those that are only the plain arm of another one."""
    plain = {alias.plain for alias in configured.engines.values() if isinstance(alias, Attached)}
    return tuple(_engine(name, alias, models) for name, alias in configured.engines.items() if name not in plain)


def _engine(name: str, alias: Alias, models: tuple[OfferedModel, ...]) -> ServedEngine:
    adapter = adapters()[alias.kind]
    return ServedEngine(
        name=name,
        kind=alias.kind,
        drafters=tuple(_part(adapter, way) for way in adapter.ways),
        models=tuple(dict.fromkeys(f"{model.source}:{model.name}" for model in models if servable(alias, model))),
        starts=adapter.launched,
        plain=not isinstance(alias, Attached) or alias.plain is not None,
        observed=any(shape.run is not None for shape in shapes() if shape.engine == alias.kind),
    )


def _part(adapter: type[Engine], way: type[Mode]) -> Part:
    """Its name and parameters are one object in the engine's own words, and two things in a spec."""
    schema: dict[str, Any] = way.model_json_schema()
    name = schema["properties"].pop("mode")["const"]
    required = [each for each in schema.get("required", []) if each != "mode"]
    kept = {"type": "object", "properties": schema["properties"], "additionalProperties": False} | ({"required": required} if required else {})
    return Part(name=name, summary=way.summary, schema=kept, memory=way.memory, shares_cache=False if adapter.launched else None)
