"""What a file tells of its counts, and what it does not."""

from collections.abc import Sequence

from app.domain.counts import Counts
from app.domain.outside.reading import Reading
from app.domain.sentence import Sentence, plain
from app.metrics.terms import COUNTS


def carried(counts: Sequence[Counts], total: Counts, needs: Sequence[str]) -> bool:
    """Whether single requests tell all of a figure's counts, so that they are its clusters."""
    told = bool(counts) and all(getattr(each, name) is not None for each in counts for name in needs)
    return told and all(sum(getattr(each, name) for each in counts) == getattr(total, name) for name in needs)


def not_told(outside: Reading, name: str) -> Sentence:
    """Why a count is missing, with the names under which it was looked for."""
    looked = next((absent.looked_for for absent in outside.absent if absent.count in (name, _SYMBOLS.get(name))), ())
    count = COUNTS[name].text
    if looked:
        return plain("The file does not tell %(count)s; looked for: %(names)s.", count=count, names=", ".join(looked))
    return plain("The file does not tell %(count)s.", count=count)


_SYMBOLS = {"drafted": "D", "verified": "V", "rounds": "R", "undrafted": "U", "accepted": "A", "emitted": "E", "prefill_tokens": "P"}
