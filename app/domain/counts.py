"""The eight counts of a request, their identities, and whether they close (definitions § 1)."""

from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Literal

ClosureKind = Literal["closes", "overshoot", "undrafted_implied", "open", "unknown"]


@dataclass(frozen=True)
class Closure:
    """How E compares with P + V + R + U; `gap` is what is left over, in tokens. `prefill` is the P that closes it."""

    kind: ClosureKind
    gap: int
    prefill: int | None = None

    @property
    def suspect(self) -> bool:
        return self.kind == "open"

    def __str__(self) -> str:
        return {
            "closes": "closes",
            "overshoot": f"closes with overshoot {-self.gap}",
            "undrafted_implied": f"closes with at least {self.gap} undrafted steps",
            "open": f"does not close by {abs(self.gap)}",
            "unknown": "cannot be checked: a count is missing",
        }[self.kind]


@dataclass(frozen=True)
class Counts:
    """Totals over `requests` requests. None is a count that its source did not give; it is never 0.

    `kept_at[i]` counts the rounds that kept more than i drafts, `drafted_at[i]` those that drafted more, and `tried_at[i]` those of them that kept
    the i drafts before, where a source gives them by position.
    """

    requests: int
    emitted: int | None
    rounds: int | None
    drafted: int | None
    verified: int | None
    accepted: int | None = None
    undrafted: int | None = None
    prefill_tokens: int | None = None
    discarded_bonus: int | None = None
    longest_draft: int | None = None
    histogram: tuple[int, ...] | None = None
    kept_at: tuple[int, ...] | None = None
    drafted_at: tuple[int, ...] | None = None
    tried_at: tuple[int, ...] | None = None

    def broken(self) -> list[str]:
        """The identities that these counts break, each named; empty when none is."""
        found = [text for held, text in self._rules() if not held]
        if self.histogram is not None:
            if self.rounds is not None and sum(self.histogram) != self.rounds:
                found.append(f"the histogram counts {sum(self.histogram)} rounds, R is {self.rounds}")
            kept = sum(j * n for j, n in enumerate(self.histogram))
            if self.verified is not None and kept != self.verified:
                found.append(f"the histogram keeps {kept} drafts, V is {self.verified}")
        deepest = self._deepest()
        if deepest is not None and self.longest_draft is not None and deepest > self.longest_draft:
            found.append(f"a round keeps {deepest} drafts, the longest draft has {self.longest_draft}")
        return found + self._broken_by_position() + self._broken_by_depth()

    def _broken_by_position(self) -> list[str]:
        if self.kept_at is None:
            return []
        found = []
        if any(after > before for before, after in pairwise(self.kept_at)):
            found.append("more rounds keep a later draft than an earlier one")
        if self.rounds is not None and self.kept_at and self.kept_at[0] > self.rounds:
            found.append(f"{self.kept_at[0]} rounds keep a first draft, R is {self.rounds}")
        if self.verified is not None and sum(self.kept_at) != self.verified:
            found.append(f"the positions keep {sum(self.kept_at)} drafts, V is {self.verified}; several engine ranks were perhaps not added up")
        return found

    def _broken_by_depth(self) -> list[str]:
        if self.drafted_at is None:
            return []
        found = []
        if any(after > before for before, after in pairwise(self.drafted_at)):
            found.append("more rounds draft a later token than an earlier one")
        if self.rounds is not None and self.drafted_at and self.drafted_at[0] != self.rounds:
            found.append(f"{self.drafted_at[0]} rounds draft a first token, R is {self.rounds}")
        if self.drafted is not None and sum(self.drafted_at) != self.drafted:
            found.append(f"the positions draft {sum(self.drafted_at)} tokens, D is {self.drafted}")
        if any(kept > drafted for kept, drafted in zip_longest(self.kept_at or (), self.drafted_at, fillvalue=0)):
            found.append("more rounds keep a draft than make one at the same position")
        tried = zip_longest(self.kept_at or (), self.tried_at or (), self.drafted_at, fillvalue=0)
        if self.tried_at is not None and any(not kept <= own <= drafted for kept, own, drafted in tried):
            found.append("rounds that reach a position are fewer than keep it, or more than draft it")
        return found

    def _rules(self) -> list[tuple[bool, str]]:
        def least(low: int | None, high: int | None, text: str) -> tuple[bool, str]:
            return low is None or high is None or low <= high, text

        longest = None if self.rounds is None or self.longest_draft is None else self.rounds * self.longest_draft
        return [
            least(
                self.verified, self.drafted, f"V ≤ D is broken: {self.verified} kept of {self.drafted} drafted; the bonus token was probably counted"
            ),
            least(self.accepted, self.verified, f"A ≤ V is broken: {self.accepted} delivered of {self.verified} kept"),
            least(self.accepted, self.emitted, f"A ≤ E is broken: {self.accepted} drafts delivered of {self.emitted} tokens"),
            least(self.drafted, longest, f"D ≤ R·k is broken: {self.drafted} drafted in {self.rounds} rounds of at most {self.longest_draft}"),
            (min((c for c in (*self._all(), *(self.histogram or ()), *(self.kept_at or ())) if c is not None), default=0) >= 0, "a count is below 0"),
        ]

    def _all(self) -> tuple[int | None, ...]:
        return (self.emitted, self.rounds, self.drafted, self.verified, self.accepted, self.undrafted, self.prefill_tokens, self.discarded_bonus)

    def closure(self, *, counts_before_stop: bool = False) -> Closure:
        """Whether E = P + V + R + U up to what is known.

        An unknown P may be anything in [0, N]. `counts_before_stop` says that the engine is known to count before its stop check,
        so that up to N·k kept tokens may never have been emitted.
        """
        if self.emitted is None or self.rounds is None or self.verified is None:
            return Closure("unknown", 0)
        steps = self.verified + self.rounds + (self.undrafted or 0)
        discarded = None if self.accepted is None or self.discarded_bonus is None else self.verified - self.accepted + self.discarded_bonus
        rest = self.emitted - steps + (discarded or 0)
        prefill = self.prefill_tokens
        if prefill is None:
            # Most engines emit one token from the prefill; only a smaller rest says that this one did not.
            prefill = rest if 0 <= rest <= self.requests else self.requests
        return self._judge(rest - prefill, prefill, counts_before_stop and discarded is None)

    def _judge(self, gap: int, prefill: int, overshoots: bool) -> Closure:
        if gap == 0:
            return Closure("closes", 0, prefill)
        longest = self._longest()
        if gap < 0 and overshoots and longest is not None and gap >= -self.requests * longest:
            return Closure("overshoot", gap, prefill)
        if gap > 0 and self.undrafted is None:
            return Closure("undrafted_implied", gap, prefill)
        return Closure("open", gap, prefill)

    def _longest(self) -> int | None:
        """The longest draft; where it is not told, the most that a round is seen to have kept, as no more than that can be cut off."""
        return self._deepest() if self.longest_draft is None else self.longest_draft

    def _deepest(self) -> int | None:
        """The most that a round is seen to have kept."""
        kept = self.kept_at if self.kept_at is not None else None if self.histogram is None else self.histogram[1:]
        return None if kept is None else max((place for place, rounds in enumerate(kept, 1) if rounds), default=0)
