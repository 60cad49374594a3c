"""The answers that Spec-Bench's evaluation writes, one question a line (read from its source of 2025-04).

A length there is the tokens of one verification, the target's own among them: so V = Σ(length − 1) and R is how many there are. A step that had no
draft to verify is one too, so that U is 0; of drafted tokens nothing is told. Each choice has its turns, whose lengths stand in one list."""

from collections import Counter

from app.domain.counts import Counts
from app.domain.outside.imported import Carried, Imported, Request
from app.domain.outside.untrusted import LONGEST_DRAFT
from app.domain.sentence import plain
from app.imports.formats._build import absent, gathered, one_name, reading, together
from app.imports.formats._node import Node, bodies, first_object
from app.imports.formats.base import Document, Format

NAME = "spec-bench"
TOOL = "Spec-Bench"
# What stands in place of an answer whose generation failed; its numbers are those of the answer before, written once more.
_FAILED = "ERROR"


def _looks_like(document: Document) -> bool:
    choices = first_object(document).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and {"new_tokens", "accept_lengths"} <= first.keys()


def _read(document: Document) -> Imported:
    answers = bodies(document)
    whole = [each for each in answers if not _failed(each)]
    lengths = [_lengths(each) for each in whole]
    # The baseline writes a length of 1 for each token.
    kept = any(length > 1 for each in lengths for length in each)
    requests = gathered(_request(answer, own if kept else None) for answer, own in zip(whole, lengths, strict=True))
    failed = len(answers) - len(whole)
    remarks = [
        plain("A step without a draft counts as a round in this file, and what was drafted is not told: acceptance V/D cannot be formed.")
        if kept
        else plain("No step of this file kept a draft: plain decoding and drafts that were all refused look alike in it, so rounds are not told.")
    ]
    if failed:
        remarks.append(plain("%(failed)s answers failed; the file repeats the numbers of others for them, so they are left out.", failed=failed))
    texts = [turn.value for each in whole for turn in _turns(each) if isinstance(turn.value, str)]
    return together(NAME, TOOL, requests, Carried(target=one_name(answers, "model_id")), texts=texts, remarks=remarks)


def _turns(answer: Node) -> list[Node]:
    return [turn for choice in answer.need("choices").entries() if (turns := choice.at("turns")) for turn in turns.entries()]


def _failed(answer: Node) -> bool:
    return any(turn.value == _FAILED for turn in _turns(answer))


def _lengths(answer: Node) -> list[int]:
    found = [each for choice in answer.need("choices").entries() for each in choice.need("accept_lengths").entries()]
    for each in found:
        if each.as_count() < 1:
            each.wrong(plain("This is to be 1 at least: the target's own token is in it."))
    return [each.as_count() for each in found]


def _request(answer: Node, lengths: list[int] | None) -> Request:
    emitted = [each.as_count() for choice in answer.need("choices").entries() for each in choice.need("new_tokens").entries()]
    counts = Counts(
        requests=len(emitted),
        emitted=sum(emitted),
        rounds=None if lengths is None else len(lengths),
        drafted=None,
        verified=None if lengths is None else sum(lengths) - len(lengths),
        undrafted=None if lengths is None else 0,
        histogram=None if lengths is None else _histogram(lengths),
    )
    looked_for = ("rounds", "drafted", "verified") if lengths is None else ("drafted",)
    told = reading("transformers", NAME, counts, absent(**dict.fromkeys(looked_for, "accept_lengths")))
    return Request(name=answer.need("question_id").as_name(), reading=told, emitted_by="new_tokens")


def _histogram(lengths: list[int]) -> tuple[int, ...] | None:
    """Rounds by the drafts that they kept; None where one kept more than any drafter writes."""
    found = Counter(lengths)
    longest = max(found, default=1)
    return tuple(found[length] for length in range(1, longest + 1)) if longest <= LONGEST_DRAFT else None


FORMAT = Format(NAME, TOOL, ("emitted", "rounds", "verified", "histogram"), _looks_like, _read, singles=True)
