"""An order in words: what it will compare, how long that takes, what it will be able to say, and the same from a terminal."""

from collections.abc import Iterable, Sequence
from typing import Any

from app.campaigns.forecast import Expected
from app.domain.catalogue import Part
from app.domain.spec import GENERATIONS, RunSpec
from app.reports.format import counted, decimal
from app.reports.loads import brief, spoken
from app.reports.translate import gettext, ngettext
from app.reports.words import mark
from app.runners_registry.schemas import Catalogue
from app.statistics.reasons import FEWEST_TRIAL_PAIRS, PAIRS_PER_BLOCK
from app.statistics.verdict import FEWEST_PROMPTS
from app.web.command import submit_line
from app.web.estimate import estimate, reckoned
from app.web.order import Order, prompts_of

COMPARED = mark("This will compare %(drafter)s with plain decoding in %(languages)s, %(at)s: %(runs)s.")
PASSES_SAID = mark("%(prompts)s × %(blocks)s of two plain and two speculative passes, %(tokens)s an answer.")
# The kind of engine whose answers tell how many tokens there are, and nothing of drafts.
SILENT = "openai"
FEWEST_LEVELS = 3
MOST_LINES = 4


def named(specs: Sequence[RunSpec], locale: str) -> str:
    """What a campaign is called: its drafters, languages and loads."""
    said = [(spec.drafter_title, spec.language, brief(spec.load, locale)) for spec in specs]
    drafters, languages, loads = (", ".join(dict.fromkeys(names)) for names in zip(*said, strict=True))
    return " · ".join((drafters, languages, gettext("load", locale) + " " + loads))


def summary(order: Order, catalogue: Catalogue, took: Expected | None, locale: str) -> dict[str, Any]:
    """What will be compared, what it will be able to say, and the same from a terminal."""
    if not order.specs:
        return {"sentence": gettext("The form is not complete yet.", locale), "size": "", "time": "", "claims": [], "lines": [], "count": 0}
    first = order.specs[0]
    loads = list(dict.fromkeys(spec.load for spec in order.specs))
    load = first.load.concurrency
    at = ngettext("at %(n)s request at a time", "at %(n)s requests at a time", load, locale) % {"n": decimal(load, 0, locale)}
    if first.load.rate is not None or len(loads) > 1:
        at = gettext("under the load “%(load)s”", locale) % {"load": ", ".join(spoken(load, locale) for load in loads)}
    words = {
        "drafter": _joined((spec.drafter_title for spec in order.specs), locale),
        "languages": _joined((spec.language for spec in order.specs), locale),
        "runs": estimate(len(order.specs), took, locale),
    }
    alone = without_plain(first, catalogue)
    said = mark("This will measure the acceptance of %(drafter)s in %(languages)s, %(at)s: %(runs)s.") if alone else COMPARED
    sentence = gettext(said, locale) % (words | {"at": at})
    prompts = prompts_of(first, catalogue.suites)
    size = gettext(mark("%(prompts)s × %(blocks)s of two passes, %(tokens)s an answer.") if alone else PASSES_SAID, locale) % {
        "prompts": gettext("the chosen prompts", locale) if prompts is None else counted(prompts, "prompts", locale),
        "blocks": counted(first.trials, "blocks", locale),
        "tokens": counted(first.max_new_tokens, "tokens", locale),
    }
    lines = [submit_line(spec) for spec in order.specs[:MOST_LINES]]
    more = len(order.specs) - len(lines)
    return {
        "sentence": sentence, "size": size, "time": reckoned(took, locale), "claims": _claims(order, catalogue, prompts, locale), "lines": lines,
        "count": len(order.specs),
        "more": ngettext("and %(n)s line more like these", "and %(n)s lines more like these", more, locale) % {"n": more} if more else "",
    }  # fmt: skip


def _joined(names: Iterable[str], locale: str) -> str:
    return gettext(" and ", locale).join(dict.fromkeys(names))


def lacking_for_speed(spec: RunSpec, prompts: int | None) -> str | None:
    """What a verdict on speed would lack (definitions § 4); None where it may come."""
    if spec.load.regime == "single":
        return mark("no verdict on speed: fewer than 8 prompts") if prompts is not None and prompts < FEWEST_PROMPTS else None
    if spec.load.regime == "closed" and prompts is not None and prompts < GENERATIONS * spec.load.concurrency:
        return mark("no verdict on speed: fewer than three prompts for each request at a time")
    return mark("no verdict on speed: fewer than 4 trial pairs") if PAIRS_PER_BLOCK * spec.trials < FEWEST_TRIAL_PAIRS else None


def without_plain(spec: RunSpec, catalogue: Catalogue) -> bool:
    """Whether its engine has no plain arm, so that there will be acceptance and no speed-up."""
    engine = catalogue.at(spec.engine)
    return engine is not None and not engine.plain


def lossy(spec: RunSpec, verifiers: Iterable[Part]) -> bool:
    """Whether the rule may change the answers, as far as runners say."""
    return any(part.name == spec.verifier.name and part.lossless is False for part in verifiers)


def _claims(order: Order, catalogue: Catalogue, prompts: int | None, locale: str) -> list[tuple[bool, str]]:
    specs = order.specs
    lacking = next((why for spec in specs if (why := lacking_for_speed(spec, prompts))), None)
    if without_plain(specs[0], catalogue):
        lacking = mark("no speed-up: this engine has no plain arm")
    pair, levels = len(order.languages) > 1, 0 if without_plain(specs[0], catalogue) else len({spec.load for spec in specs})
    speed = lacking or mark("speed-up: the plain arm is included")
    languages = mark("languages against each other, on parallel prompts") if pair else mark("one language against another: check a second one")
    until = mark("until what load it pays") if levels >= FEWEST_LEVELS else mark("until what load it pays: that takes three levels of load")
    if any(lossy(spec, catalogue.verifiers) and "lossy" not in spec.labels for spec in specs):
        said = mark("neither acceptance nor speed-up: this rule may change the answers, so they are refused unless the run has the label lossy=yes")
        return [(False, gettext(said, locale))]
    if lacking is None and any(lossy(spec, catalogue.verifiers) for spec in specs):
        speed = mark("speed-up, told to be lossy: this rule may change the answers")
    engine = catalogue.at(specs[0].engine)
    silent = engine is not None and engine.kind == SILENT
    acceptance = mark("no acceptance: servers of this interface tell no drafts") if silent else mark("acceptance: language and tokenizer are given")
    return [
        (not silent, gettext(acceptance, locale)),
        (lacking is None, gettext(speed, locale)),
        (pair, gettext(languages, locale)),
        (levels >= FEWEST_LEVELS, gettext(until, locale)),
    ]
