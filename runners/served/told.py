"""One request to a served engine: what was heard of its answer and what the engine counted, as the counts of definitions § 1."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.counts import Counts
from app.domain.facts import digest_of
from app.domain.outside.reading import Reading
from runners.engine.external.answer import Answer
from runners.engine.external.engines.base import Rounds
from runners.engine.external.faults import EngineFault
from runners.engine.sequence import Request
from runners.protocol.arms import Decode

# Less than a step of any model takes, and more than a server takes to send what a step has given.
BURST_SECONDS = 0.001


@dataclass(frozen=True)
class Told:
    """`reading` is what the answer itself says; `moved` is what the engine's counters say of this request where it ran alone and nobody else's can be
    in them, with every step that carried no draft in `undrafted`, those of its prompt included; `prompt_steps` gives how many these are, when it is
    known. `past_limit`: the engine drafts past the token limit, so that an answer which ends there may have been cut within a round. Raises
    EngineFault, whenever it is asked, for counts that contradict each other."""

    request: Request
    answer: Answer
    plain: bool
    reading: Reading
    moved: Reading | None = None
    rounds: Rounds | None = None
    past_limit: bool = True
    prompt_steps: Callable[[], int | None] = lambda: None

    @property
    def emitted(self) -> int:
        if self.answer.emitted is None:
            raise self._fault("tells no number of tokens")
        return self.answer.emitted

    @property
    def sent_at(self) -> float:
        return self.answer.sent_at

    @property
    def step_end(self) -> Sequence[float]:
        return [at for at, _ in self._steps()]

    @property
    def drafted(self) -> int:
        """None is told as 0 here: whether anything was drafted at all is asked before, of the engine itself."""
        return self._pick("drafted") or 0

    @property
    def digest(self) -> str:
        """Over the ids; where a stream does not tell each of them, over the text and their number. Equal ids are told alike, so that answers with
        different digests are different answers."""
        if self.answer.ids is not None:
            return digest_of(self.answer.ids)
        return hashlib.sha256(json.dumps([self.answer.text, self.answer.emitted]).encode()).hexdigest()

    def text(self, decode: Decode) -> str:
        return self.answer.text if self.answer.ids is None else decode(self.answer.ids)

    def counted(self) -> dict[str, Any]:
        counts, steps = self._counts(), self._steps()
        drafted = counts.drafted
        return {
            "seed": self.request.seed,
            "planned_at": self.request.planned_at,
            "drafted": drafted,
            "drafted_source": "absent" if drafted is None else "nominal" if self.reading.drafted_source == "nominal" else "observed",
            "verified": counts.verified,
            "accepted": counts.accepted,
            "rounds": counts.rounds,
            "undrafted": counts.undrafted,
            "prefill_tokens": counts.prefill_tokens,
            "emitted": self.emitted,
            "discarded_bonus": counts.discarded_bonus,
            **self._by_round(counts),
            "step_end": tuple(at for at, _ in steps),
            "step_tokens": tuple(tokens for _, tokens in steps),
            "sent_at": self.sent_at,
            "first_at": steps[0][0],
            "last_at": steps[-1][0],
            "finish": self.answer.finish,
            "output_ids": self.answer.ids,
        }

    def _counts(self) -> Counts:
        counts = self._of_plain() if self.plain else self._of_speculative()
        wrong = counts.broken()
        closure = counts.closure(counts_before_stop=True)
        if closure.suspect:
            wrong.append(f"E = P + V + R + U − discarded {closure}")
        if wrong:
            raise self._fault("counts what contradicts itself: " + "; ".join(wrong))
        return counts

    def _of_plain(self) -> Counts:
        """Without drafts every token behind the prefill takes a step of its own."""
        if self._pick("drafted") or self._pick("rounds"):
            raise self._fault("drafts although it is the plain arm")
        prefill = self._pick("prefill_tokens")
        nothing: dict[str, Any] = dict.fromkeys(("rounds", "drafted", "verified", "accepted", "discarded_bonus"), 0)
        undrafted = None if prefill is None else self.emitted - prefill
        return Counts(requests=1, emitted=self.emitted, undrafted=undrafted, prefill_tokens=prefill, **nothing)

    def _of_speculative(self) -> Counts:
        known: dict[str, Any] = {name: self._pick(name) for name in ("rounds", "drafted", "verified", "prefill_tokens", "longest_draft")}
        undrafted = self._undrafted() if known["rounds"] is not None else None
        counts = Counts(requests=1, emitted=self.emitted, undrafted=undrafted, **known)
        accepted, bonus = delivered(counts)
        if accepted is None or (bonus and self.answer.finish == "length" and not self.past_limit):
            # Steps that no cut explains are not what they are taken for.
            surplus = undrafted is not None and lacking(counts) > 0
            return replace(counts, undrafted=None if surplus else undrafted)
        return replace(counts, accepted=accepted, discarded_bonus=bonus)

    def _undrafted(self) -> int | None:
        of_prompt = self.prompt_steps()
        if self.moved is None or self.moved.counts.undrafted is None or of_prompt is None or self.moved.counts.undrafted < of_prompt:
            return None
        return self.moved.counts.undrafted - of_prompt

    def _pick(self, name: str) -> int | None:
        """What the answer says, else what the counters say."""
        said: int | None = getattr(self.reading.counts, name)
        return said if said is not None or self.moved is None else getattr(self.moved.counts, name)

    def _by_round(self, counts: Counts) -> dict[str, tuple[int, ...]]:
        """A chain is as deep as it is long. How many sequences shared a step is known where there was one."""
        told = self.rounds
        whole = told is not None and (len(told.drafted), sum(told.drafted), sum(told.verified)) == (counts.rounds, counts.drafted, counts.verified)
        if told is None or not whole or 0 in told.drafted:
            return {}
        slots = (1,) * len(told.drafted) if self.moved is not None else ()
        return {"round_drafted": told.drafted, "round_verified": told.verified, "round_depth": told.drafted, "round_slots": slots}

    def _steps(self) -> list[tuple[float, int]]:
        """(when, how many tokens) came together. A piece without a count has one token where there are as many pieces as tokens."""
        pieces = self.answer.deliveries
        known = [(piece.at, piece.tokens) for piece in pieces if piece.tokens is not None]
        if len(known) == len(pieces) and known and sum(tokens for _, tokens in known) == self.emitted:
            return bursts(known)
        if len(pieces) == self.emitted > 0:
            return bursts([(piece.at, 1) for piece in pieces])
        raise self._fault("tells neither ids nor counts with its pieces, so that no token has a time")

    def _fault(self, said: str) -> EngineFault:
        return EngineFault("engine_counts", f"Of prompt {self.request.prompt} {self.reading.engine} {said}.")


def bursts(pieces: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Pieces that come one behind the other as deliveries. A server may send every token by itself although one step gave several: what follows
    sooner than a step can take came with what is before it, at the time at which that came."""
    found: list[tuple[float, int]] = []
    last = float("-inf")
    for at, tokens in pieces:
        found[-1:] = [(found[-1][0], found[-1][1] + tokens)] if found and at - last < BURST_SECONDS else [*found[-1:], (at, tokens)]
        last = at
    return found


def delivered(counts: Counts) -> tuple[int | None, int | None]:
    """(kept drafts that were delivered, bonus tokens that were not) of one request. An engine counts a round whole and then cuts the answer: what E
    lacks is the last round's bonus token and the drafts before it. None where that is not known, or where more is lacking than one round has."""
    if counts.verified is None or None in (counts.emitted, counts.prefill_tokens, counts.rounds, counts.undrafted):
        return None, None
    short = lacking(counts)
    if short == 0:
        return counts.verified, 0
    most = min(counts.verified, -1 if counts.longest_draft is None else counts.longest_draft)
    return (counts.verified - (short - 1), 1) if 0 < short <= most + 1 and counts.rounds else (None, None)


def lacking(counts: Counts) -> int:
    """P + V + R + U − E, of what is known."""
    parts = (counts.prefill_tokens, counts.verified, counts.rounds, counts.undrafted)
    return sum(part for part in parts if part is not None) - (counts.emitted or 0)
