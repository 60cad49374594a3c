"""Whether the speculative arm says what the plain arm says, beside whether plain repeats itself (greedy only)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.domain.bounds import Arm, Purpose
from app.domain.facts import RequestFact
from app.domain.observations import DivergenceFact
from app.metrics.columns import Requests
from app.metrics.frame import COUNTS
from app.reports.answers import of_arm
from app.reports.report import AnswerRow, Losslessness

Pair = tuple[RequestFact, RequestFact]
COMPARED: tuple[Arm, Arm] = ("plain", "speculative")


def losslessness(
    requests: Sequence[RequestFact], dtype: str, purpose: Purpose = "headline", divergences: Sequence[DivergenceFact] = ()
) -> Losslessness | None:
    """Ids of every speculative request against plain's of the same pass; plain against its own first pass. None without a pair to compare."""
    ours, own = pairs_of(requests, purpose)
    if not own:
        return None
    differ = ~same_output(ours, own)
    apart = list(zip(ours.where(differ), own.where(differ), strict=True))
    judged = _judged(apart, [fact for fact in divergences if fact.purpose == purpose])
    found = [fact for _, fact in judged if fact is not None]
    where, prompt = min(_places(apart), default=(None, None))
    repeats, again = (_against_first(of_arm(requests, arm, purpose)) for arm in COMPARED)
    return Losslessness(
        dtype=dtype,
        equal=len(own) - len(apart),
        n=len(own),
        plain_equal=int(same_output(*repeats).sum()) if repeats[0] else None,
        plain_n=len(repeats[0]) or None,
        first_divergence=where,
        diverging_prompt=prompt,
        repeats_identical=same_repeats(*again) if again[0] else None,
        ties=sum(fact.judgement == "tie" for fact in found),
        violations=sum(fact.judgement == "violation" for fact in found),
        unjudged=len(apart) - len(found),
        divergence=min(found, default=None, key=lambda fact: (fact.judgement == "tie", fact.position, fact.prompt, fact.trial)),
        answers=_answers(own.where(~differ), judged),
    )


def pairs_of(requests: Sequence[RequestFact], purpose: Purpose = "headline") -> tuple[Requests, Requests]:
    """(plain, speculative): each finished speculative request beside plain's of the same pass, in the order of the former; those without are in
    neither."""
    plain, own = (of_arm(requests, arm, purpose) for arm in COMPARED)
    known, wanted = (each.keys("prompt", "trial", "seed") for each in (plain, own))
    order = np.argsort(known, kind="stable")
    at = np.searchsorted(known[order], wanted, side="right") - 1
    there = at >= 0
    there[there] = known[order][at[there]] == wanted[there]
    return plain.at(order[at[there]]), own.where(there)


def _places(apart: Sequence[Pair]) -> list[tuple[int, str]]:
    return [(where, own.prompt) for ours, own in apart if (where := first_divergence(ours, own)) is not None]


def _judged(apart: Sequence[Pair], divergences: Sequence[DivergenceFact]) -> list[tuple[Pair, DivergenceFact | None]]:
    """Each pair that differs with what was said of it. A judgement of another place than that where the answers really part is none."""
    said: dict[tuple[str, int, int], DivergenceFact] = {}
    for fact in divergences:
        key = (fact.prompt, fact.trial, fact.seed)
        if key not in said or fact.judgement == "violation":
            said[key] = fact
    return [(pair, _of_this_place(pair, said.get((pair[1].prompt, pair[1].trial, pair[1].seed)))) for pair in apart]


def _of_this_place(pair: Pair, fact: DivergenceFact | None) -> DivergenceFact | None:
    return fact if fact is not None and first_divergence(*pair) in (None, fact.position) else None


def _answers(equal: Requests, apart: Sequence[tuple[Pair, DivergenceFact | None]]) -> tuple[AnswerRow, ...]:
    """A row each distinct answer of a prompt, those that part from plain's first, by place."""
    told = Counter(zip(equal.text("prompt").tolist(), equal.number("emitted").astype(int).tolist(), strict=True))
    found = Counter({AnswerRow(prompt=prompt, times=1, tokens=tokens, judgement="equal"): times for (prompt, tokens), times in told.items()})
    found.update(_parted(pair, fact) for pair, fact in apart)
    rows = [row.model_copy(update={"times": times}) for row, times in found.items()]
    return tuple(sorted(rows, key=lambda row: (row.judgement == "equal", row.position or 0, row.prompt, row.tokens)))


def _parted(pair: Pair, fact: DivergenceFact | None) -> AnswerRow:
    row = AnswerRow(
        prompt=pair[1].prompt, times=1, tokens=pair[1].emitted, judgement="not judged" if fact is None else fact.judgement,
        position=first_divergence(*pair) if fact is None else fact.position,
    )  # fmt: skip
    return row if fact is None else row.model_copy(update={"plain_token": fact.plain_token, "speculative_token": fact.speculative_token})


def _against_first(requests: Requests) -> tuple[Requests, Requests]:
    """The first passes over a prompt, and beside each a later one."""
    ordered = requests.at(np.argsort(requests.whole("trial"), kind="stable"))
    _, first, group = np.unique(ordered.keys("prompt", "seed"), return_index=True, return_inverse=True)
    later = first[group] != np.arange(len(ordered))
    return ordered.at(first[group][later]), ordered.where(later)


def same_output(a: Requests, b: Requests) -> NDArray[np.bool_]:
    """A digest is that of the output ids, which is checked when a fact comes in."""
    found: NDArray[np.bool_] = a.codes("output_digest") == b.codes("output_digest")
    return found


def same_repeats(a: Requests, b: Requests) -> bool | None:
    """Equal outputs and equal counts, round by round; None where all that both tell is equal, and one tells what the other does not."""
    numbers = [(a.number(name), b.number(name)) for name in COUNTS]
    known = all(((one == other) | np.isnan(one) | np.isnan(other)).all() for one, other in numbers)
    if not (same_output(a, b).all() and known):
        return False
    if not all(np.array_equal(np.isnan(one), np.isnan(other)) for one, other in numbers):
        return None
    rounds = [(a.lists(name), b.lists(name)) for name in ("round_drafted", "round_verified")]
    if not all(np.array_equal(one.starts, other.starts) for one, other in rounds):
        # As many rounds, which only one of the two lists.
        return None
    return all(one.same(other) for one, other in rounds)


def first_divergence(a: RequestFact, b: RequestFact) -> int | None:
    """The first output position at which two answers part; None where only digests are kept."""
    if a.output_ids is None or b.output_ids is None:
        return None
    shared = zip(a.output_ids, b.output_ids, strict=False)
    return next((i for i, (left, right) in enumerate(shared) if left != right), min(len(a.output_ids), len(b.output_ids)))
