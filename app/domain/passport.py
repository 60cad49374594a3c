"""The passport without which no figure exists (definitions § 5)."""

from typing import Annotated

from pydantic import Field

from app.domain.facts import EnvironmentFact, PreflightFact
from app.domain.language import Language
from app.domain.spec import Choice, Load, RunSpec, Sampling
from app.domain.tokenizer import TokenizerIdentity
from app.domain.value import Value

DEFINITION = "bezmen-1"
# Behind the name of a quantisation whose weights are made into numbers of the dtype before anything is computed with them.
DEQUANTISED = " (dequantised)"


def stays_quantised(quantisation: str | None) -> bool:
    """Whether an engine computes with the quantised weights as they lie: then the dtype is that of what goes from one operation to the next."""
    return quantisation is not None and not quantisation.endswith(DEQUANTISED)


def precision(dtype: str, quantisation: str | None) -> str:
    """What answers were computed in, in a word."""
    return quantisation if quantisation is not None and stays_quantised(quantisation) else dtype


class Passport(Value):
    """What a figure was measured on. `language` and both tokenizers are required by the type; `answer_language` maps a tag to a share of requests."""

    definition: str = DEFINITION
    target: str
    revision: str | None
    weights_digest: str | None
    dtype: str
    quantisation: str | None
    parallel_layout: str
    drafter: Choice
    drafter_checkpoint: str | None
    drafter_revision: str | None = None
    drafter_weights_digest: str | None = None
    drafter_dtype: str | None = None
    drafter_quantisation: str | None = None
    drafter_memory: str
    controller: Choice
    language: Language
    answer_language: dict[str, float]
    tokenizer: TokenizerIdentity
    drafter_tokenizer: TokenizerIdentity
    suite: str
    suite_version: str
    suite_digest: str
    profiles: dict[str, int]
    chat_template_digest: str | None
    thinking: str | None
    sampling: Sampling
    verifier: Choice
    lossless: bool
    stop: tuple[str, ...]
    ignore_eos: bool
    max_new_tokens: Annotated[int, Field(ge=1)]
    context_length: int | None
    load: Load
    prefix_cache: str
    cache_dtype: str
    shared_cache: str
    batched_verification: str
    engine: str
    compile: bool = False
    engine_version: str
    engine_build: str | None = None
    engine_command: tuple[str, ...] = ()
    engine_arguments: tuple[str, ...] = ()
    hardware: str
    hardware_digest: str

    @property
    def tokenizers_agree(self) -> bool:
        return self.tokenizer.fingerprint == self.drafter_tokenizer.fingerprint


def issue(spec: RunSpec, seen: PreflightFact, machine: EnvironmentFact, answers: dict[str, float], hardware_digest: str) -> Passport:
    """The passport of a run, from what was asked and what was seen. A drafter without a tokenizer of its own reads the target's ids."""
    shared = {name: getattr(seen, name) for name in Passport.model_fields if name in PreflightFact.model_fields and name != "kind"}
    return Passport(
        **shared
        | {"drafter_tokenizer": seen.drafter_tokenizer or seen.tokenizer}
        | {
            name: getattr(spec, name)
            for name in (
                "drafter",
                "controller",
                "language",
                "sampling",
                "verifier",
                "stop",
                "ignore_eos",
                "max_new_tokens",
                "load",
                "engine",
                "compile",
            )
        },
        suite=spec.suite.id,
        answer_language=answers,
        hardware=machine.device,
        hardware_digest=hardware_digest,
    )
