"""One row a prompt, for dots and tables."""

from collections import Counter
from collections.abc import Iterable, Sequence

from app.metrics.columns import Answer, Requests
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
    plain = _by_prompt(judged(record.requests, "plain", sampled=frames.sampled).answers())
    ratios = _ratios(frames, headline)
    by_name = _by_prompt(speculative.answers()) or plain
    return [_row(name, answers, plain.get(name, answers), ratios.get(name)) for name, answers in sorted(by_name.items())]


def counted_requests(record: RunRecord, frames: Frames) -> Requests:
    """The speculative requests that count figures come from (app.metrics.select)."""
    return Requests.of(record.requests).at(counted(frames).index.to_numpy())


def _by_prompt(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        found.setdefault(answer.prompt, []).append(answer)
    return found


def _ratios(frames: Frames, headline: str) -> dict[str, float]:
    tables = {END_TO_END: end_to_end_pairs, DECODE: decode_pairs}
    if headline not in tables:
        return {}
    return {str(prompt): float(value) for prompt, value in by_prompt(tables[headline](frames)).items()}


def _row(prompt: str, answers: Sequence[Answer], plain: Sequence[Answer], speedup: float | None) -> PromptRow:
    """Of several draws one loop is enough to say so, and the language is that of most."""
    first, judged_loops = answers[0], [answer.degenerate for answer in plain if answer.degenerate is not None]
    languages = Counter(measured_language(answer) for answer in answers)
    return PromptRow(
        prompt=prompt,
        profile=first.profile,
        parallel=first.parallel,
        speedup=speedup,
        drafted=_sum(answer.drafted for answer in answers),
        verified=_sum(answer.verified for answer in answers),
        rounds=_sum(answer.rounds for answer in answers),
        emitted=sum(answer.emitted for answer in answers),
        degenerate=any(judged_loops) if judged_loops else None,
        answer_language=languages.most_common(1)[0][0],
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """None where one is not known: a sum over the rest would look like that of all."""
    found = list(counts)
    told = [each for each in found if each is not None]
    return sum(told) if len(told) == len(found) else None
