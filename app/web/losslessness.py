"""Losslessness in words: whether the output stayed the same, and where it did not."""

from collections.abc import Sequence
from dataclasses import dataclass

from babel.numbers import format_scientific

from app.domain.observations import DivergenceFact
from app.reports.engine_gates import changes_output
from app.reports.format import decimal
from app.reports.report import Losslessness
from app.reports.sameness import equal_answers, judgements, why_not_compared
from app.reports.shown import Shown
from app.reports.translate import gettext
from app.reports.words import mark

# What is said where nobody tells ties from faults.
UNJUDGED = {True: mark("changed"), False: mark("mostly unchanged"), None: mark("not to be told")}


def output(found: Sequence[Losslessness], locale: str, *, drawn: bool = False) -> Shown:
    """Whether the output stayed the same, token for token: in the precision that was timed, and in float32, where ties of two tokens are rare."""
    if drawn or not found:
        return Shown("absent", "losslessness", why=why_not_compared(drawn=drawn, locale=locale))
    timed, exact = found[0], next((each for each in found if each.dtype == "float32"), None)
    if timed.equal == timed.n:
        words = gettext("unchanged", locale)
    elif exact is not None and exact.equal == exact.n:
        words = gettext("same in float32", locale)
    elif exact is not None and exact.violations + exact.unjudged == 0:
        words = gettext("same but for ties", locale)
    else:
        judged = exact is not None and (exact is not timed or exact.ties + exact.violations > 0)
        words = gettext("changed" if judged else UNJUDGED[changes_output(timed)], locale)
    return Shown("value", "losslessness", value=words, n="; ".join(_equal(each, locale) for each in found))


def _equal(found: Losslessness, locale: str) -> str:
    text = equal_answers(found, locale)
    if found.first_divergence is not None:
        text += ", " + gettext("the first difference is at token %(position)s", locale) % {"position": decimal(found.first_divergence, 0, locale)}
    if found.equal == found.n:
        return text
    if found.plain_equal is not None and found.plain_n:
        again = {"equal": decimal(found.plain_equal, 0, locale), "n": decimal(found.plain_n, 0, locale)}
        text += ", " + gettext("plain against plain %(equal)s of %(n)s", locale) % again
    return f"{text}, {judgements(found, locale)}"


@dataclass(frozen=True)
class PartingShown:
    """Where two answers part, with what each says from there on; None where only digests are kept."""

    title: str
    judgement: str
    plain: str | None
    speculative: str | None


def partings(found: Sequence[Losslessness], locale: str) -> list[PartingShown]:
    """The divergence to look at, in each precision that was compared."""
    return [_parting(each.dtype, each.divergence, locale) for each in found if each.divergence is not None]


def _parting(dtype: str, fact: DivergenceFact, locale: str) -> PartingShown:
    title = gettext("%(prompt)s in %(dtype)s, from token %(position)s on", locale)
    if fact.gap is None:
        said = gettext("Violation: one of the two answers ends here.", locale)
    elif fact.judgement == "tie":
        said = gettext("Tie: by the target's logits the two tokens are %(gap)s apart, where rounding explains %(tolerance)s.", locale)
    else:
        said = gettext("Violation: by the target's logits one token is %(gap)s below the best, where rounding explains %(tolerance)s.", locale)
    numbers = {"gap": _logit(fact.gap or 0.0, locale), "tolerance": _logit(fact.tolerance, locale)}
    return PartingShown(
        title % {"prompt": fact.prompt, "dtype": dtype, "position": decimal(fact.position, 0, locale)},
        said % numbers,
        fact.plain_text,
        fact.speculative_text,
    )


def _logit(value: float, locale: str) -> str:
    """Three digits that count: logits of float32 are told apart in the sixth decimal."""
    return format_scientific(value, format="0.##E0", locale=locale) if 0 < value < 0.001 else decimal(value, 3, locale)
