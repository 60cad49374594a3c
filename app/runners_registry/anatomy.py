"""How many layers a model has and what is left of it without its attention, as far as others than the asker told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.catalogue import Offer
from app.domain.spec import ModelSource


@dataclass(frozen=True)
class Anatomy:
    """Everything that was told, which is one number of `layers` unless somebody is wrong. `shares` are those of a plain step without attention;
    `dense` says that every offer that knows the model's layers knows of no other mixer in it."""

    layers: frozenset[int]
    shares: frozenset[float]
    dense: bool


def anatomy_of(model: ModelSource, offers: Sequence[Offer], measured: Iterable[int] = ()) -> Anatomy:
    offered = [item for offer in offers for item in offer.models if (item.source, item.name, item.file) == (model.source, model.title, model.file)]
    if model.source == "path":
        # A folder of the same name is another one on another machine, and may be another one by now.
        offered = []
    known = [item for item in offered if item.layers is not None and item.revision in (None, model.revision)]
    shares = frozenset(item.without_attention for item in known if item.without_attention is not None)
    return Anatomy(
        layers=frozenset(item.layers for item in known if item.layers is not None) | frozenset(measured),
        shares=shares,
        dense=bool(known) and not shares,
    )
