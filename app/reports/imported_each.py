"""A figure that a tool printed of every request, beside ours of the same requests."""

from collections.abc import Sequence

from app.domain.counts import Counts
from app.domain.outside.imported import Imported, Printed, PrintedEach
from app.domain.sentence import Sentence, plain
from app.reports.imported_beside import OURS, OURS_ABSENT, REASONS, UNEXPLAINED, Beside, agrees, gives, scale_of


def beside_each(each: PrintedEach, imported: Imported) -> Beside:
    """One line for the numbers of all requests: each is held against ours of the same request, and the one that is furthest from it stands there."""
    formula = OURS[each.figure]
    told = [
        (Printed(name=request.name, value=value, unit=each.unit), formula(request.reading.counts), request.reading.counts)
        for request, value in zip(imported.requests, each.values, strict=True)
        if value is not None
    ]
    held = [(printed, own, counts) for printed, own, counts in told if own is not None]
    if not held:
        return Beside(name=each.name, value=told[0][0].value, unit=each.unit, figure=each.figure, ours=None, same=None, why=OURS_ABSENT)
    other = [one for one in held if not agrees(one[0], one[1])]
    printed, own, _ = max(other, key=lambda one: abs(one[0].value / scale_of(one[0]) - one[1])) if other else held[0]
    why = _why_other(each.figure, other, len(held), printed.name) if other else _equal(len(held), printed.name)
    return Beside(name=each.name, value=printed.value, unit=each.unit, figure=each.figure, ours=own, same=not other, why=why)


def _equal(n: int, name: str) -> Sentence:
    return plain(
        "The tool prints it of each request: in %(n)s of %(n)s it is equal to ours of the same request, as far as it is printed. Here stands "
        "%(name)s.",
        n=n, name=name,
    )  # fmt: skip


def _why_other(figure: str, other: Sequence[tuple[Printed, float, Counts]], n: int, name: str) -> Sentence:
    """The one reason that gives the number of every request that differs, if there is one."""
    found = (reason.sentence for reason in REASONS if figure in reason.figures and all(gives(reason, one[0], one[2]) for one in other))
    return plain(
        "The tool prints it of each request: in %(other)s of %(n)s it differs from ours of the same request. Here stands the furthest, %(name)s. "
        "%(reason)s",
        other=len(other), n=n, name=name, reason=next(found, UNEXPLAINED).text,
    )  # fmt: skip
