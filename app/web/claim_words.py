"""Claims in words: a published value with the digits it was published with, and what its source leaves out."""

from collections.abc import Sequence

from app.claims.schemas import REFUSING, Claim
from app.reports.format import STYLES, decimal
from app.reports.translate import gettext
from app.reports.words import mark

KINDS: dict[str, str] = {
    "self, layers": mark("self-speculation, layers"), "self, experts": mark("self-speculation, experts"),
    "self, KV subset": mark("self-speculation, part of the KV cache"), "self, hybrid models": mark("self-speculation, hybrid models"),
    "external, no weights": mark("external, without weights"), "external model": mark("external model"),
    "external head": mark("external trained head"), "external tree": mark("external tree drafter"),
    "parallel block": mark("trained, a block in one pass"), "heads in the model": mark("trained heads in the model"),
    "training": mark("a way to train"), "controller": mark("a controller of draft length"), "engine": mark("engines"),
    "other": mark("something else"),
}  # fmt: skip
QUANTITIES: dict[str, str] = {
    "speed-up": mark("speed-up"), "acceptance": mark("acceptance"), "tokens per call": mark("tokens per call"), "speed": mark("speed"),
}  # fmt: skip
LACKING: dict[str, str] = {
    "language": mark("no language"), "tokenizer": mark("no tokenizer"), "target": mark("no target"), "hardware": mark("no hardware"),
    "load": mark("no load"), "definition": mark("no definition"),
}  # fmt: skip
STANDS: dict[str, str] = {
    "inside": mark("inside the interval of run %(run)s"), "above": mark("above the interval of run %(run)s"),
    "below": mark("below the interval of run %(run)s"),
}  # fmt: skip


def value(claim: Claim, locale: str) -> str:
    """`5.3×`, `80–88%`: no digit more than was published, and no interval, since none was."""
    style = STYLES[claim.unit]
    ends = [end * style.scale for end in (claim.value, claim.upto) if end is not None]
    digits = next((d for d in range(4) if all(abs(round(end, d) - end) < 1e-9 * max(end, 1) for end in ends)), 4)
    return "–".join(decimal(end, digits, locale) for end in ends) + style.suffix(locale)


def lacking(claim: Claim, locale: str) -> str:
    return ", ".join(gettext(LACKING[name], locale) for name in claim.lacks) or gettext("nothing", locale)


def together(claims: Sequence[Claim], locale: str) -> str:
    """What sources leave out of that without which a figure is refused; said to be so in part where it is not true of all of them."""
    found = dict.fromkeys(name for claim in claims for name in claim.lacks if name in REFUSING)
    said = ", ".join(gettext(LACKING[name], locale) for name in found)
    whole = all(set(found) <= set(claim.lacks) for claim in claims)
    return said if whole else gettext("in part: %(what)s", locale) % {"what": said}


def carries(claim: Claim, locale: str) -> str:
    """What the source does say: `SmolLM2 · ru · H200`."""
    said = [claim.target, claim.language, claim.tokenizer, claim.hardware, claim.load]
    return " · ".join(gettext(text, locale) for text in said if text) or gettext("nothing of it", locale)
