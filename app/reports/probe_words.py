"""A probe in words of a language: page and command print the same."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.estimate import Cell, Estimate
from app.domain.probe import LastLayers, ProbeSpec
from app.reports.figures.base import Table
from app.reports.format import decimal, say
from app.reports.probe import Beside, LanguageProbe
from app.reports.shown import Shown, show, show_estimate
from app.reports.translate import gettext, language_name, ngettext
from app.reports.words import name_of, speedup_of


@dataclass(frozen=True)
class Told:
    """One language: what follows, the three numbers behind it, and the predictions as a table."""

    language: str
    title: str
    sentence: str
    basis: str
    ratio: Shown
    agreement: Shown
    perplexity: Shown
    table: Table


def question(spec: ProbeSpec, locale: str) -> str:
    return gettext("What would %(model)s draft %(without)s?", locale) % {"model": spec.model.title, "without": without(spec, locale)}


def without(spec: ProbeSpec, locale: str) -> str:
    if isinstance(spec.ablation, LastLayers):
        count = spec.ablation.count
        return ngettext("without its last %(n)s layer", "without its last %(n)s layers", count, locale) % {"n": decimal(count, 0, locale)}
    return gettext("without its attention", locale)


def told(found: LanguageProbe, locale: str) -> Told:
    basis = gettext("%(tokens)s tokens of %(tokenizer)s", locale) % {
        "tokens": decimal(found.tokens, 0, locale),
        "tokenizer": found.tokenizer.short,
    }
    return Told(
        language=found.language,
        title=language_name(found.language, locale),
        sentence=say(found.sentence, locale),
        basis=basis,
        ratio=show_estimate("ratio", found.ratio, locale),
        agreement=show_estimate("share", found.agreement, locale),
        perplexity=show_estimate("number", found.perplexity, locale),
        table=_predictions(found, locale),
    )


def _predictions(found: LanguageProbe, locale: str) -> Table:
    columns = (
        gettext("Draft length", locale),
        name_of("acceptance_rate", locale),
        name_of("tokens_per_round", locale),
        gettext("Speed-up at best", locale),
    )
    rows = tuple(
        (
            decimal(each.length, 0, locale),
            show_estimate("share", each.acceptance, locale),
            show_estimate("tokens", each.tokens_per_round, locale),
            _or_why("ratio", each.speedup_at_best, gettext("what a draft costs is not known", locale), locale),
        )
        for each in found.predictions
    )
    return Table(columns, rows)


def beside_table(rows: Sequence[Beside], locale: str) -> Table:
    """Prediction and measurement next to each other, each with its own interval, and the speed that came of it."""
    columns = (
        gettext("Run", locale),
        gettext("Draft length", locale),
        gettext("Acceptance predicted", locale),
        gettext("Acceptance measured", locale),
        gettext("Tokens per round predicted", locale),
        gettext("Tokens per round measured", locale),
        gettext("Speed-up measured", locale),
    )
    return Table(columns, tuple(_beside(each, locale) for each in rows))


def _beside(found: Beside, locale: str) -> tuple[str | Shown, ...]:
    speedup = _cell(found.speedup, locale)
    kind = " · ".join(part for part in (speedup.n, speedup_of(found.headline, locale)) if part)
    return (
        f"{found.run} · {found.drafter} · {found.language} · {found.suite}",
        decimal(found.predicted.length, 0, locale),
        show_estimate("share", found.predicted.acceptance, locale),
        _cell(found.acceptance, locale),
        show_estimate("tokens", found.predicted.tokens_per_round, locale),
        _cell(found.tokens_per_round, locale),
        replace(speedup, n=kind) if speedup.value else speedup,
    )


def _cell(cell: Cell | None, locale: str) -> Shown:
    """As it stands in its run; a link to what is refused there would lead nowhere here."""
    if cell is None:
        return Shown("absent", why=gettext("not measured in this run", locale))
    shown = show(cell, None, locale)
    refused = shown.state == "refused"
    return Shown("absent", why=gettext("refused in this run: %(why)s", locale) % {"why": shown.why}) if refused else shown


def _or_why(unit: str, found: Estimate | None, why: str, locale: str) -> Shown:
    return Shown("absent", why=why) if found is None else show_estimate(unit, found, locale)


def lines(spec: ProbeSpec, languages: Sequence[LanguageProbe], beside: Sequence[Beside], state: str, locale: str) -> list[str]:
    """For a terminal. Of a probe that found nothing what became of it."""
    if not languages:
        return [f"{question(spec, locale)} {state}"]
    said = [question(spec, locale)]
    for found in languages:
        one = told(found, locale)
        said += ["", f"{one.title}: {one.sentence}", f"  {gettext('Perplexity without the part ÷ with it', locale)}: {flat(one.ratio)}"]
        said += [f"  {gettext('Same likeliest token', locale)}: {flat(one.agreement)}", f"  {one.basis}", *_rows(one.table)]
    return said + (["", *_rows(beside_table(beside, locale))] if beside else [])


def _rows(table: Table) -> list[str]:
    return ["  " + "; ".join(f"{name} {flat(item)}" for name, item in zip(table.columns, row, strict=True)) for row in table.rows]


def flat(item: str | Shown) -> str:
    return item if isinstance(item, str) else " ".join(part for part in (item.value, item.interval, item.why) if part)
