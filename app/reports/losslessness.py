"""Whether the speculative arm says what the plain arm says, beside whether plain repeats itself (greedy only)."""

from collections.abc import Sequence

from app.domain.facts import Purpose, RequestFact
from app.reports.answers import of_arm
from app.reports.report import Losslessness


def losslessness(requests: Sequence[RequestFact], dtype: str, purpose: Purpose = "headline") -> Losslessness | None:
    """Ids of every speculative request against plain's of the same pass; plain against its own first pass. None without a pair to compare."""
    plain, speculative = of_arm(requests, "plain", purpose), of_arm(requests, "speculative", purpose)
    by_pass = {(fact.prompt, fact.trial, fact.seed): fact for fact in plain}
    pairs = [(by_pass[key], fact) for fact in speculative if (key := (fact.prompt, fact.trial, fact.seed)) in by_pass]
    if not pairs:
        return None
    repeats = _against_first(plain)
    parting = [(where, own.prompt) for ours, own in pairs if not same_output(ours, own) and (where := first_divergence(ours, own)) is not None]
    where, prompt = min(parting, default=(None, None), key=lambda found: found[0])
    again = _against_first(speculative)
    return Losslessness(
        dtype=dtype,
        equal=sum(same_output(ours, own) for ours, own in pairs),
        n=len(pairs),
        plain_equal=sum(same_output(a, b) for a, b in repeats) if repeats else None,
        plain_n=len(repeats) or None,
        first_divergence=where,
        diverging_prompt=prompt,
        repeats_identical=all(same_repeat(a, b) for a, b in again) if again else None,
    )


def _against_first(requests: Sequence[RequestFact]) -> list[tuple[RequestFact, RequestFact]]:
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
