"""Where a run is, in words: its stage, how far, what it waits for."""

from dataclasses import dataclass

from app.domain.spec import OWN_ENGINE
from app.domain.status import FINAL, RunState
from app.reports.format import NO_BREAK, STYLES, decimal, duration
from app.reports.retold import retell
from app.reports.translate import gettext
from app.reports.words import STATES, mark
from app.runs.schemas import RunSummary

STAGES = {
    "queued": mark("queued"),
    "checking": mark("checking tokenizer and language"),
    "loading": mark("loading the model"),
    "warming": mark("warming up"),
    "trial": mark("trials"),
    "profile": mark("timing draft and verification"),
    "losslessness": mark("comparing outputs"),
    "computing": mark("computing"),
}
# A served engine shows neither what a draft costs by itself nor its logits.
OWN_STAGES = frozenset({"profile", "losslessness"})


@dataclass(frozen=True)
class Progress:
    """`share` is 0..1 of the trials, None before there is any; `steps` are (word, done, current)."""

    stage: str
    detail: str
    share: float | None
    percent: str
    waits: str
    steps: tuple[tuple[str, bool, bool], ...]


def state_word(summary: RunSummary) -> str:
    return STATES[summary.state]


def show(summary: RunSummary, locale: str) -> Progress:
    stage = _stage(summary)
    found = summary.progress
    share = found.done / found.total if found is not None and found.total and stage in {"trial", "losslessness"} else None
    percent = "" if share is None else decimal(share * 100, 0, locale) + STYLES["share"].suffix(locale)
    return Progress(
        _sentence(summary, stage, locale), _detail(summary, locale), share, percent, _waits(summary, stage, locale), _steps(summary, stage, locale)
    )


def _stage(summary: RunSummary) -> str:
    if summary.state in FINAL:
        return "computing"
    return "queued" if summary.state == RunState.QUEUED else summary.progress.stage if summary.progress else "checking"


def _sentence(summary: RunSummary, stage: str, locale: str) -> str:
    found = summary.progress
    if summary.state in FINAL:
        return gettext(state_word(summary), locale)
    if stage == "queued":
        place = summary.queue_position
        return gettext("Waiting in the queue.", locale) if place is None else gettext("Number %(place)s in the queue.", locale) % {"place": place}
    if stage == "trial" and found is not None and found.total:
        words = {"done": decimal(min(found.done + 1, found.total), 0, locale), "total": decimal(found.total, 0, locale)}
        return gettext("Measuring: step %(done)s of %(total)s.", locale) % words
    return gettext(STAGES[stage], locale).capitalize() + "."


def _detail(summary: RunSummary, locale: str) -> str:
    if summary.waiting:
        return retell(summary.waiting, locale)
    found = summary.progress
    if found is None or found.remaining is None:
        return ""
    said = [gettext("about %(time)s left", locale) % {"time": duration(found.remaining, locale).replace(" ", NO_BREAK)}]
    if found.half_width is not None:
        said.append(gettext("The interval will be about ± %(share)s.", locale) % {"share": about(found.half_width, locale)})
    if found.repeated:
        said.append(gettext("Blocks that other processes disturbed are measured once more.", locale))
    return said[0] if len(said) == 1 else f"{said[0]}. {' '.join(said[1:])}"


def about(share: float, locale: str) -> str:
    """A share with as many digits as a forecast has: one below ten per cent, none above."""
    return decimal(share * 100, 1 if share < 0.0995 else 0, locale) + STYLES["share"].suffix(locale)


def _waits(summary: RunSummary, stage: str, locale: str) -> str:
    found = summary.progress
    if stage == "trial" and found is not None and found.total:
        return gettext("waits for step %(next)s of %(total)s", locale) % {"next": min(found.done + 1, found.total), "total": found.total}
    return gettext("waits for a runner", locale) if stage == "queued" else gettext("waits for the first trial", locale)


def _steps(summary: RunSummary, stage: str, locale: str) -> tuple[tuple[str, bool, bool], ...]:
    order = [name for name in STAGES if name == stage or name not in OWN_STAGES or summary.spec.engine == OWN_ENGINE]
    at = order.index(stage)
    return tuple((gettext(STAGES[name], locale), i < at, i == at) for i, name in enumerate(order))
