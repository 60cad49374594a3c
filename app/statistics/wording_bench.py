"""What is said of a bench on which what runs first and what runs second in a pair are not alike, and where to look."""

from app.domain.sentence import Quantity, Sentence, plain


def not_level(floor: Quantity, *, served: bool) -> Sentence:
    """`served` is an engine whose servers take turns: the one that is asked has just been at rest."""
    if served:
        return plain(
            "Cannot tell on this machine: the bench is not level. Plain against plain gives %(floor)s where 1 is due, so what runs first in a pair "
            "is not treated as what runs second. Measure once more, since chance does this to one level bench in twenty; if it stays, look for "
            "other work, for cores that slow down as they heat up, and for a server that is slow to wake when its turn comes.",
            floor=floor,
        )
    return plain(
        "Cannot tell on this machine: the bench is not level. Plain against plain gives %(floor)s where 1 is due, so what runs first in a pair is "
        "not treated as what runs second. Measure once more, since chance does this to one level bench in twenty; if it stays, look for other work "
        "and for cores that slow down as they heat up.",
        floor=floor,
    )
