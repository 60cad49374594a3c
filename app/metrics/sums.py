"""How a figure of sums over prompts becomes a reading: pooled, macro, and what macro leaves out."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from app.domain.estimate import Counted, Estimate
from app.domain.sentence import Sentence, plain
from app.metrics.base import Part, Reading, Sums
from app.metrics.counters import totals_of
from app.metrics.frame import Frames
from app.metrics.select import counted, why_untimed
from app.metrics.terms import COUNTS
from app.statistics import clusters

OF_TRIAL = plain("No interval: the engine told these counts of a whole trial, and nothing says how much its requests differ.")
Terms = Callable[[pd.DataFrame], Sequence[pd.Series]]


def over_prompts(frames: Frames, terms: Terms, *, powers: tuple[int, ...] = (1, -1), profiles: bool = False) -> list[Sums]:
    """Sums of the counted speculative requests, over all of them and, if asked, for each profile of text."""
    rows = counted(frames)
    parts: list[tuple[Part, pd.DataFrame]] = [({}, rows)]
    if profiles and not frames.totals:
        parts += [({"profile": str(name)}, own) for name, own in rows.groupby("profile", sort=True)]
    return [of_rows(own, terms, powers=powers, part=part) for part, own in parts if not own.empty]


def of_rows(rows: pd.DataFrame, terms: Terms, *, powers: tuple[int, ...] = (1, -1), part: Part | None = None, on_prompts: bool = False) -> Sums:
    """Sums of request rows, one row a prompt."""
    columns = {f"term{i}": values for i, values in enumerate(terms(rows))}
    table = pd.DataFrame(columns).groupby(rows["prompt"]).sum()
    return Sums(table, powers, part or {}, rounds=total(rows, "rounds"), emitted=total(rows, "emitted"), on_prompts=on_prompts)


def total(rows: pd.DataFrame, column: str) -> int | None:
    """Σ of a count; None when a row lacks it."""
    return None if rows.empty or rows[column].isna().any() else int(rows[column].sum())


def reading(sums: Sums, scale: Literal["share", "ratio"], frames: Frames, *, nothing: Sentence, offset: float = 0.0) -> Reading:
    """A reading from sums. `nothing` is said in place of the figure where its denominator is 0."""
    terms = sums.terms()
    totals = int(frames.requests["requests"].sum()) if frames.totals else None
    if len(terms) > 2:
        pooled = clusters.product(terms, counted=frames.clusters)
    elif scale == "share":
        pooled = clusters.share(terms[0][0], terms[1][0], counted=frames.clusters, totals=totals)
    else:
        pooled = clusters.ratio(terms[0][0], terms[1][0], offset=offset, counted=frames.clusters, totals=totals)
    if pooled.point is None:
        pooled = pooled.model_copy(update={"reason": nothing})
    elif frames.of_trial:
        pooled = pooled.model_copy(update={"reason": OF_TRIAL})
    macro, left_out = (None, None) if frames.totals else _macro(terms, scale, offset, frames.clusters)
    return Reading(pooled, part=sums.part, macro=macro, left_out=left_out, rounds=sums.rounds, emitted=sums.emitted, on_prompts=sums.on_prompts)


def _macro(
    terms: list[tuple[clusters.Array, int]], scale: Literal["share", "ratio"], offset: float, what: Counted
) -> tuple[Estimate | None, Sentence | None]:
    """The mean over clusters that have a figure of their own (geometric for ratios), and how many have none."""
    has = np.all([values > 0 for values, power in terms if power < 0], axis=0)
    left = int((~has).sum())
    said = _left_out(left, len(has), what) if left else None
    if not has.any():
        return None, said
    values = np.prod([values[has] ** power for values, power in terms], axis=0)
    mean = clusters.mean_share(values, counted=what) if scale == "share" else clusters.geometric_mean(values + offset, least=offset, counted=what)
    return mean.model_copy(update={"of": len(has)}) if left else mean, said


def _left_out(left: int, n: int, what: Counted) -> Sentence:
    if what == "requests":
        return plain("%(left)s of %(n)s requests have nothing to divide by and are left out of the mean over requests.", left=left, n=n)
    return plain("%(left)s of %(n)s prompts have nothing to divide by and are left out of the mean over prompts.", left=left, n=n)


def missing(reason: Sentence, part: Part | None = None) -> Reading:
    """The reading of a figure that cannot be computed."""
    return Reading(Estimate(point=None, n=0, counted="requests", reason=reason), part=part or {})


def unavailable(frames: Frames, needs: Sequence[str]) -> Reading | None:
    """The reading in place of a count figure: no speculative request, or a count that its source did not give. None when all is there."""
    rows = counted(frames)
    if rows.empty:
        return missing(why_untimed(frames, "speculative"))
    lacking = [name for name in needs if rows[name].isna().any()]
    if not lacking:
        return None
    totals = None if frames.totals else totals_of(frames)
    # Of what single requests do not tell, that which the engine's totals do not tell either is what is missing.
    absent = next((name for name in lacking if totals is None or getattr(totals, name, None) is None), lacking[0])
    if absent in COUNTS:
        return missing(plain("The engine does not tell %(count)s, so this figure cannot be computed.", count=COUNTS[absent].text))
    return missing(plain("The source did not give %(field)s, so this figure cannot be computed.", field=absent))
