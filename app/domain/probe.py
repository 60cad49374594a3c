"""What is asked of a probe, and what a runner finds: how much a model's text suffers from what a drafter would leave out.

Nothing is drafted. The full model and the one without a part of it read the same texts, and are compared token by token.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.domain.bounds import Short
from app.domain.facts import EnvironmentFact
from app.domain.language import Language
from app.domain.spec import ModelSource, Name, Text
from app.domain.subject import Subject
from app.domain.value import Value

# Fewer tokens of a language say too little of it.
FEWEST_TOKENS = 2000
# Tokens of a text that are read, from its beginning on: one long text is no stand-in for many.
LONGEST_TEXT = 256
LARGEST_LOSS = 1e7
# Nats that a token may cost: a probability of 1e-217, beyond anything that a softmax in float32 tells apart.
MOST_NATS = 500.0
# Of the families that run here a hybrid without its attention keeps half of its layers at least.
LEAST_WITHOUT_ATTENTION = 0.5


class LastLayers(Value):
    """The last `count` layers are left out, as the drafter layerskip leaves them out."""

    kind: Literal["last"] = "last"
    count: Annotated[int, Field(ge=1, le=511)]


class Component(Value):
    """The attention of a hybrid model is left out, as the drafter component leaves it out."""

    kind: Literal["component"] = "component"


Ablation = Annotated[LastLayers | Component, Field(discriminator="kind")]


def share_of(ablation: LastLayers | Component, layers: int, told: float | None) -> float | None:
    """What a draft token costs in layers run, as a share of a plain step: computed from the model's layers where those decide it, else as `told`."""
    return (layers - ablation.count) / layers if isinstance(ablation, LastLayers) else told


class ProbeSpec(Value):
    """A model without a part of it against itself, on the prompts of one of our own suites. Languages and tokenizer have no default: without them
    nothing that is said of acceptance could be read. `limit` prompts are taken in each language, evenly over the profiles."""

    model: ModelSource
    languages: Annotated[tuple[Language, ...], Field(min_length=1, max_length=8)]
    tokenizer: Text
    ablation: Ablation
    suite: Name = "parallel-v2"
    limit: Annotated[int, Field(ge=1, le=1000)] = 32

    @model_validator(mode="after")
    def _each_language_once(self) -> Self:
        if len(set(self.languages)) < len(self.languages):
            raise ValueError("every language is named once")
        return self


class ProbeText(Value):
    """One text. Behind each of its first `tokens` tokens both models say what comes next: `loss` and `ablated_loss` are the sums of −log p of what
    does come, in nats, and `agreeing` has a 1 where both think the same token the likeliest."""

    language: Language
    prompt: Short
    tokens: Annotated[int, Field(ge=1, le=LONGEST_TEXT)]
    loss: Annotated[float, Field(ge=0, le=LARGEST_LOSS)]
    ablated_loss: Annotated[float, Field(ge=0, le=LARGEST_LOSS)]
    agreeing: Annotated[str, Field(pattern=r"^[01]+$", max_length=LONGEST_TEXT)]

    @model_validator(mode="after")
    def _one_for_each_token(self) -> Self:
        if len(self.agreeing) != self.tokens:
            raise ValueError("agreeing has one digit for each token")
        return self


class ProbeFound(Subject):
    """Everything that a runner found. `draft_share` is what a draft token costs in layers run, as a share of a plain step; None where that is not
    known. No figure is made of it where the layers alone decide it (`share_of`)."""

    environment: EnvironmentFact
    draft_share: Annotated[float, Field(ge=0, le=1)] | None
    texts: Annotated[tuple[ProbeText, ...], Field(min_length=1, max_length=8000)]

    def tokens(self, language: Language) -> int:
        return sum(text.tokens for text in self.texts if text.language == language)


class ProbeEnd(Value):
    """How an attempt ended: with what was `found`, or with a `reason` for a person and a `code` for a program."""

    found: ProbeFound | None = None
    code: Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")] = "measured"
    reason: Annotated[str, Field(max_length=2000)] = ""
    retry_makes_sense: bool = False

    @model_validator(mode="after")
    def _found_or_failed(self) -> Self:
        if self.found is None and not self.reason:
            raise ValueError("an attempt that found nothing says why")
        return self


class ProbeLease(Value):
    """A probe that a runner holds for `lease_seconds` from the moment of the answer, and the token that is good for this attempt alone."""

    probe: int
    attempt: int
    token: str
    spec: ProbeSpec
    lease_seconds: float
    beat_seconds: float
