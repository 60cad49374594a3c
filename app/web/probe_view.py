"""What the page of a probe says beside its predictions: who was at it and when, what was read, and why it waits or failed."""

from typing import Any

from app.domain.probe import ProbeFound
from app.domain.status import MAX_ATTEMPTS, RunState
from app.line.schemas import WaitingProbe
from app.probes.schemas import ProbeLine
from app.reports.format import decimal, moment
from app.reports.translate import gettext
from app.web.pages.runners import place_of_probe

Term = tuple[str, str]
SHORT = 12


def terms(line: ProbeLine, found: ProbeFound | None, locale: str) -> list[Term]:
    """What was asked where nothing was found, and what was found where something was; then who was at it, and when."""
    told = _asked(line, locale) if found is None else _found(line, found, locale)
    attempt = gettext("%(n)s of %(asked)s", locale) % {"n": decimal(line.attempt, 0, locale), "asked": decimal(MAX_ATTEMPTS, 0, locale)}
    told += [(gettext("runner", locale), line.runner), (gettext("attempt", locale), attempt)] if line.runner else []
    times = (("submitted", line.created_at), ("started", line.started_at), ("ended", line.finished_at))
    names = {"submitted": gettext("submitted", locale), "started": gettext("started", locale), "ended": gettext("ended", locale)}
    return told + [(names[name], moment(when, locale)) for name, when in times if when is not None]


def _asked(line: ProbeLine, locale: str) -> list[Term]:
    spec = line.spec
    limit = gettext("%(suite)s, at most %(n)s a language", locale) % {"suite": spec.suite, "n": decimal(spec.limit, 0, locale)}
    return [
        (gettext("target", locale), spec.model.title),
        (gettext("Languages", locale), ", ".join(spec.languages)),
        (gettext("tokenizer", locale), spec.tokenizer),
        (gettext("prompts", locale), limit),
    ]


def _found(line: ProbeLine, seen: ProbeFound, locale: str) -> list[Term]:
    precision = f"{seen.quantisation}, {seen.dtype}" if seen.quantisation else seen.dtype
    told: list[Term] = [
        (gettext("target", locale), f"{seen.target} {precision}"),
        (gettext("tokenizer", locale), seen.tokenizer.short),
        (gettext("prompts", locale), f"{line.spec.suite} {seen.suite_version}"),
        (gettext("layers", locale), decimal(seen.layers, 0, locale)),
        (gettext("engine", locale), seen.engine_version),
        (gettext("hardware", locale), seen.environment.device),
        (gettext("threads", locale), decimal(seen.environment.threads, 0, locale)),
    ]
    told += [(gettext("revision", locale), seen.revision)] if seen.revision else []
    told += [(gettext("weights", locale), seen.weights_digest[:SHORT])] if seen.weights_digest else []
    commit = seen.environment.versions.get("commit") or seen.environment.details.get("commit")
    return told + ([(gettext("commit", locale), commit[:SHORT])] if commit else [])


def outlook(line: ProbeLine, waiting: WaitingProbe | None, locale: str) -> dict[str, Any]:
    """Why it waits, and whether it is worth asking once more."""
    again = line.state == RunState.CANCELLED or (line.state == RunState.FAILED and line.retry_makes_sense is not False)
    return {"place": None if waiting is None else place_of_probe(waiting, locale), "again": again}
