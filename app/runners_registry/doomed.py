"""What of a probe could only fail once a runner has begun, said when it is submitted."""

import re
from collections.abc import Iterator, Sequence

from app.domain.catalogue import Offer
from app.domain.probe import LastLayers, ProbeSpec
from app.domain.tokenizer import fingerprint_said
from app.errors import InvalidInput
from app.runners_registry.anatomy import Anatomy

Field = dict[str, str]


class ProbeCouldOnlyFail(InvalidInput):
    """This probe could only fail"""


def require(spec: ProbeSpec, model: Anatomy, offers: Sequence[Offer]) -> None:
    """Raises ProbeCouldOnlyFail naming the fields."""
    found = list(doomed(spec, model, offers))
    if found:
        raise ProbeCouldOnlyFail(" ".join(field["detail"] for field in found), fields=found)


def doomed(spec: ProbeSpec, model: Anatomy, offers: Sequence[Offer]) -> Iterator[Field]:
    """Nothing of what no offer and no run has told."""
    if isinstance(spec.ablation, LastLayers) and model.layers and spec.ablation.count >= max(model.layers):
        said = f"The model has {max(model.layers)} layers, and a probe leaves one of them at least; choose 1 to {max(model.layers) - 1}."
        yield {"pointer": "/ablation/count", "detail": said}
    if not isinstance(spec.ablation, LastLayers) and model.dense:
        said = "The attention of a hybrid can be left out, and this model has no other mixer; leave out its last layers, or choose a hybrid."
        yield {"pointer": "/ablation", "detail": said}
    yield from _tokenizer(spec, offers)


def _tokenizer(spec: ProbeSpec, offers: Sequence[Offer]) -> Iterator[Field]:
    """A fingerprint is held against the model's by the runner, which alone knows it."""
    same = [item for offer in offers for item in offer.models if (item.source, item.name) == (spec.model.source, spec.model.title)]
    names = {_plain(name) for item in same for name in (item.tokenizer, *item.aliases)}
    if same and fingerprint_said(spec.tokenizer) is None and _plain(spec.tokenizer) not in names:
        offered = " or ".join(sorted({item.tokenizer for item in same}))
        said = f"This model is not read with the tokenizer {spec.tokenizer}; it is offered with {offered}."
        yield {"pointer": "/tokenizer", "detail": said}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip().lower())
