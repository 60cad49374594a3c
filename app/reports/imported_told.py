"""What a file tells of its counts, and what it does not."""

from collections.abc import Sequence

from app.domain.counts import Counts
from app.domain.outside.imported import Imported
from app.domain.sentence import Sentence, plain
from app.metrics.terms import COUNTS


def carried(counts: Sequence[Counts], total: Counts, needs: Sequence[str]) -> bool:
    """Whether single requests tell all of a figure's counts, so that they are its clusters."""
    told = bool(counts) and all(getattr(each, name) is not None for each in counts for name in needs)
    return told and all(sum(getattr(each, name) for each in counts) == getattr(total, name) for name in needs)


def not_told(imported: Imported, name: str) -> Sentence:
    """Why a count is missing, with the names under which it was looked for. Where some requests alone lack it, they are counted: what the others tell
    is of those that the missing ones left, and no total."""
    looked = next((absent.looked_for for absent in imported.total.absent if absent.count in (name, _SYMBOLS.get(name))), ())
    count, names = COUNTS[name].text, ", ".join(looked)
    lacking = [request.name for request in imported.requests if not _tells(request.reading.counts, name)]
    if 0 < len(lacking) < len(imported.requests):
        return _lacked(len(lacking), len(imported.requests), lacking[0], count, names)
    if name == "undrafted" and not looked and imported.carried.load_said:
        # The counter of steps is there; what prompts took of them is not known of requests that shared steps.
        return plain(
            "Steps without a draft are known only of requests that ran one at a time; if these did, say so: %(name)s is 1.", name="concurrency"
        )
    if looked:
        return plain("The file does not tell %(count)s; looked for: %(names)s.", count=count, names=names)
    return plain("The file does not tell %(count)s.", count=count)


def _lacked(n: int, all: int, first: str, count: str, names: str) -> Sentence:
    if names:
        return plain(
            "%(lacking)s of %(all)s requests do not tell %(count)s (the first: %(first)s), so there is no total, and the others alone would be "
            "another selection; looked for: %(names)s.",
            lacking=n, all=all, first=first, count=count, names=names,
        )  # fmt: skip
    return plain(
        "%(lacking)s of %(all)s requests do not tell %(count)s (the first: %(first)s), so there is no total, and the others alone would be another "
        "selection.",
        lacking=n, all=all, first=first, count=count,
    )  # fmt: skip


def _tells(counts: Counts, name: str) -> bool:
    return getattr(counts, name) is not None or (name == "kept_at" and counts.histogram is not None)


_SYMBOLS = {"drafted": "D", "verified": "V", "rounds": "R", "undrafted": "U", "accepted": "A", "emitted": "E", "prefill_tokens": "P"}
