"""What a reader of a run's page may want next: more of the same, the same in another language, or the two beside each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.domain.language import base_of
from app.domain.sentence import plain
from app.domain.spec import RunSpec
from app.domain.status import RunState
from app.reports.format import decimal, say
from app.reports.report import Report
from app.reports.translate import gettext, language_name, ngettext
from app.reports.words import mark
from app.runners_registry.schemas import Catalogue
from app.runs.relatives import Twin
from app.statistics.reasons import PAIRS_PER_BLOCK
from app.statistics.verdict import OF_TRIAL_PAIRS
from app.web.order import prompts_of
from app.web.prefill import address

# Languages that are proposed.
MOST = 3


@dataclass(frozen=True)
class Step:
    """A link in words."""

    text: str
    address: str


def steps(report: Report, twins: Sequence[Twin], catalogue: Catalogue, locale: str, *, submits: bool) -> list[Step]:
    """Nothing of a run that has not succeeded; nothing that the form could not ask for exactly, or that whoever looks may not ask for."""
    if report.state != RunState.SUCCEEDED or report.passport is None:
        return []
    compared = list(_compared(report, twins, locale))
    return [*_more(report, catalogue, locale), *compared, *_elsewhere(report.spec, twins, catalogue, locale)] if submits else compared


def _more(report: Report, catalogue: Catalogue, locale: str) -> Iterator[Step]:
    """As much more as the verdict says would settle it."""
    spec, more = report.spec, report.verdict.more
    if more is None or report.passport is None:
        return
    if report.verdict.headline in OF_TRIAL_PAIRS:
        blocks = -(-more // PAIRS_PER_BLOCK)
        larger = spec.model_copy(update={"trials": spec.trials + blocks})
        said = ngettext("Repeat with %(n)s more block of trials", "Repeat with %(n)s more blocks of trials", blocks, locale)
        fits, n = True, blocks
    else:
        wanted = sum(report.passport.profiles.values()) + more
        larger = spec.model_copy(update={"suite": spec.suite.model_copy(update={"limit": wanted})})
        said = ngettext("Repeat with %(n)s more prompt", "Repeat with %(n)s more prompts", more, locale)
        # Of chosen profiles it is not known how many prompts they hold.
        fits, n = spec.suite.profiles is None and prompts_of(larger, catalogue.suites) == wanted, more
    if fits and (link := address(larger, catalogue)) is not None:
        yield Step(said % {"n": decimal(n, 0, locale)}, link)


def _compared(report: Report, twins: Sequence[Twin], locale: str) -> Iterator[Step]:
    for twin in twins:
        values = {"run": str(twin.run), "language": language_name(twin.language, locale)}
        if twin.finished:
            first, second = sorted((report.run, twin.run), key=lambda run: _russian_first(report, twin, run))
            words = gettext("Compare with %(language)s, run %(run)s", locale)
            yield Step(words % values, f"/compare?runs={first},{second}")
        else:
            said = mark("Run %(run)s measured the same: %(language)s") if twin.ended else mark("Run %(run)s measures the same: %(language)s")
            yield Step(gettext(said, locale) % values, f"/runs/{twin.run}")


def _russian_first(report: Report, twin: Twin, run: int) -> bool:
    language = report.spec.language if run == report.run else twin.language
    return base_of(language) != "ru"


def _elsewhere(spec: RunSpec, twins: Sequence[Twin], catalogue: Catalogue, locale: str) -> Iterator[Step]:
    """The languages of the suite that lack a twin."""
    suite = next((each for each in catalogue.suites if each.id == spec.suite.id), None)
    known = {base_of(language) for language in (spec.language, *(twin.language for twin in twins))}
    missing = [language for language in (suite.languages if suite else ()) if base_of(language) not in known]
    for language in missing[:MOST]:
        link = address(spec.model_copy(update={"language": language}), catalogue)
        if link is not None:
            yield Step(say(plain("Measure the same in %(language)s", language=language), locale), link)
