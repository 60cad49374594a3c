"""What is checked before the first trial; a run that fails here has measured nothing and says why."""

from collections.abc import Sequence as Many
from dataclasses import dataclass
from typing import Any

import psutil
import torch

from app.domain.compilation import Compilation
from app.domain.facts import PreflightFact
from app.domain.spec import GENERATIONS, RunSpec
from app.domain.tokenizer import TokenizerIdentity
from runners.engine.compiler import missing
from runners.engine.families import is_recurrent
from runners.engine.sequence import Request
from runners.environment import DTYPES, auto_dtype
from runners.models.allowlist import tokenizer_names
from runners.models.load import Located, cache_entry_bytes, config_of, context_of, state_bytes, weights_bytes
from runners.parts import Chosen
from runners.protocol.found import Found
from runners.protocol.second_model import Second
from runners.protocol.unmeasurable import Unmeasurable
from runners.workloads.language import verify_prompts
from runners.workloads.suite import Prompt
from runners.workloads.tokenizers import matches

# Seconds over which the requests of one trial may arrive.
LONGEST_ARRIVALS = 1800


def check_compiler(spec: RunSpec, device: torch.device) -> None:
    lacking = missing(device) if spec.compile else None
    if lacking is not None:
        raise Unmeasurable("no_compiler", f"The run asks for compiled forwards, and this machine lacks {lacking}. Install it, or leave compile out.")


def check_recurrence(spec: RunSpec, located: Located) -> None:
    if spec.compile and is_recurrent(config_of(located)):
        raise Unmeasurable("compiled_recurrence", "Forwards of a model with a recurrent state are not compiled; leave compile out.")


def check_tokenizer(spec: RunSpec, identity: TokenizerIdentity) -> None:
    """The submitter's belief against what the model really uses."""
    if not matches(spec.tokenizer, identity, tokenizer_names(spec.model)):
        raise Unmeasurable(
            "tokenizer_differs",
            f"The run stopped before measuring: you named {spec.tokenizer}, the model uses {identity.name} ({identity.fingerprint[:12]}).",
        )


def check_language(spec: RunSpec, prompts: Many[Prompt]) -> None:
    wrong = verify_prompts(prompts, spec.language)
    if wrong:
        named = ", ".join(f"{m.prompt} ({m.measured})" for m in wrong[:3])
        raise Unmeasurable("language_differs", f"The prompts are said to be in {spec.language}, but {len(wrong)} of {len(prompts)} are not: {named}.")


def encode(prompts: Many[Prompt], tokenizer: Any, spec: RunSpec) -> list[Request]:
    """Prompt ids, through the model's own chat template where the spec asks for it."""
    if spec.chat_template == "model" and not tokenizer.chat_template:
        raise Unmeasurable("no_chat_template", 'This model has no chat template; set chat_template to "none".')
    return [Request(prompt.id, tuple(_ids(prompt.text, tokenizer, spec)), spec.sampling.seed) for prompt in prompts]


def _ids(text: str, tokenizer: Any, spec: RunSpec) -> list[int]:
    if spec.chat_template == "none":
        return list(tokenizer(text)["input_ids"])
    turn = [{"role": "user", "content": text}]
    return list(tokenizer.apply_chat_template(turn, add_generation_prompt=True, tokenize=True, return_dict=True)["input_ids"])


def check_load(spec: RunSpec, prompts: Many[Prompt]) -> None:
    """A steady window runs from the first refill to the first idle slot; with few prompts its edges are all there is."""
    least = GENERATIONS * spec.load.concurrency
    if spec.load.regime == "closed" and len(prompts) < least:
        raise Unmeasurable("few_prompts", f"{spec.load.concurrency} requests at a time need at least {least} prompts; these are {len(prompts)}.")


def check_arrivals(spec: RunSpec, prompts: Many[Prompt]) -> None:
    """An open load at a very low rate measures a machine that stands still."""
    seconds = len(prompts) / spec.load.rate if spec.load.rate is not None else 0.0
    if seconds > LONGEST_ARRIVALS:
        least = len(prompts) / LONGEST_ARRIVALS
        raise Unmeasurable(
            "slow_arrivals",
            f"{len(prompts)} prompts at {spec.load.rate:g} a second take {seconds / 3600:.1f} hours to arrive in every trial; "
            f"ask for at least {least:.3g} a second, or for fewer prompts.",
        )


def context_needed(spec: RunSpec, requests: Many[Request], longest_draft: int, located: Located) -> int:
    """Tokens that a slot must hold: the longest prompt, the answer, and a draft behind it. Refused where the model allows fewer."""
    needed = max(len(r.ids) for r in requests) + spec.max_new_tokens + longest_draft + 1
    allowed = context_of(located)
    if needed > allowed:
        raise Unmeasurable("context_too_long", f"The longest prompt with its answer takes {needed} tokens; the model allows {allowed}.")
    return needed


def memory_needed(located: Located, dtype: torch.dtype, slots: int, context: int, *, loaded: bool, packed: int = 0) -> float:
    """Bytes of the weights as they lie on disk and once more in the wanted type, unless they are `loaded`, and of keys and values of every slot; and
    of the weights in the wanted type `packed` times more, once for each shape that they are compiled for. A recurrent state is as large for any
    context."""
    weights = 0 if loaded else weights_bytes(located)
    copies = packed * weights_bytes(located) * dtype.itemsize / 4
    return weights * (1 + 1.5 * dtype.itemsize / 4) + copies + slots * (context * cache_entry_bytes(located, dtype) + state_bytes(located))


def check_memory(needed: float) -> None:
    """Refuses what does not fit into the memory that is free."""
    free = psutil.virtual_memory().available
    if needed > free:
        raise Unmeasurable("out_of_memory", f"The run needs about {needed / 2**30:.1f} GiB of memory; {free / 2**30:.1f} GiB are free.")


def pick_dtype(spec: RunSpec, device: torch.device) -> torch.dtype:
    return DTYPES[auto_dtype(device) if spec.model.dtype == "auto" else spec.model.dtype]


@dataclass(frozen=True)
class Ready(Found):
    """What pre-flight found, ready to be measured."""

    chosen: Chosen
    dtype: torch.dtype
    context: int
    second: Second | None = None

    def fact(self, layers: int, engine_version: str, compiled: Compilation | None = None) -> PreflightFact:
        dtype = str(self.dtype).removeprefix("torch.")
        return PreflightFact(
            **self.told(dtype, self.second),
            layers=layers,
            drafter_memory=self.chosen.memory,
            timed_controller=self.chosen.control().timed,
            lossless=self.chosen.verifier.lossless,
            cache_dtype=dtype,
            shared_cache="observed" if self.chosen.source.shares_cache else "no draft cache" if self.second is None else "not shared",
            batched_verification="observed",
            engine_version=engine_version,
            compiled=compiled,
        )
