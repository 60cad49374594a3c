"""Whether a run can start now, on what machine, and why the others wait."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from app.domain.catalogue import ServedEngine
from app.line.schemas import RunnerView, Standing, Waiting, WaitingProbe
from app.line.service import Line, line_service
from app.reports.format import STYLES, decimal, duration, number, say
from app.reports.loads import spoken
from app.reports.probe_words import question
from app.reports.shown import Shown, show_estimate
from app.reports.translate import gettext
from app.reports.words import mark
from app.web import engine_words
from app.web.passport import part
from app.web.preferences import locale_of
from app.web.progress import STAGES
from app.web.render import page

router = APIRouter(include_in_schema=False)
STATES = {"idle": mark("free"), "busy": mark("busy"), "offline": mark("offline")}
OFFERS = (
    ("models", mark("models")), ("engines", mark("engines")), ("drafters", mark("drafters")), ("controllers", mark("draft length")),
    ("verifiers", mark("verification rules")), ("suites", mark("prompts")),
)  # fmt: skip


@dataclass(frozen=True)
class Served:
    """An engine beside our own loop, as somebody chooses it: `behind` is what it is and who starts it, `arms` which arms there are."""

    name: str
    behind: str
    arms: str
    drafters: str
    models: str
    seen: str


@dataclass(frozen=True)
class Row:
    found: RunnerView
    state: str
    progress: str
    disturbed: str
    floor: Shown
    floors: str
    labels: str
    offers: tuple[tuple[str, str], ...]
    engines: tuple[Served, ...]


@dataclass(frozen=True)
class Place:
    found: Waiting
    load: str
    drafter: str
    why: str
    reasons: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PlaceOfProbe:
    found: WaitingProbe
    question: str
    why: str
    reasons: tuple[tuple[str, str], ...]


@router.get("/runners")
async def runners_page(request: Request, line: Annotated[Line, Depends(line_service)]) -> Response:
    return page(request, "runners.html", **view(await line.runners(), await line.waiting(), await line.probes(), locale_of(request)))


def view(runners: Sequence[RunnerView], waiting: Sequence[Waiting], probes: Sequence[WaitingProbe], locale: str) -> dict[str, Any]:
    states = Counter(runner.state for runner in runners)
    return {
        "rows": [row(runner, locale) for runner in runners],
        "waiting": [place(one, locale) for one in waiting],
        "probes": [place_of_probe(one, locale) for one in probes],
        "free": states["idle"],
        "busy": states["busy"],
        "offline": states["offline"],
        "stuck": sum(not one.startable for one in waiting),
    }


def row(runner: RunnerView, locale: str) -> Row:
    return Row(
        runner,
        gettext(STATES[runner.state], locale),
        progress(runner, locale),
        disturbed(runner, locale),
        _floor(runner, locale),
        floors(runner, locale),
        ", ".join(f"{name}={value}" for name, value in sorted(runner.labels.items())),
        tuple((gettext(title, locale), _names(getattr(runner.offer, kind))) for kind, title in OFFERS),
        tuple(_served(engine, locale) for engine in runner.offer.served),
    )


def _served(engine: ServedEngine, locale: str) -> Served:
    arms = mark("plain and speculative") if engine.plain else engine_words.NO_PLAIN
    seen = mark("run against the real engine") if engine.observed else engine_words.UNSEEN
    return Served(
        engine.name, engine_words.behind(engine, locale), gettext(arms, locale), _names(engine.drafters), ", ".join(engine.models),
        gettext(seen, locale),
    )  # fmt: skip


def progress(runner: RunnerView, locale: str) -> str:
    """`trials, 43 %, about 2 min 20 s left` of the run that the runner is at."""
    found = runner.progress
    if found is None:
        return ""
    said = [gettext(STAGES[found.stage], locale)] if found.stage in STAGES else []
    if found.total:
        said.append(decimal(100 * found.done / found.total, 0, locale) + STYLES["share"].suffix(locale))
    if found.remaining is not None:
        said.append(gettext("about %(time)s left", locale) % {"time": duration(found.remaining, locale)})
    return ", ".join(said)


def disturbed(runner: RunnerView, locale: str) -> str:
    quiet = runner.quiet
    if not quiet.trials:
        return gettext("no trial measured yet", locale)
    return gettext("%(bad)s of its last %(n)s trials", locale) % {"bad": decimal(quiet.disturbed, 0, locale), "n": decimal(quiet.trials, 0, locale)}


def _floor(runner: RunnerView, locale: str) -> Shown:
    floor = runner.quiet.noise_floor
    return Shown("absent", why=gettext("no run with a noise floor yet", locale)) if floor is None else show_estimate("ratio", floor, locale)


def floors(runner: RunnerView, locale: str) -> str:
    """`last 5 runs: 0.99× to 1.01×, intervals within [0.95, 1.06], not level: 1`: one run's floor says little of the next one's."""
    found = runner.quiet.floors
    if found is None or found.runs < 2:
        return ""
    said = gettext("last %(runs)s runs: %(least)s to %(most)s, intervals within %(interval)s, not level: %(uneven)s", locale)
    least, most = (number("ratio", one, found.least, found.most, locale).value for one in (found.least, found.most))
    values = {"runs": decimal(found.runs, 0, locale), "least": least, "most": most, "uneven": decimal(found.uneven, 0, locale)}
    return said % (values | {"interval": number("ratio", 1.0, found.low, found.high, locale).interval})


def _names(offered: Sequence[Any]) -> str:
    """Names as they are asked for: of engines themselves, of suites their id, of the rest their name."""
    return ", ".join(dict.fromkeys(one if isinstance(one, str) else getattr(one, "id", None) or one.name for one in offered))


BEHIND_RUNS = mark("Runs come first; it is taken when none waits.")
# The nearest that any runner comes to taking a run, and what is said of it.
_NEAREST: tuple[tuple[Standing, str], ...] = (
    ("free", mark("Nothing but the line before it.")),
    ("busy", mark("Every runner that could measure it is busy.")),
    ("offline", mark("The runners that could measure it are offline.")),
    ("labels", mark("No runner has the labels that it asks for.")),
    ("does not offer", mark("No runner offers what it asks for.")),
)


def why(one: Waiting | WaitingProbe) -> str:
    standings = {reason.standing for reason in one.reasons}
    if isinstance(one, WaitingProbe) and "free" in standings:
        return BEHIND_RUNS
    return next((text for standing, text in _NEAREST if standing in standings), _NEAREST[-1][1])


def place(one: Waiting, locale: str) -> Place:
    reasons = tuple((reason.runner, say(reason.sentence, locale)) for reason in one.reasons)
    return Place(one, spoken(one.spec.load, locale), part(one.spec.drafter, one.spec.engine), gettext(why(one), locale), reasons)


def place_of_probe(one: WaitingProbe, locale: str) -> PlaceOfProbe:
    reasons = tuple((reason.runner, say(reason.sentence, locale)) for reason in one.reasons)
    return PlaceOfProbe(one, question(one.spec, locale), gettext(why(one), locale), reasons)
