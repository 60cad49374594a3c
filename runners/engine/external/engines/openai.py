"""Any server of the OpenAI interface that runs already. It tells how many tokens it delivered, and nothing of its drafts."""

from typing import ClassVar

from app.domain.outside import openai as told
from app.domain.outside.reading import Engine as Kind
from app.domain.outside.reading import Reading
from runners.engine.external.answer import Answer
from runners.engine.external.client import Client
from runners.engine.external.engines.base import Engine


class OpenAI(Engine):
    name: ClassVar[Kind] = "openai"

    def reading(self, answer: Answer) -> Reading:
        return told.usage(answer.body)

    async def check_speculation(self, client: Client) -> None:
        """Nobody can know: the server counts no drafts."""
