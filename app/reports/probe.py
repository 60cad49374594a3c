"""What a probe predicts, from what was found and nothing else.

A text is walked as the decoding loop would walk it, were it the model's own answer: drafts are kept as far as both models agree, and one more token
follows. That is exact for greedy drafts with a model's first layers (tests hold it against the loop). It leaves two things open: prompts are written
by people and answers by the model; and a draft without attention goes on from the recurrent states of the whole model, where a probe reads the whole
text without it.
"""

import math
from collections.abc import Sequence

import numpy as np

from app.domain.estimate import LEVEL, Cell, Estimate
from app.domain.language import Language
from app.domain.probe import Component, LastLayers, ProbeFound, ProbeSpec, ProbeText, share_of
from app.domain.sentence import Quantity, Sentence, plain
from app.domain.tokenizer import TokenizerIdentity
from app.domain.value import Value
from app.statistics import clusters
from app.statistics.student import quantile
from app.statistics.wording import quantity

LENGTHS = (1, 2, 4, 8)


class Prediction(Value):
    """Of drafts of `length` tokens. `speedup_at_best` is where one forward over all of them costs no more than a plain step; None without the cost
    of a draft."""

    length: int
    acceptance: Estimate
    tokens_per_round: Estimate
    speedup_at_best: Estimate | None


class LanguageProbe(Value):
    """One language, which like the tokenizer it cannot be without. `perplexity` is the full model's, `ratio` the other's divided by it."""

    language: Language
    tokenizer: TokenizerIdentity
    tokens: int
    perplexity: Estimate
    ratio: Estimate
    agreement: Estimate
    predictions: tuple[Prediction, ...]
    sentence: Sentence


class Beside(Value):
    """A run whose drafter is the very model without the part: what was predicted for drafts of its length beside what was measured. `same_text` says
    that its prompts are of the probe's suite. What was refused or could not be computed says so itself; None is what the run has no cell for."""

    run: int
    language: Language
    drafter: str
    suite: str
    same_text: bool
    predicted: Prediction
    acceptance: Cell
    tokens_per_round: Cell | None
    speedup: Cell | None
    headline: str


def of_language(ablation: LastLayers | Component, found: ProbeFound, language: Language) -> LanguageProbe:
    share = share_of(ablation, found.layers, found.draft_share)
    texts = [text for text in found.texts if text.language == language]
    tokens = _column(texts, "tokens")
    loss, ablated = _column(texts, "loss"), _column(texts, "ablated_loss")
    predictions = tuple(predicted(texts, length, share) for length in LENGTHS)
    return LanguageProbe(
        language=language,
        tokenizer=found.tokenizer,
        tokens=int(tokens.sum()),
        perplexity=_exponential(loss, tokens),
        ratio=_exponential(ablated - loss, tokens),
        agreement=clusters.share([text.agreeing.count("1") for text in texts], tokens),
        predictions=predictions,
        sentence=_sentence(predictions, share),
    )


def languages_of(spec: ProbeSpec, found: ProbeFound) -> tuple[LanguageProbe, ...]:
    return tuple(of_language(spec.ablation, found, language) for language in spec.languages)


def predicted(texts: Sequence[ProbeText], length: int, draft_share: float | None) -> Prediction:
    walked = [walk(text.agreeing, length) for text in texts]
    drafted, kept, rounds = (np.asarray(column, dtype=np.float64) for column in zip(*walked, strict=True))
    per_round = clusters.ratio(kept, rounds, offset=1.0)
    best = None if draft_share is None else _scaled(per_round, 1 / (1 + length * draft_share))
    return Prediction(length=length, acceptance=clusters.share(kept, drafted), tokens_per_round=per_round, speedup_at_best=best)


def walk(agreeing: str, length: int) -> tuple[int, int, int]:
    """(drafted, kept, rounds) over one text: definitions' D, V and R. As in the loop no draft reaches the last token, which is a round's own."""
    drafted = kept = rounds = at = 0
    while at < len(agreeing) - 1:
        ahead = agreeing[at : min(at + length, len(agreeing) - 1)]
        own = len(ahead) - len(ahead.lstrip("1"))
        drafted, kept, rounds, at = drafted + len(ahead), kept + own, rounds + 1, at + own + 1
    return drafted, kept, rounds


def _column(texts: Sequence[ProbeText], name: str) -> clusters.Array:
    return np.asarray([getattr(text, name) for text in texts], dtype=np.float64)


def _exponential(numerator: clusters.Array, denominator: clusters.Array) -> Estimate:
    """exp(Σ numerator ÷ Σ denominator) over texts, with t on the exponent: a perplexity, or a quotient of two."""
    mean = float(numerator.sum() / denominator.sum())
    n, reason = len(numerator), clusters.too_few(len(numerator))
    if reason is not None:
        return Estimate(point=math.exp(min(mean, 700.0)), n=n, counted="prompts", reason=reason)
    half = quantile(LEVEL, n - 1) * clusters.residual_error(numerator, denominator)
    point, low, high = (math.exp(min(value, 700.0)) for value in (mean, mean - half, mean + half))
    return Estimate(point=point, low=low, high=high, n=n, counted="prompts")


def _scaled(found: Estimate, factor: float) -> Estimate:
    ends = {name: None if (value := getattr(found, name)) is None else value * factor for name in ("point", "low", "high")}
    return found.model_copy(update=ends)


def _sentence(predictions: Sequence[Prediction], draft_share: float | None) -> Sentence:
    """What the least that a draft costs leaves possible: (1 + α n) ÷ (n c + v) with v ≥ 1 exceeds 1 only where α > c."""
    if draft_share is None:
        return plain("What a draft costs is not known, so nothing is said of speed.")
    acceptances = [each.acceptance for each in predictions]
    cost = Quantity(kind="share", value=draft_share)
    known = [each for each in acceptances if each.low is not None and each.high is not None]
    best = max(known, key=lambda each: each.high or 0.0, default=None)
    if best is None or len(known) < len(acceptances):
        return plain("Cannot tell: there are too few texts, or they differ too little, for an interval.")
    said = quantity("share", best)
    if all((each.high or 0.0) < draft_share for each in known):
        return plain(
            "On texts like these it cannot pay: a draft token costs %(cost)s of a plain step in layers alone, and at no draft length is "
            "more than %(acceptance)s kept.",
            cost=cost,
            acceptance=said,
        )
    if any((each.low or 0.0) > draft_share for each in known):
        return plain(
            "On texts like these it may pay where verifying a whole draft costs hardly more than a plain step: up to %(acceptance)s is kept, and a "
            "draft token costs "
            "%(cost)s of a plain step in layers.",
            cost=cost,
            acceptance=said,
        )
    return plain(
        "Cannot tell: up to %(acceptance)s is kept, which may be more or less than the %(cost)s of a plain step that a draft token costs in layers.",
        cost=cost,
        acceptance=said,
    )
