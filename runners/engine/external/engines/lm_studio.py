"""LM Studio where it runs already, over the REST interface that tells its drafts. Not yet run against the real engine."""

from typing import Any, ClassVar

from app.domain.outside import lm_studio as told
from app.domain.outside.reading import Engine as Kind
from app.domain.outside.reading import Reading
from runners.engine.external.answer import Answer, Ask
from runners.engine.external.client import Posted
from runners.engine.external.engines.base import Engine, Mode


class LMStudio(Engine):
    name: ClassVar[Kind] = "lmstudio"

    def posted(self, ask: Ask) -> Posted:
        posted = super().posted(ask)
        body: dict[str, Any] = {**posted.body}
        return Posted("/api/v0/completions", body)

    def reading(self, answer: Answer, mode: Mode) -> Reading:
        return told.stats(answer.body)
