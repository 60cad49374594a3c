"""The sentences of a gate."""

from collections.abc import Sequence
from typing import cast

from app.domain.estimate import Estimate, Unit
from app.domain.sentence import Kind, Quantity, Sentence, plain
from app.gates.rule import Answer, together

# Each end of a 95 % interval is passed by chance this often.
ONE_SIDED = 0.025


def of_bound(answer: Answer, unit: Unit, found: Estimate, *, least: float | None, most: float | None) -> Sentence:
    """What an interval says of a bound. `found` has an interval, or `no_interval` is said instead."""
    bound = least if least is not None else most
    assert bound is not None
    assert found.point is not None
    value = Quantity(kind=cast(Kind, unit), value=found.point, low=found.low, high=found.high, beside=bound)
    values = {"value": value, "bound": Quantity(kind=cast(Kind, unit), value=bound, asked=True)}
    if answer == "cannot tell":
        return plain("%(value)s: the bound %(bound)s lies inside the interval.", **values)
    if least is not None:
        above = plain("%(value)s: the whole interval is at or above the bound %(bound)s.", **values)
        return above if answer == "holds" else plain("%(value)s: the whole interval is below the bound %(bound)s.", **values)
    below = plain("%(value)s: the whole interval is at or below the bound %(bound)s.", **values)
    return below if answer == "holds" else plain("%(value)s: the whole interval is above the bound %(bound)s.", **values)


def same_everywhere(pairs: int) -> Sentence:
    return plain("No difference: both runs gave the same on each of %(pairs)s.", pairs=pairs)


def not_in_run(run: int) -> Sentence:
    return plain("Run %(run)s has no such figure.", run=run)


def not_there(run: int, parts: Sequence[str]) -> Sentence:
    """`parts` are those that the run does have of the figure."""
    return plain("Run %(run)s has no such part of the figure. It has: %(parts)s.", run=run, parts="; ".join(parts))


def other_headline() -> Sentence:
    return plain("The repeat is judged by another figure, because its outputs differ from plain's where the first run's do not, or the reverse.")


def incomparable(baseline: int, fields: Sequence[str]) -> Sentence:
    return plain("Run %(baseline)s is no baseline of this run: they differ in %(fields)s.", baseline=baseline, fields=", ".join(fields))


def no_pairs(baseline: int) -> Sentence:
    return plain("Nothing is paired: this run and run %(baseline)s share no prompt that both measured.", baseline=baseline)


def overall(answers: Sequence[Answer]) -> Sentence:
    n, answer = len(answers), together(answers)
    if answer == "holds":
        return plain("The gate holds (%(checks)s).", checks=n)
    said = answers.count(answer)
    if answer == "does not hold":
        return plain("The gate does not hold (%(failing)s of %(checks)s).", failing=said, checks=n)
    if answer == "could not be measured":
        return plain("The gate could not be measured (%(failing)s of %(checks)s).", failing=said, checks=n)
    return plain("The gate cannot tell (%(failing)s of %(checks)s).", failing=said, checks=n)


def confirmation(repeat: int, both: bool) -> Sentence:
    if both:
        return plain("Confirmed: run %(repeat)s, measured anew, says so too.", repeat=repeat)
    return plain("Not confirmed: run %(repeat)s, measured anew, does not say so too.", repeat=repeat)


def unconfirmed() -> Sentence:
    return plain("Not confirmed by a repeat: one run alone says so.")


def family(n: int) -> Sentence:
    """Said of every gate with more than one check."""
    return plain(
        "%(checks)s are a family: if every figure lay exactly at its bound, chance alone would fail one of them in up to %(share)s of runs.",
        checks=n,
        share=Quantity(kind="share", value=min(1.0, n * ONE_SIDED), asked=True),
    )
