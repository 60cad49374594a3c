"""What happened to a run, in words: the log keeps names and values, which people read in their language."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.reports.format import decimal, duration, moment
from app.reports.retold import retell
from app.reports.translate import gettext
from app.reports.words import arm_of, mark
from app.runs.schemas import EventOut
from app.web.progress import STAGES, about

KINDS: dict[str, str] = {
    "queued": mark("queued"), "leased": mark("taken by a runner"), "running": mark("first facts arrived"), "progress": mark("progress"),
    "lost": mark("runner lost"), "released": mark("given back by its runner"), "succeeded": mark("finished"), "failed": mark("failed"),
    "cancelled": mark("cancelled"), "gate": mark("gate judged"),
}  # fmt: skip
ANSWERS: dict[str, str] = {
    "holds": mark("holds"), "does not hold": mark("does not hold"), "could not be measured": mark("could not be measured"),
    "cannot tell": mark("cannot tell"),
}  # fmt: skip
# Said together.
_TOLD = {"attempt", "of", "done", "total"}


@dataclass(frozen=True)
class Happened:
    """`unknown` are names and values of the log that have no words."""

    at: str
    what: str
    details: tuple[str, ...]
    unknown: tuple[tuple[str, str], ...]


def happened(event: EventOut, locale: str) -> Happened:
    body = event.body
    said = [_attempt(body, locale), _done(body, locale)]
    said += [_WORDS[name](value, locale) for name, value in body.items() if name in _WORDS and value]
    unknown = tuple((name, str(value)) for name, value in body.items() if name not in {*_WORDS, *_TOLD})
    return Happened(moment(event.at, locale), gettext(KINDS.get(event.kind, event.kind), locale), tuple(text for text in said if text), unknown)


def _attempt(body: Mapping[str, Any], locale: str) -> str:
    if "attempt" not in body:
        return ""
    text = gettext("attempt %(attempt)s of %(of)s", locale) if "of" in body else gettext("attempt %(attempt)s", locale)
    return text % body


def _done(body: Mapping[str, Any], locale: str) -> str:
    if not body.get("total"):
        return ""
    found = {name: decimal(body[name], 0, locale) for name in ("done", "total")}
    return gettext("done: %(done)s of %(total)s", locale) % found


def _checks(checks: Any, locale: str) -> str:
    """`acceptance_rate ≤ 0.9: holds; …`; the overall answer is the worst of them."""
    return "; ".join(f"{asked}: {gettext(ANSWERS.get(answer, answer), locale)}" for asked, answer in checks)


_WORDS: dict[str, Callable[[Any, str], str]] = {
    "stage": lambda stage, locale: gettext(STAGES.get(stage, stage), locale),
    "arm": arm_of,
    "remaining": lambda seconds, locale: gettext("about %(time)s left", locale) % {"time": duration(seconds, locale)},
    "half_width": lambda share, locale: gettext("interval about ± %(share)s", locale) % {"share": about(share, locale)},
    "repeated": lambda n, locale: gettext("blocks measured once more: %(n)s", locale) % {"n": decimal(n, 0, locale)},
    "reason": retell,
    "answer": lambda answer, locale: gettext(ANSWERS.get(answer, answer), locale),
    "checks": _checks,
    "baseline": lambda run, locale: gettext("against run %(run)s", locale) % {"run": run},
    "repeat": lambda run, locale: gettext("confirmed by run %(run)s", locale) % {"run": run},
}
