"""What a target says of a text when a part of it is left out: how much that part matters, before anything is drafted without it."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from runners.engine.target import Target


class UnfitAblation(ValueError):
    """The target has no such part to leave out; the message says why."""


@dataclass(frozen=True)
class Component:
    """The attention of a hybrid model, in every layer that has it; what the drafter `component` drafts without."""


@dataclass(frozen=True)
class LastLayers:
    """The last `count` layers; the model's own norm and head stand behind those that are left. 0 leaves nothing out."""

    count: int


Ablation = Component | LastLayers


def logits(target: Target, ids: Sequence[int], ablation: Ablation) -> Tensor:
    """Logits `[n, V]` behind each of the `n` tokens `ids`, each of which sees those before it, in one forward from an empty text.

    They are `n · V` numbers at once, so a long text is to be cut into pieces. What the target's first slot held is void. Raises UnfitAblation where
    the target has no such part, and ValueError where the ids do not fit into its context.
    """
    if isinstance(ablation, Component):
        if not target.attentions:
            raise UnfitAblation("the model is no hybrid: it has no attention beside or between other mixers that could be left out")
        return target.scores(ids, target.layers, frozenset(target.attentions))
    if not (target.opens or target.attentions):
        raise UnfitAblation(f"{type(target).__name__} has no layers to leave out")
    if not 0 <= ablation.count < target.layers:
        raise UnfitAblation(f"{ablation.count} layers cannot be left out of {target.layers}; at least one is to be left")
    return target.scores(ids, target.layers - ablation.count)
