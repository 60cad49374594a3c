"""Whether the speculative arm says what the plain arm says, beside whether plain repeats itself (greedy only)."""

from collections import Counter
from collections.abc import Sequence

from app.domain.bounds import Purpose
from app.domain.facts import RequestFact
from app.domain.observations import DivergenceFact
from app.reports.answers import of_arm
from app.reports.report import AnswerRow, Losslessness

Pair = tuple[RequestFact, RequestFact]


def losslessness(
    requests: Sequence[RequestFact], dtype: str, purpose: Purpose = "headline", divergences: Sequence[DivergenceFact] = ()
) -> Losslessness | None:
    """Ids of every speculative request against plain's of the same pass; plain against its own first pass. None without a pair to compare."""
    plain, speculative = of_arm(requests, "plain", purpose), of_arm(requests, "speculative", purpose)
    by_pass = {(fact.prompt, fact.trial, fact.seed): fact for fact in plain}
    pairs = [(by_pass[key], fact) for fact in speculative if (key := (fact.prompt, fact.trial, fact.seed)) in by_pass]
    if not pairs:
        return None
    apart = [pair for pair in pairs if not same_output(*pair)]
    judged = _judged(apart, [fact for fact in divergences if fact.purpose == purpose])
    found = [fact for _, fact in judged if fact is not None]
    where, prompt = min(_places(apart), default=(None, None))
    repeats, again = _against_first(plain), _against_first(speculative)
    return Losslessness(
        dtype=dtype,
        equal=len(pairs) - len(apart),
        n=len(pairs),
        plain_equal=sum(same_output(a, b) for a, b in repeats) if repeats else None,
        plain_n=len(repeats) or None,
        first_divergence=where,
        diverging_prompt=prompt,
        repeats_identical=all(same_repeat(a, b) for a, b in again) if again else None,
        ties=sum(fact.judgement == "tie" for fact in found),
        violations=sum(fact.judgement == "violation" for fact in found),
        unjudged=len(apart) - len(found),
        divergence=min(found, default=None, key=lambda fact: (fact.judgement == "tie", fact.position, fact.prompt, fact.trial)),
        answers=_answers([(pair, None) for pair in pairs if same_output(*pair)], judged),
    )


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


def _answers(equal: Sequence[tuple[Pair, None]], apart: Sequence[tuple[Pair, DivergenceFact | None]]) -> tuple[AnswerRow, ...]:
    """A row each distinct answer of a prompt, those that part from plain's first, by place."""
    found = Counter(AnswerRow(prompt=own.prompt, times=1, tokens=own.emitted, judgement="equal") for (_, own), _ in equal)
    found.update(_parted(pair, fact) for pair, fact in apart)
    rows = [row.model_copy(update={"times": times}) for row, times in found.items()]
    return tuple(sorted(rows, key=lambda row: (row.judgement == "equal", row.position or 0, row.prompt, row.tokens)))


def _parted(pair: Pair, fact: DivergenceFact | None) -> AnswerRow:
    row = AnswerRow(
        prompt=pair[1].prompt, times=1, tokens=pair[1].emitted, judgement="not judged" if fact is None else fact.judgement,
        position=first_divergence(*pair) if fact is None else fact.position,
    )  # fmt: skip
    return row if fact is None else row.model_copy(update={"plain_token": fact.plain_token, "speculative_token": fact.speculative_token})


def _against_first(requests: Sequence[RequestFact]) -> list[Pair]:
    """Each later pass over a prompt beside its first."""
    first: dict[tuple[str, int], RequestFact] = {}
    pairs = []
    for fact in sorted(requests, key=lambda fact: fact.trial):
        key = (fact.prompt, fact.seed)
        if key in first:
            pairs.append((first[key], fact))
        first.setdefault(key, fact)
    return pairs


def same_output(a: RequestFact, b: RequestFact) -> bool:
    return a.output_digest == b.output_digest if a.output_ids is None or b.output_ids is None else a.output_ids == b.output_ids


def same_repeat(a: RequestFact, b: RequestFact) -> bool:
    """Equal output and equal counts, round by round."""
    return same_output(a, b) and a.counts() == b.counts() and a.round_drafted == b.round_drafted and a.round_verified == b.round_verified


def first_divergence(a: RequestFact, b: RequestFact) -> int | None:
    """The first output position at which two answers part; None where only digests are kept."""
    if a.output_ids is None or b.output_ids is None:
        return None
    shared = zip(a.output_ids, b.output_ids, strict=False)
    return next((i for i, (left, right) in enumerate(shared) if left != right), min(len(a.output_ids), len(b.output_ids)))
