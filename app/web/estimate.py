"""How long an order will take, in words."""

from app.campaigns.forecast import Expected, expected
from app.reports.format import NO_BREAK, counted, duration
from app.reports.translate import gettext
from app.runners_registry.fitting import labelled, serves
from app.runners_registry.schemas import Catalogue
from app.runners_registry.service import Registry
from app.runs.relatives import Relatives
from app.web.order import Order, prompts_of


async def expectation(order: Order, catalogue: Catalogue, registry: Registry, past: Relatives) -> Expected | None:
    """From runs that whoever asks may see, on runners that are alive, idle ones first; None while the form is not complete."""
    if not order.specs:
        return None
    live = [runner for runner in await registry.known() if runner.live]
    able = [runner for runner in live if all(serves(spec, runner.offer) and labelled(spec, runner.offer) for spec in order.specs)]
    names = [runner.name for runner in sorted(able, key=lambda runner: runner.busy)]
    prompts = [prompts_of(spec, catalogue.suites) for spec in order.specs]
    return expected(order.specs, prompts, names, await past.took(spec.model.title for spec in order.specs))


def estimate(runs: int, took: Expected | None, locale: str) -> str:
    """`4 runs, about 6 min on local`; the runs alone where the time is not known."""
    said = counted(runs, "runs", locale)
    if took is None or took.seconds is None:
        return said
    words = gettext("%(runs)s, about %(time)s on %(runner)s", locale)
    return words % {"runs": said, "time": about(took.seconds, locale), "runner": took.runner}


def about(seconds: float, locale: str) -> str:
    """Whole minutes, below two of them tens of seconds: a forecast has no more digits."""
    step = 60 if seconds >= 120 else 10
    return duration(max(step, round(seconds / step) * step), locale).replace(" ", NO_BREAK)


def reckoned(took: Expected | None, locale: str) -> str:
    """What the time comes from, or why it is not known."""
    if took is None:
        return ""
    if took.unknown is not None:
        why = gettext(took.unknown, locale) % {"runner": took.runner, "drafter": took.drafter}
        return gettext("How long it will take is not known: %(why)s.", locale) % {"why": why}
    words = gettext("The time is reckoned from %(runs)s measured on %(runner)s, by prompts, tokens and passes.", locale)
    return words % {"runs": counted(took.runs, "runs", locale), "runner": took.runner}
