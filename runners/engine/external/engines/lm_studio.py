"""LM Studio where it runs already, over the REST interface that tells its drafts; the draft model is named in each request. Not yet run against the
real engine."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, TypeAdapter

from app.domain.outside import lm_studio as told
from app.domain.outside.reading import Engine as Kind
from app.domain.outside.reading import Reading
from runners.engine.external.answer import Answer, Ask
from runners.engine.external.client import Posted
from runners.engine.external.engines.base import Engine, Mode, Plain


class DraftModel(Mode):
    """`draft` is what LM Studio calls the model."""

    summary = "drafts with a second, smaller model that has a cache of its own"
    mode: Literal["draft-model"]
    draft: Annotated[str, Field(min_length=1, max_length=256, title="Drafter's model", description="as LM Studio calls it")]


Modes = Annotated[Plain | DraftModel, Field(discriminator="mode")]


class LMStudio(Engine):
    name: ClassVar[Kind] = "lmstudio"
    ways = (DraftModel,)
    modes = TypeAdapter(Modes)
    unaltered = {"top_p": 1.0, "repeat_penalty": 1.0}

    def posted(self, ask: Ask) -> Posted:
        drafted = {"draft_model": self.mode.draft} if isinstance(self.mode, DraftModel) else {}
        return Posted("/api/v0/completions", {**super().posted(ask).body, **drafted})

    def reading(self, answer: Answer) -> Reading:
        return told.stats(answer.body)
