"""One row a prompt, for dots and tables."""

from collections import Counter
from collections.abc import Sequence

from app.domain.facts import RequestFact
from app.metrics.columns import Requests
from app.metrics.frame import Frames
from app.metrics.select import counted
from app.metrics.speed import by_prompt, decode_pairs, end_to_end_pairs
from app.reports.answers import judged, measured_language
from app.reports.headline import DECODE, END_TO_END
from app.reports.record import RunRecord
from app.reports.report import PromptRow


def prompt_rows(record: RunRecord, frames: Frames, headline: str, *, refused: bool) -> list[PromptRow]:
    """Counts of the requests that figures come from, and the headline's ratio per prompt. A refused run has none: their sums would be the refused
    figures. Its facts are kept."""
    if refused:
        return []
    speculative = counted_requests(record, frames)
    plain = _by_prompt(judged(record.requests, "plain", sampled=frames.sampled))
    ratios = _ratios(frames, headline)
    by_name = _by_prompt(speculative) or plain
    return [_row(name, facts, plain.get(name, facts), ratios.get(name)) for name, facts in sorted(by_name.items())]


def counted_requests(record: RunRecord, frames: Frames) -> Requests:
    """The speculative requests that count figures come from (app.metrics.select)."""
    return Requests.of(record.requests).at(counted(frames).index.to_numpy())


def _by_prompt(facts: Sequence[RequestFact]) -> dict[str, list[RequestFact]]:
    found: dict[str, list[RequestFact]] = {}
    for fact in facts:
        found.setdefault(fact.prompt, []).append(fact)
    return found


def _ratios(frames: Frames, headline: str) -> dict[str, float]:
    tables = {END_TO_END: end_to_end_pairs, DECODE: decode_pairs}
    if headline not in tables:
        return {}
    return {str(prompt): float(value) for prompt, value in by_prompt(tables[headline](frames)).items()}


def _row(prompt: str, facts: Sequence[RequestFact], plain: Sequence[RequestFact], speedup: float | None) -> PromptRow:
    """Of several draws one loop is enough to say so, and the language is that of most."""
    first, judged_loops = facts[0], [fact.degenerate for fact in plain if fact.degenerate is not None]
    languages = Counter(measured_language(fact) for fact in facts)
    return PromptRow(
        prompt=prompt,
        profile=first.profile,
        parallel=first.parallel,
        speedup=speedup,
        drafted=sum(fact.drafted for fact in facts),
        verified=sum(fact.verified for fact in facts),
        rounds=sum(fact.rounds for fact in facts),
        emitted=sum(fact.emitted for fact in facts),
        degenerate=any(judged_loops) if judged_loops else None,
        answer_language=languages.most_common(1)[0][0],
    )
