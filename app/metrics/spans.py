"""Windows of an answer: what speculation gains there and then, and not on the whole. They show that a peak is no mean.

A window is the fewest whole steps that deliver at least 32 tokens; windows of an answer do not overlap, and what is left behind the last is in none.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from app.metrics.frame import Frames
from app.metrics.once import once
from app.metrics.select import counted_trial, timed
from app.metrics.terms import ARMS, LEAST_SECONDS

LEAST_TOKENS = 32
SPAN_COLUMNS = ["prompt", "profile", "first", "last", "speedup"]


@once
def spans(frames: Frames) -> pd.DataFrame:
    """A row a window: output positions `first` … `last` (from 1), and the median seconds of plain for them ÷ those of the speculative arm.

    Over undisturbed passes whose answers are equal in both arms; a prompt with any other answer has no window. Of a controller that decides by
    time, whose passes part at other places, one pass is taken.
    """
    equal = _equal(frames)
    if equal.empty:
        return pd.DataFrame(columns=SPAN_COLUMNS)
    ends = {arm: _ends(frames, equal[equal["arm"] == arm]) for arm in ARMS}
    others = {str(prompt): rows for prompt, rows in ends["plain"].groupby("prompt")}
    found = [row for prompt, own in ends["speculative"].groupby("prompt", sort=True) for row in _of_prompt(str(prompt), own, others[str(prompt)])]
    rows = pd.DataFrame(found, columns=[name for name in SPAN_COLUMNS if name != "profile"])
    profiles = equal.drop_duplicates("prompt")[["prompt", "profile"]]
    return rows.merge(profiles, on="prompt", how="left")[SPAN_COLUMNS]


def _equal(frames: Frames) -> pd.DataFrame:
    """Undisturbed requests of both arms, of the prompts whose answers all agree."""
    arms = [timed(frames, arm) for arm in ARMS]
    if any(rows.empty for rows in arms):
        return frames.requests.iloc[:0]
    if frames.timed_controller:
        arms[1] = arms[1][arms[1]["trial"] == counted_trial(arms[1])]
    rows = pd.concat(arms)
    by_prompt = rows.groupby("prompt")
    kept = (by_prompt["output_digest"].nunique() == 1) & (by_prompt["arm"].nunique() == len(ARMS))
    return rows[rows["prompt"].isin(kept.index[kept])]


def _ends(frames: Frames, requests: pd.DataFrame) -> pd.DataFrame:
    """A row a delivery: tokens delivered so far (`place`) and seconds since the first delivery (`at`), which itself is the row at 0 seconds."""
    keys = ["arm", "purpose", "trial", "prompt"]
    first = requests[keys].assign(gap=0.0, tokens=requests["emitted"] - requests["decode_tokens"])
    later = frames.deliveries.merge(requests[keys], on=keys, how="inner")
    rows = pd.concat([first, later], ignore_index=True)
    sums = rows.groupby(keys, sort=False)[["tokens", "gap"]].cumsum()
    return rows[["trial", "prompt"]].assign(place=sums["tokens"], at=sums["gap"])


def _of_prompt(prompt: str, own: pd.DataFrame, others: pd.DataFrame) -> Iterator[tuple[str, int, int, float]]:
    """Passes repeat the same steps, so a window's seconds are their median in either arm."""
    bounds = _bounds(own[own["trial"] == own["trial"].iloc[0]]["place"].to_numpy())
    for begin, end in bounds:
        taken, without = _seconds(own, begin, end), _seconds(others, begin, end)
        if taken is not None and without is not None:
            yield prompt, int(begin) + 1, int(end), without / taken


def _bounds(places: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[tuple[float, float]]:
    """(tokens before, tokens after) of each window."""
    found, begin = [], places[0]
    for place in places[1:]:
        if place - begin >= LEAST_TOKENS:
            found.append((begin, place))
            begin = place
    return found


def _seconds(rows: pd.DataFrame, begin: float, end: float) -> float | None:
    """The median over passes of the seconds between two places; None where a pass did not stop at both, or no clock could tell."""
    times = rows[rows["place"].isin((begin, end))].groupby("trial")["at"].agg(["min", "max", "size"])
    seconds = times.loc[times["size"] == 2, "max"] - times.loc[times["size"] == 2, "min"]
    median = float(seconds.median()) if len(seconds) else 0.0
    return median if median > LEAST_SECONDS else None
