"""How acceptance differs between two runs, at the end of a sentence: by how much, or that it cannot be told.

The difference is that of the two runs' own shares over all pairs, also those in which one of them made no draft; what is known of its spread rests on
the run that drafted in fewer (app.statistics.differences).
"""

import re

from app.domain.sentence import Quantity, Sentence
from app.reports.report import Contrast
from app.reports.words import mark
from app.statistics import reasons
from app.statistics.wording import quantity

Values = dict[str, str | int | Quantity]
_TOLD = re.compile(r"[.;:] [Aa]cceptance differs by %\(difference\)s, over %\(pairs\)s(?=\.$)")
_UNTOLD = ". How acceptance differs cannot be told: %(reason)s (the run with fewer drafted in %(prompts)s)"
_FEW = mark("too few prompts with drafts for an interval")
_SAME = mark("every prompt gave the same value, which leaves no interval")


def is_told(accepted: Contrast) -> bool:
    """Whether the difference may be said: it has an interval, or either run gave the same and there is none."""
    found = accepted.estimate
    return found.low is not None or (found.point == 0 and found.reason == reasons.no_spread())


def difference(accepted: Contrast) -> Values:
    return {"difference": quantity("points", accepted.estimate), **over(accepted)}


def over(contrast: Contrast) -> Values:
    """The pairs that a contrast is over, and in how many of them the run with fewer has something to divide by."""
    found = contrast.estimate
    return {"pairs": found.n} if found.of is None else {"pairs": found.n, "pairs_of": found.of}


def why_untold(accepted: Contrast) -> Values:
    found = accepted.estimate
    values: Values = {"reason": _SAME if found.reason == reasons.no_spread() else _FEW, "prompts": found.n}
    return values if found.of is None else values | {"prompts_of": found.of}


def guarded(said: Sentence, accepted: Contrast) -> Sentence:
    """A sentence that ends with the difference, or else with why there is none to tell: a point without an interval would pass for a finding."""
    if is_told(accepted) or "%(difference)s" not in said.text:
        return said
    kept = {name: value for name, value in said.values.items() if name not in {"difference", "pairs", "pairs_of"}}
    return Sentence(text=untold(said.text), values=kept | why_untold(accepted))


def untold(text: str) -> str:
    """The sentence of the same case without the difference. Raises ValueError where it does not end with one."""
    found, replaced = _TOLD.subn(_UNTOLD, text)
    if replaced != 1:
        raise ValueError(f"no difference at the end of: {text}")
    return found
