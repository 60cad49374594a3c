"""The architectures of the zoo by name, and models of them with weights drawn at random."""

from functools import cache
from typing import Any, cast

from app.discovery import values_of
from runners.zoo.models.base import Architecture


class NotInZoo(ValueError):
    """There is no model of that name in the zoo. The message names those that there are."""


@cache
def architectures() -> dict[str, Architecture]:
    return {found.name: found for found in values_of("runners.zoo.models", Architecture, "MODEL")}


def architecture(name: str) -> Architecture:
    """Raises NotInZoo."""
    found = architectures().get(name)
    if found is None:
        raise NotInZoo(f"the zoo has no {name!r}; it has {', '.join(architectures())}")
    return found


def build(name: str, seed: int) -> Any:
    """A causal language model of transformers in float32, as a training starts with it. Equal seeds give equal weights; the global seed stays.

    Raises NotInZoo.
    """
    import torch
    from transformers import AutoModelForCausalLM

    config, maker = architecture(name).config(), cast(Any, AutoModelForCausalLM)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return maker.from_config(config, dtype=torch.float32, attn_implementation="sdpa")
