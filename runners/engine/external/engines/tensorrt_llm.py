"""TensorRT-LLM where it runs already: answers over the OpenAI interface, drafts out of its metrics. Not yet run against the real engine."""

from typing import ClassVar

from app.domain.outside import openai, tensorrt_llm
from app.domain.outside.reading import Engine as Kind
from app.domain.outside.reading import Reading
from runners.engine.external.answer import Answer
from runners.engine.external.engines.base import Engine


class TensorRTLLM(Engine):
    name: ClassVar[Kind] = "tensorrt-llm"
    metrics = "/prometheus/metrics"
    prefix = tensorrt_llm.PREFIX

    def reading(self, answer: Answer) -> Reading:
        """An answer tells its length alone."""
        return openai.usage(answer.body).model_copy(update={"engine": self.name})

    def total(self, before: str, after: str, *, requests: int, prompt_steps: int | None = None) -> Reading:
        return tensorrt_llm.counters(self.moved(before, after), longest_draft=self.longest_draft)
