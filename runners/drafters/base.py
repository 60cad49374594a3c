"""What proposes tokens. A drafter never verifies, counts, times or stops."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator
from torch import Tensor

from app.domain.drafting import crossed
from app.domain.observations import LearnedFact
from app.domain.spec import ModelSource
from runners.engine.companion import Companion
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.target import Stretch, Target
from runners.engine.tree import Look

Memory = Literal["request", "process"]
# Asked after each drafted token with its slot and the drafter's own probability of it: whether to draft another behind it.
More = Callable[[int, float], bool]


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        wrong = crossed(dict(self))
        if wrong is not None:
            raise ValueError(wrong)
        return self


class UnfitDrafter(ValueError):
    """The drafter's parameters do not fit this target; the message says how."""


class Drafter(ABC):
    """`memory` says whether anything outlives a request, where no parameter decides it; `needs` names what the loop must supply beyond tokens;
    `always_drafts` says that a proposal is never empty while there is room, so that a run without any draft is a failure and not a fact;
    `shares_cache` says that the draft reads the target's own keys and values; `knows_confidence` that it asks `more`, with a probability of its own
    for each token; `branches` that it says what stands behind any path, not only its own (`behind`); `trees` that its proposals branch; `opens` that
    it looks between the target's layers; `slices` that it drafts over a few entries of its cache; `routes` that it chooses among the target's
    experts; `hybrid` that it leaves out the attention of a target that has other mixers too; `learns` that what it proposes depends on the rounds of
    the request so far, not on its text alone."""

    name: ClassVar[str]
    summary: ClassVar[str]
    Params: ClassVar[type[BaseModel]] = Params
    needs: ClassVar[frozenset[str]] = frozenset()
    memory: ClassVar[Memory] = "request"
    always_drafts: ClassVar[bool] = False
    shares_cache: ClassVar[bool] = False
    knows_confidence: ClassVar[bool] = False
    branches: ClassVar[bool] = False
    trees: ClassVar[bool] = False
    opens: ClassVar[bool] = False
    slices: ClassVar[bool] = False
    routes: ClassVar[bool] = False
    hybrid: ClassVar[bool] = False
    learns: ClassVar[bool] = False

    def __init__(self, params: BaseModel, target: Target, chance: Chance | None = None) -> None:
        """A drafter with a distribution of its own draws from it by `chance`; one that draws must return the probabilities that it drew from."""
        if reason := self.unfit(target):
            raise UnfitDrafter(reason)
        self.params = params
        self.target = target
        self.chance = chance or Chance()
        self.companion: Companion | None = None

    @classmethod
    def unfit(cls, target: Target) -> str | None:
        """Why it cannot draft for such a target, whatever its parameters are."""
        if cls.opens and not target.opens:
            if target.attentions:
                return f"{cls.name} looks between the layers of a model, which this runner does not do where a recurrent state runs through them"
            return f"{cls.name} looks between the layers of a model, and {type(target).__name__} has none to look between"
        if cls.trees and not target.trees:
            return f"{cls.name} drafts trees, and the target's recurrent state goes along one path at a time; choose a drafter of chains"
        if cls.slices and not target.slices:
            return f"{cls.name} drafts over a slice of the cache, and much of what the target remembers is a recurrent state, which has no slices"
        if cls.routes and target.experts is None:
            return f"{cls.name} drafts with a part of the target's experts, and this target has none; choose a model that has experts"
        if cls.hybrid and not target.attentions:
            return f"{cls.name} leaves out the attention of a hybrid model, and the target has no other mixer; choose a hybrid, or another drafter"
        return None

    @classmethod
    def wants(cls, _: Any) -> ModelSource | None:
        """The model that it drafts with beside the target, if any. It is loaded in pre-flight and handed over as the argument `companion`."""
        return None

    @classmethod
    def crosses(cls, _: Any) -> bool:
        """Whether that model may have another tokenizer than the target."""
        return False

    @classmethod
    def remembers(cls, params: Any) -> Memory:
        """`memory` under these parameters."""
        return cls.source(params).memory

    @classmethod
    def source(cls, params: BaseModel) -> type["Drafter"]:
        """The drafter whose tokens these are, and of which `memory` and `shares_cache` hold: itself, unless it stands on another one."""
        del params
        return cls

    def forced(self) -> str | None:
        """Why every draft of these parameters is kept by construction, if it is: such an acceptance says nothing and is not measured."""
        return None

    def stretches(self, longest: int) -> set[Stretch]:
        """The passes through the target that a round with `longest` drafts makes, its verification among them; a target may compile them."""
        return {Stretch(0, self.target.layers, longest + 1)}

    def most(self, longest: int) -> int:
        """The most tokens that a round may put before the verifier where its longest path has `longest`."""
        return longest

    @classmethod
    def columns(cls, params: BaseModel, longest: int) -> int:
        """The most entries of a slot's cache that such a round writes behind the last committed token."""
        del params
        return longest

    def reset(self) -> None:  # noqa: B027 - a drafter with memory `request` has nothing to forget
        """Forgets everything across requests; called at the start of every trial."""

    def begin(self, slot: int, ids: Sequence[int]) -> None:  # noqa: B027 - most drafters read the batch alone
        """A sequence with these prompt ids took a slot."""

    @abstractmethod
    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        """At most `limits[r]` tokens one behind the other for row r; 0 for a row asks for none.

        Where `more` is given, a drafter that knows how sure it is asks it after each token, and ends the row's draft behind that token when the
        answer is no. The token itself stays: leaving out what was drawn because it was improbable would change what it was drawn from.
        """

    def learned(self) -> LearnedFact | None:
        """What it came to since the last `reset`, where it chooses as it goes and a passport is to say what."""
        return None

    def observe(self, batch: Batch, kept: Sequence[int]) -> None:  # noqa: B027
        """The verifier kept `kept[r]` drafts of row r; `batch` is as it was proposed for."""

    @property
    def exit_layer(self) -> int | None:
        """The layer at which the target's verification goes on from the states of `behind`; None where there are none."""
        return None

    def behind(self, batch: Batch, look: Look) -> tuple[Tensor, Tensor | None]:
        """Logits `[R, w, V]` behind tokens of a tree that grows, and the target's own states `[R, w, H]` at `exit_layer`. A tree is looked at from
        its root on, level by level; where it starts is the last committed token, and what was seen of an earlier tree of the slot is void."""
        raise NotImplementedError(f"{self.name} does not branch")
