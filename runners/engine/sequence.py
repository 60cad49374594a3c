"""One request on its way through the loop: its tokens and its counts, counted here and nowhere else."""

from collections.abc import Callable
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from typing import Any

from app.domain.facts import digest_of
from runners.engine.stops import Ending, StopRules
from runners.engine.target import Passes


@dataclass(frozen=True)
class Request:
    """What is decoded: `prompt` names it in the suite, `ids` are the prompt's tokens."""

    prompt: str
    ids: tuple[int, ...]
    seed: int = 0
    planned_at: float | None = None


@dataclass
class Sequence:
    """Counts of definitions § 1 for one request. `ids` are prompt and delivered output; per-round lists: an entry a round that carried a draft."""

    request: Request
    slot: int
    sent_at: float
    ids: list[int]
    passes: Passes = field(default_factory=Passes)
    drafted: int = 0
    verified: int = 0
    accepted: int = 0
    undrafted: int = 0
    prefill_tokens: int = 0
    discarded_bonus: int = 0
    round_drafted: list[int] = field(default_factory=list)
    round_verified: list[int] = field(default_factory=list)
    round_depth: list[int] = field(default_factory=list)
    round_slots: list[int] = field(default_factory=list)
    round_step: list[int] = field(default_factory=list)
    step_end: list[float] = field(default_factory=list)
    step_tokens: list[int] = field(default_factory=list)
    finish: Ending | None = None

    @property
    def output(self) -> list[int]:
        return self.ids[len(self.request.ids) :]

    @property
    def emitted(self) -> int:
        return len(self.ids) - len(self.request.ids)

    @property
    def digest(self) -> str:
        return digest_of(self.output)

    def text(self, decode: Callable[[Many[int]], str]) -> str:
        return decode(self.output)

    @property
    def rounds(self) -> int:
        return len(self.round_drafted)

    def take_prefill(self, token: int, rules: StopRules, now: float) -> None:
        delivered = self._deliver([token], rules, now)
        self.prefill_tokens += len(delivered)

    def take_step(self, drafted: int, kept: list[int], behind: int, slots: int, rules: StopRules, now: float, *, depth: int | None = None) -> None:
        """One decode step: `kept` drafts in front of the target's own token `behind`. `depth` is the longest path of the draft; without it the draft
        was a chain, as deep as it is long."""
        delivered = self._deliver([*kept, behind], rules, now)
        if drafted:
            self.drafted += drafted
            self.verified += len(kept)
            self.accepted += min(len(delivered), len(kept))
            self.round_drafted.append(drafted)
            self.round_verified.append(len(kept))
            self.round_depth.append(drafted if depth is None else depth)
            self.round_slots.append(slots)
            self.round_step.append(len(self.step_tokens) - 1)
        else:
            self.undrafted += 1
        self.discarded_bonus += len(delivered) <= len(kept)

    def _deliver(self, fresh: list[int], rules: StopRules, now: float) -> list[int]:
        delivered, self.finish = rules.cut(self.output, fresh)
        self.ids.extend(delivered)
        self.step_end.append(now)
        self.step_tokens.append(len(delivered))
        return delivered

    def counted(self) -> dict[str, Any]:
        """What the loop counted and when, by the names of a request's fact."""
        return {
            "seed": self.request.seed,
            "planned_at": self.request.planned_at,
            "drafted": self.drafted,
            "verified": self.verified,
            "accepted": self.accepted,
            "rounds": self.rounds,
            "undrafted": self.undrafted,
            "prefill_tokens": self.prefill_tokens,
            "emitted": self.emitted,
            "discarded_bonus": self.discarded_bonus,
            "round_drafted": tuple(self.round_drafted),
            "round_verified": tuple(self.round_verified),
            "round_depth": tuple(self.round_depth),
            "round_slots": tuple(self.round_slots),
            "round_step": tuple(self.round_step),
            "step_end": tuple(self.step_end),
            "step_tokens": tuple(self.step_tokens),
            "sent_at": self.sent_at,
            "first_at": self.step_end[0],
            "last_at": self.step_end[-1],
            "finish": self.finish,
            "draft_layer_passes": None if self.passes.foreign else self.passes.drafted,
            "verify_layer_passes": self.passes.verified,
            "prefill_layer_passes": self.passes.prefill,
            "experts_read": self.passes.experts_read,
            "experts_chosen": self.passes.experts_chosen,
            "output_ids": tuple(self.output),
        }
