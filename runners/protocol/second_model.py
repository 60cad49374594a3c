"""Pre-flight of a drafter's own model: where it lies, whether its tokenizer fits, and what it adds to the memory that a run needs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from app.domain.fit import compiled_alone
from app.domain.spec import RunSpec
from app.domain.tokenizer import TokenizerIdentity
from runners.engine.companion import Companion
from runners.engine.families import check_family, is_recurrent
from runners.engine.sequence import Request
from runners.engine.targets import ModelTarget
from runners.engine.transformers_target import MARGIN, TransformersTarget
from runners.engine.translation import Translation
from runners.models.allowlist import Allowlist
from runners.models.load import Located, config_of, context_of, load_tokenizer, locate_model
from runners.models.shelf import Shelf
from runners.parts import Chosen
from runners.protocol.unmeasurable import Unmeasurable
from runners.workloads.tokenizers import identify

# Beside the target's own context: a text is fed in pieces that are padded to the longest.
ROOM = 16
# Tokens of the drafter that a token of an answer may take, where its tokenizer is another.
STRETCH = 3


@dataclass(frozen=True)
class SecondModel:
    """The model that a run drafts with beside its target, whoever decodes."""

    located: Located
    identity: TokenizerIdentity


@dataclass(frozen=True)
class Second(SecondModel):
    """`context` is the longest text in its own tokens; `translates` says that these are not the target's."""

    tokenizer: Any
    context: int
    translates: bool


def second_of(
    spec: RunSpec, chosen: Chosen, target: TokenizerIdentity, requests: list[Request], context: int, decode: Any, where: tuple[Allowlist, Path]
) -> Second | None:
    """What the run's drafter drafts with beside the target; None for a drafter without a model of its own. `context` is what the target's slot holds,
    `decode` turns the target's ids into text. Raises Unmeasurable, and what locating a model raises."""
    asked = chosen.wants
    if asked is None:
        return None
    if spec.compile:
        raise Unmeasurable("compiled_drafter", compiled_alone(spec.drafter.name))
    located = locate_model(asked, *where)
    check_family(config_of(located))
    if is_recurrent(config_of(located)):
        raise Unmeasurable(
            "recurrent_drafter", "The drafter's model keeps a recurrent state, which is taken back for targets alone; choose a model without one."
        )
    tokenizer = load_tokenizer(located)
    identity = identify(tokenizer, located.name)
    translates = identity.fingerprint != target.fingerprint
    if translates and not chosen.drafter.crosses(chosen.drafter_params):
        raise Unmeasurable(
            "tokenizers_differ",
            f"The drafter's model has another tokenizer than the target: {identity.name} ({identity.fingerprint[:12]}) and {target.name} "
            f"({target.fingerprint[:12]}). Choose a model with the same one, or set cross_tokenizer to true to translate between them.",
        )
    needed, allowed = context + ROOM, context_of(located)
    if translates:
        texts = (len(tokenizer(decode(request.ids, skip_special_tokens=True))["input_ids"]) for request in requests)
        # What does not fit is not drafted, so that a drafter with a short context may still be measured on long texts.
        needed = min(max(texts) + STRETCH * (spec.max_new_tokens + ROOM), allowed)
    if needed > allowed + ROOM:
        raise Unmeasurable("context_too_long", f"The longest prompt with its answer takes {context} tokens; the drafter's model allows {allowed}.")
    return Second(located, identity, tokenizer, needed, translates)


def companion_of(second: Second, target: ModelTarget, tokenizer: Any, dtype: torch.dtype, shelf: Shelf, columns: int = 0) -> Companion:
    """The model, loaded beside the target in the same type. A round writes at most `columns` entries behind a text."""
    model = shelf.model(second.located, dtype, target.device).model
    own = TransformersTarget(model, slots=target.slots, context=second.context, eos=frozenset(), margin=max(MARGIN, columns))
    translation = Translation(tokenizer, second.tokenizer, (target.vocabulary, own.vocabulary)) if second.translates else None
    return Companion(own, translation, twin=model is target.model, key=f"{second.located.folder}")
