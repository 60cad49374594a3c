"""From finished sequences to facts; outside the clock, since reading text takes longer than decoding it."""

from typing import Any

from app.domain.bounds import Purpose
from app.domain.degenerate import is_degenerate, repeated_share
from app.domain.facts import RequestFact
from app.domain.language import base_of
from runners.protocol.arms import Decoded, Outcome
from runners.workloads.language import measure
from runners.workloads.suite import Prompt
from runners.workloads.words import count_words


class Reader:
    """Turns outcomes into facts. What an answer says of itself is read once per distinct answer: greedy repeats are mostly equal."""

    def __init__(self, tokenizer: Any, language: str) -> None:
        self.tokenizer, self.language = tokenizer, language
        self._read: dict[tuple[str, str], dict[str, Any]] = {}

    def fact(self, outcome: Outcome, prompt: Prompt, *, order: int, longest_draft: int | None, purpose: Purpose, trial: int) -> RequestFact:
        sequence = outcome.sequence
        return RequestFact(
            arm=outcome.arm,
            purpose=purpose,
            trial=trial,
            order=order,
            prompt=prompt.id,
            profile=prompt.profile,
            parallel=prompt.parallel,
            answer_kind=prompt.answer,
            input_tokens=len(sequence.request.ids),
            prompt_tokens=len(self.tokenizer(prompt.text, add_special_tokens=False)["input_ids"]),
            prompt_characters=len(prompt.text),
            prompt_words=count_words(prompt.text, self.language),
            longest_draft=longest_draft,
            **sequence.counted(),
            **self._answer(sequence, prompt),
        )

    def _answer(self, sequence: Decoded, prompt: Prompt) -> dict[str, Any]:
        digest = sequence.digest
        key = (prompt.id, digest)
        if key not in self._read:
            # A model may say the one character that cannot be stored.
            text = sequence.text(lambda ids: str(self.tokenizer.decode(ids, skip_special_tokens=True))).replace("\0", "\ufffd")
            spoken = measure(text, declared=self.language, quoted=prompt.text)
            self._read[key] = {
                "output_digest": digest,
                "output_text": text[:100_000],
                "output_characters": len(text),
                "output_words": count_words(text, self.language),
                "answer_language": None if spoken.language is None else base_of(spoken.language),
                "answer_letters": spoken.letters,
                "repeated_share": repeated_share(text),
                "degenerate": is_degenerate(text),
            }
        return self._read[key]
