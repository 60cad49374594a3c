"""SGLang where it runs already, over its own /generate, which tells the rounds and drafts of a request. Not yet run against the real engine."""

from collections.abc import Mapping
from typing import Any, ClassVar

from app.domain.outside import sglang as told
from app.domain.outside.reading import Engine as Kind
from app.domain.outside.reading import Reading
from app.domain.outside.streamed import Event, sglang_event
from runners.engine.external.answer import Answer, Ask
from runners.engine.external.client import Client, Posted
from runners.engine.external.engines.base import Engine


class SGLang(Engine):
    """`server` is what /server_info told when its version was asked for: without it drafts may be chains or trees."""

    name: ClassVar[Kind] = "sglang"
    unaltered = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
    server: told.Server | None = None

    def posted(self, ask: Ask) -> Posted:
        sampling: dict[str, Any] = {"max_new_tokens": ask.most_tokens, "temperature": ask.temperature, "ignore_eos": ask.ignore_eos, **self.unaltered}
        sampling |= {"stop": list(ask.stop)} if ask.stop else {}
        sampling |= {} if ask.seed is None else {"sampling_seed": ask.seed}
        prompt = {"text": ask.prompt} if isinstance(ask.prompt, str) else {"input_ids": list(ask.prompt)}
        return Posted("/generate", {**prompt, "sampling_params": sampling, "stream": ask.stream})

    def event(self, data: Mapping[str, object], text: str, ids: int, ask: Ask) -> Event:
        return sglang_event(data, text, ids)

    def reading(self, answer: Answer) -> Reading:
        return told.meta_info(answer.body, server=self.server)

    async def version(self, client: Client) -> str | None:
        self.server = told.server_info(await client.told("/server_info"))
        return self.server.version
