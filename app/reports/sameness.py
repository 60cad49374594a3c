"""Whether the output stayed the same, in words."""

from app.reports.format import counted, decimal
from app.reports.report import Losslessness
from app.reports.translate import gettext


def equal_answers(found: Losslessness, locale: str) -> str:
    """`10 of 16 requests equal to plain, token for token, in bfloat16`."""
    return gettext("%(equal)s of %(requests)s equal to plain, token for token, in %(dtype)s", locale) % {
        "equal": decimal(found.equal, 0, locale),
        "requests": counted(found.n, "requests", locale),
        "dtype": found.dtype,
    }


def judgements(found: Losslessness, locale: str) -> str:
    """Of the answers that differ."""
    words = [
        gettext("ties of two tokens: %(count)s", locale) % {"count": decimal(found.ties, 0, locale)},
        gettext("violations: %(count)s", locale) % {"count": decimal(found.violations, 0, locale)},
    ]
    if found.unjudged:
        words.append(gettext("not judged: %(count)s", locale) % {"count": decimal(found.unjudged, 0, locale)})
    return ", ".join(words)


def why_not_compared(*, drawn: bool, locale: str) -> str:
    if drawn:
        return gettext("Answers are drawn, so they differ by chance; only greedy ones are compared.", locale)
    return gettext("not measured in this run", locale)
