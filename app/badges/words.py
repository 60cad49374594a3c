"""What a badge says of a run: the verdict, speed and acceptance with their intervals, and on what they were measured; or that it is refused."""

from app.badges.svg import badge, fits
from app.domain.status import FINAL
from app.domain.tokenizer import TokenizerIdentity
from app.reports.report import Report
from app.reports.shown import find, is_refused
from app.reports.translate import gettext
from app.reports.words import outcome_of, speedup_of, state_of

# White text on each of them has a contrast of 4.5 at least.
COLOURS = {"pays": "#1b7a43", "does not pay": "#a8323e", "cannot tell": "#63686f", "refused": "#63686f"}


def of_run(report: Report, locale: str) -> str:
    """The SVG. Numbers never stand without language and tokenizer: a run without them is refused."""
    label, outcome = _label(report), _outcome(report)
    if outcome is None:
        return badge(label, state_of(report.state, locale), COLOURS["cannot tell"], f"{label}: {state_of(report.state, locale)}")
    said = outcome_of(outcome, locale)
    if outcome == "refused":
        return badge(label, said, COLOURS[outcome], f"{label}: {said}")
    named, short = (" · ".join([said, *_figures(report, locale, names=names)]) for names in (True, False))
    # Both numbers with their intervals, or none: a line that is cut would show one without the other.
    return badge(label, short if fits(short) else said, COLOURS[outcome], f"{label}: {named}")


def link(report: Report, base: str) -> str:
    """The badge in Markdown, leading to the run."""
    page = f"{base.rstrip('/')}/runs/{report.run}"
    image = f"{base.rstrip('/')}/api/v1/runs/{report.run}/badge.svg"
    return f"[![Bezmen, run {report.run}]({image})]({page})"


def final(report: Report) -> bool:
    return report.state in FINAL


def _outcome(report: Report) -> str | None:
    """None for a run that has not succeeded."""
    if report.state != "succeeded":
        return None
    return "refused" if is_refused(report) or report.passport is None else report.verdict.outcome


def _label(report: Report) -> str:
    known = [brief(report.passport.tokenizer)] if report.passport is not None else []
    return " · ".join(["bezmen", report.spec.drafter_title, report.spec.language, *known])


def brief(tokenizer: TokenizerIdentity) -> str:
    """Without where it comes from: a badge has little room, and the fingerprint tells it from its namesakes."""
    return tokenizer.short.rpartition(":")[2].rpartition("/")[2]


def _figures(report: Report, locale: str, *, names: bool) -> list[str]:
    """Speed-up and acceptance; without their names × and V/D tell them apart."""
    found = []
    for id, name in ((report.headline, speedup_of(report.headline, locale)), (report.acceptance, gettext("acceptance", locale))):
        shown = find(report, id, locale)
        value = f"{shown.value} {shown.interval}".strip() if shown.value else gettext("no number", locale)
        found.append(f"{name} {value}" if names else value if id == report.headline else f"V/D {value}")
    return found
