"""The toy on the methodology page: the same runs under the source's definition and under the field's."""

from dataclasses import dataclass

from app.reports.figures.base import Table
from app.reports.format import STYLES, decimal, number
from app.reports.translate import gettext
from app.reports.words import mark
from app.toy.kept import PRINTED, rows
from app.toy.table import ToyRow

NAMES = {"k_skip=1": mark("one layer skipped"), "k_skip=2": mark("two layers skipped"), "adaptive": mark("one skipped, adaptive length")}


@dataclass(frozen=True)
class Lesson:
    """`words` fill the sentences under the table."""

    table: Table
    words: dict[str, str]


def lesson(locale: str) -> Lesson:
    found = [row for row in rows() if row.run in PRINTED]
    named = [gettext(NAMES[row.run], locale) for row in found]
    lines = [
        (gettext("kept ÷ new tokens, which the source prints as acceptance", locale), [_share(PRINTED[row.run][0], locale) for row in found]),
        (gettext("the same, counted by us: V ÷ E", locale), [_share(row.kept_per_new, locale) for row in found]),
        (gettext("kept ÷ drafted, the field's acceptance: V ÷ D", locale), [_share(row.acceptance_rate, locale) for row in found]),
        (gettext("delivered drafts ÷ delivered tokens: A ÷ E", locale), [_share(row.accepted_share, locale) for row in found]),
        (gettext("kept V, drafted D, rounds R, delivered E", locale), [_counts(row, locale) for row in found]),
        (gettext("discarded drafts, discarded bonus tokens", locale), [f"{row.discarded_drafts} · {row.discarded_bonus}" for row in found]),
        (gettext("tokens per round: 1 + V ÷ R", locale), [_four(row.tokens_per_round, locale) for row in found]),
        (gettext("tokens per target forward: (E − P) ÷ (R + U)", locale), [_four(row.tokens_per_target_forward, locale) for row in found]),
        (gettext("layer passes, of plain decoding's %(plain)s", locale) % {"plain": decimal(found[0].plain_layer_passes, 0, locale)},
         [_passes(row, locale) for row in found]),
        (gettext("wall-clock ratio, plain ÷ run: the source's", locale), [_ratio(PRINTED[row.run][1], locale) for row in found]),
        (gettext("wall-clock ratio, plain ÷ run: ours, one run, no interval", locale), [_ratio(row.wall_clock_ratio, locale) for row in found]),
    ]  # fmt: skip
    table = Table((gettext("The toy", locale), *named), tuple((title, *cells) for title, cells in lines))
    first, adaptive = (next(row for row in found if row.run == name) for name in ("k_skip=1", "adaptive"))
    return Lesson(
        table,
        {
            "printed": _share(first.kept_per_new, locale),
            "rate": _share(first.acceptance_rate, locale),
            "printed_adaptive": _share(adaptive.kept_per_new, locale),
            "rate_adaptive": _share(adaptive.acceptance_rate, locale),
            "share_adaptive": _share(adaptive.accepted_share, locale),
        },
    )


def _share(value: float | None, locale: str) -> str:
    assert value is not None
    return decimal(value * 100, 1, locale) + STYLES["share"].suffix(locale)


def _four(value: float | None, locale: str) -> str:
    assert value is not None
    return decimal(value, 4, locale)


def _ratio(value: float, locale: str) -> str:
    return decimal(value, 2, locale) + STYLES["ratio"].suffix(locale)


def _counts(row: ToyRow, locale: str) -> str:
    return " · ".join(number("count", value, locale=locale).value for value in (row.verified, row.drafted, row.rounds, row.emitted))


def _passes(row: ToyRow, locale: str) -> str:
    passes = row.draft_layer_passes + row.verify_layer_passes
    return f"{decimal(passes, 0, locale)} ({decimal(-100 * row.layer_passes_saved, 1, locale).join(('+', STYLES['share'].suffix(locale)))})"
