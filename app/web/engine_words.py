"""Served engines in words: what stands behind an alias."""

from app.domain.catalogue import ServedEngine
from app.domain.spec import OWN_ENGINE
from app.reports.translate import gettext
from app.reports.words import mark

OWN = mark("Bezmen's own loop, in the runner's process")
STARTED, ATTACHED = mark("%(kind)s, started by the runner"), mark("%(kind)s, which runs already")
NO_PLAIN = mark("no plain arm, so acceptance and no speed-up")
UNSEEN = mark("not yet run against the real engine")


def behind(engine: ServedEngine, locale: str) -> str:
    """`llama.cpp, started by the runner`"""
    return gettext(STARTED if engine.starts else ATTACHED, locale) % {"kind": engine.kind}


def but(engine: ServedEngine, locale: str) -> list[str]:
    """What somebody should know before choosing it; empty where there is nothing."""
    found = ((not engine.plain, NO_PLAIN), (not engine.observed, UNSEEN))
    return [gettext(words, locale) for holds, words in found if holds]


def summary(name: str, engine: ServedEngine | None, locale: str) -> str:
    """One line under an alias; what nobody offers has none."""
    if engine is None:
        return gettext(OWN, locale) if name == OWN_ENGINE else ""
    return "; ".join([behind(engine, locale), *but(engine, locale)])
