"""The target that fits a model of transformers."""

from typing import Any

from runners.engine.families import is_recurrent
from runners.engine.hybrid_target import HybridTarget
from runners.engine.transformers_target import MARGIN, TransformersTarget

ModelTarget = TransformersTarget | HybridTarget


def target_of(model: Any, *, slots: int, context: int, eos: frozenset[int], margin: int = MARGIN) -> ModelTarget:
    """Raises UnsupportedModel for a family that this runner cannot run."""
    made = HybridTarget if is_recurrent(model.config.to_dict()) else TransformersTarget
    return made(model, slots=slots, context=context, eos=eos, margin=margin)
