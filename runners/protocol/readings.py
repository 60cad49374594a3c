"""From finished sequences to facts; outside the clock, since reading text takes longer than decoding it."""

from typing import Any

from app.domain.facts import Purpose, RequestFact, digest_of
from app.domain.language import base_of
from runners.protocol.bench import Outcome
from runners.workloads.degenerate import is_degenerate, repeated_share
from runners.workloads.language import measure
from runners.workloads.suite import Prompt
from runners.workloads.words import count_words


class Reader:
    """Turns outcomes into facts. What an answer says of itself is read once per distinct answer: greedy repeats are mostly equal."""

    def __init__(self, tokenizer: Any, language: str, longest_draft: int) -> None:
        self.tokenizer, self.language, self.longest_draft = tokenizer, language, longest_draft
        self._read: dict[tuple[str, str], dict[str, Any]] = {}

    def fact(self, outcome: Outcome, prompt: Prompt, *, purpose: Purpose, trial: int) -> RequestFact:
        sequence = outcome.sequence
        assert sequence.finish is not None
        return RequestFact(
            arm=outcome.arm,
            purpose=purpose,
            trial=trial,
            order=outcome.order,
            prompt=prompt.id,
            profile=prompt.profile,
            parallel=prompt.parallel,
            answer_kind=prompt.answer,
            seed=sequence.request.seed,
            input_tokens=len(sequence.request.ids),
            prompt_tokens=len(self.tokenizer(prompt.text, add_special_tokens=False)["input_ids"]),
            prompt_characters=len(prompt.text),
            prompt_words=count_words(prompt.text, self.language),
            drafted=sequence.drafted,
            verified=sequence.verified,
            accepted=sequence.accepted,
            rounds=sequence.rounds,
            undrafted=sequence.undrafted,
            prefill_tokens=sequence.prefill_tokens,
            emitted=sequence.emitted,
            discarded_bonus=sequence.discarded_bonus,
            longest_draft=self.longest_draft,
            round_drafted=tuple(sequence.round_drafted),
            round_verified=tuple(sequence.round_verified),
            round_depth=tuple(sequence.round_drafted),
            round_slots=tuple(sequence.round_slots),
            step_end=tuple(sequence.step_end),
            step_tokens=tuple(sequence.step_tokens),
            planned_at=sequence.request.planned_at,
            sent_at=sequence.sent_at,
            first_at=sequence.step_end[0],
            last_at=sequence.step_end[-1],
            finish=sequence.finish,
            draft_layer_passes=sequence.passes.draft,
            verify_layer_passes=sequence.passes.verify,
            prefill_layer_passes=sequence.passes.prefill,
            output_ids=tuple(sequence.output),
            **self._answer(sequence.output, prompt),
        )

    def _answer(self, ids: list[int], prompt: Prompt) -> dict[str, Any]:
        digest = digest_of(ids)
        key = (prompt.id, digest)
        if key not in self._read:
            text = self.tokenizer.decode(ids, skip_special_tokens=True)
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
