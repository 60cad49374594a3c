"""A tool's own figure beside ours, and why they differ: each known reason is a formula, and the one that gives the printed number is named."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.domain.counts import Counts
from app.domain.outside.imported import Imported, Printed
from app.domain.sentence import Sentence, plain
from app.domain.value import Value
from app.reports.imported_figures import FIGURES
from app.reports.imported_told import carried

EQUAL = plain("Equal to ours, as far as it is printed.")
UNEXPLAINED = plain("It differs from ours, and none of the known reasons gives this number.")
NONE_OFOURS = plain("No figure of ours has this definition.")
TIMED = plain("Times are not held against ours: nothing here was measured with the same clock.")
OURS_ABSENT = plain("Ours could not be computed from this file.")
_PLACE = re.compile(r"\[(\d{1,4})\]$")
Formula = Callable[[Counts], float | None]


class Beside(Value):
    """A figure as the tool printed it, ours under `figure` (and at `position` where it is one of several), and what is between them. `same` is None
    where there is nothing to hold it against, `counts` what the tool's number counts, where that is known before it is held against anything."""

    name: str
    value: float
    unit: str
    figure: str | None
    ours: float | None
    same: bool | None
    why: Sentence
    counts: Sentence | None = None


@dataclass(frozen=True)
class Reason:
    sentence: Sentence
    figures: tuple[str, ...]
    formula: Formula


def _over(above: str, below: str, plus: float = 0.0) -> Formula:
    """Σ of the counts named in `above` ÷ that of `below` (`DR` is D + R), None where one is missing or nothing is below."""

    def value(counts: Counts) -> float | None:
        top, bottom = _sum(counts, above), _sum(counts, below)
        return None if top is None or not bottom else plus + top / bottom

    return value


def _sum(counts: Counts, letters: str) -> int | None:
    fields = {"D": "drafted", "V": "verified", "A": "accepted", "R": "rounds", "U": "undrafted", "E": "emitted"}
    found = [getattr(counts, fields[letter]) for letter in letters]
    return None if None in found else sum(found)


def _nominal(counts: Counts) -> float | None:
    drafted = None if counts.longest_draft is None or counts.rounds is None else counts.longest_draft * counts.rounds
    return None if counts.verified is None or not drafted else counts.verified / drafted


SHARES = ("acceptance_rate", "acceptance_rate_nodes", "accepted_share")
LENGTHS = ("tokens_per_round", "accepted_per_round", "tokens_per_target_forward")
REASONS = (
    Reason(plain("The tool divides all delivered tokens by rounds: the prefill's token and those of steps without a draft are among them."),
           LENGTHS, _over("E", "R")),
    Reason(plain("The tool's number has the target's own token of each round in it."), ("accepted_per_round",), _over("V", "R", 1.0)),
    Reason(plain("The tool's number leaves out the target's own token of each round."), ("tokens_per_round",), _over("V", "R")),
    Reason(plain("The tool counts steps without a draft as rounds."), LENGTHS, _over("V", "RU", 1.0)),
    Reason(plain("The tool hides steps without a draft: it divides by rounds alone."), ("tokens_per_target_forward",), _over("V", "R", 1.0)),
    Reason(plain("The tool divides kept drafts by delivered tokens, not by drafted ones."), SHARES, _over("V", "E")),
    Reason(plain("The tool divides delivered drafts by drafted ones, after the cut at the end of an answer."), SHARES, _over("A", "D")),
    Reason(plain("The tool counts the target's own token of each round among kept and drafted ones."), SHARES, _over("VR", "DR")),
    Reason(plain("The tool takes every draft for as long as the longest: its D is k·R."), SHARES, _nominal),
)  # fmt: skip
MACRO = plain("The tool's number is the mean of each request's own, ours is over all of them together.")
OURS: dict[str, Formula] = {
    "acceptance_rate": _over("V", "D"), "acceptance_rate_nodes": _over("V", "D"), "verified_per_position": _over("VR", "DR"),
    "accepted_per_round": _over("V", "R"), "tokens_per_round": _over("V", "R", 1.0), "accepted_share": _over("A", "E"),
}  # fmt: skip


def beside(imported: Imported, ours: dict[str, float | None]) -> tuple[Beside, ...]:
    """`ours` are our points by figure, of several positions with the position (`acceptance_at_all_rounds[1]`), which tools count from 0."""
    return tuple(_beside(printed, imported, ours) for printed in imported.printed)


def _beside(printed: Printed, imported: Imported, ours: dict[str, float | None]) -> Beside:
    place = _PLACE.search(printed.name)
    key = printed.figure or ""
    own = ours.get(f"{key}[{int(place[1]) + 1}]" if place else key)
    said = {"name": printed.name, "value": printed.value, "unit": printed.unit, "figure": printed.figure, "ours": own}
    if own is None:
        return Beside(**said, same=None, why=_why_not(printed.figure))
    same = agrees(printed, own)
    return Beside(**said, same=same, why=EQUAL if same else _why(printed, imported))


def _why_not(figure: str | None) -> Sentence:
    if figure is None:
        return NONE_OFOURS
    return OURS_ABSENT if figure in FIGURES else TIMED


def _why(printed: Printed, imported: Imported) -> Sentence:
    total = imported.total.counts
    if printed.of_requests:
        return MACRO
    for reason in REASONS:
        if printed.figure in reason.figures and gives(reason, printed, total):
            return reason.sentence
    mean = _mean(printed.figure, [request.reading.counts for request in imported.requests], total)
    return MACRO if mean is not None and agrees(printed, mean) else UNEXPLAINED


def gives(reason: Reason, printed: Printed, counts: Counts) -> bool:
    value = reason.formula(counts)
    return value is not None and agrees(printed, value)


def _mean(figure: str | None, counts: Sequence[Counts], total: Counts) -> float | None:
    formula = OURS.get(figure or "")
    if formula is None or not carried(counts, total, ("verified",)):
        return None
    values = [value for each in counts if (value := formula(each)) is not None]
    return sum(values) / len(values) if values else None


def scale_of(printed: Printed) -> float:
    return 100.0 if printed.unit == "percent" else 1.0


def agrees(printed: Printed, value: float) -> bool:
    """Whether a number is the printed one within half a unit of its last digit. A percentage is not another number than its fraction."""
    scale = scale_of(printed)
    _, _, digits = f"{printed.value:.12g}".partition(".")
    half = 0.0 if "e" in digits else 0.5 * 10.0 ** -len(digits)
    return abs(value * scale - printed.value) <= max(half * 1.001, 1e-9 * max(abs(printed.value), 1.0))
