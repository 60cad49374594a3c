"""What pre-flight finds of a run, whoever decodes it: its model, its tokenizer, and its prompts in the tokens of that."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Any

from app.domain.spec import RunSpec
from app.domain.suite import Selection
from app.domain.tokenizer import TokenizerIdentity
from runners.engine.sequence import Request
from runners.models.load import Located, context_of
from runners.protocol.second_model import SecondModel
from runners.workloads.suite import Prompt, Suite


@dataclass(frozen=True)
class Found:
    spec: RunSpec
    located: Located
    tokenizer: Any
    identity: TokenizerIdentity
    suite: Selection
    requests: list[Request]

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        return self.suite.prompts

    def told(self, dtype: str, second: SecondModel | None) -> dict[str, Any]:
        """The half of a PreflightFact, by the names of its fields, that does not hang on who decodes. A second model is computed with in
        the target's `dtype`."""
        template = self.tokenizer.chat_template if self.spec.chat_template == "model" else None
        return {
            **subject(self.located, dtype, self.identity, self.suite),
            "drafter_tokenizer": None if second is None else second.identity,
            **({} if second is None else _drafter(second.located, dtype)),
            "chat_template_digest": hashlib.sha256(template.encode()).hexdigest() if template else None,
            "suite_private": self.suite.private,
            "profiles": dict(Counter(prompt.profile for prompt in self.prompts)),
            "context_length": context_of(self.located),
        }


def subject(located: Located, dtype: str, identity: TokenizerIdentity, suite: Suite | Selection) -> dict[str, Any]:
    """What a Subject says of what was loaded and read, by the names of its fields."""
    return {
        "target": located.name,
        "revision": located.revision,
        "weights_digest": located.weights_digest,
        "dtype": dtype,
        "quantisation": located.quantisation,
        "tokenizer": identity,
        "suite_digest": suite.digest,
        "suite_version": suite.version,
    }


def _drafter(own: Located, dtype: str) -> dict[str, str | None]:
    return {
        "drafter_checkpoint": own.name,
        "drafter_revision": own.revision,
        "drafter_weights_digest": own.weights_digest,
        "drafter_dtype": dtype,
        "drafter_quantisation": own.quantisation,
    }
