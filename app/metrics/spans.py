"""Windows of an answer: what speculation gains there and then, and not on the whole. They show that a peak is no mean.

A window is the fewest whole steps that deliver at least 32 tokens; windows of an answer do not overlap, and what is left behind the last is in none.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.metrics.columns import Array, Whole
from app.metrics.frame import Frames, events_of
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
    own, others = (_Stops.of(frames, equal[equal["arm"] == arm]) for arm in ("speculative", "plain"))
    windows = _windows(own)
    seconds = {arm: stops.seconds(windows) for arm, stops in (("plain", others), ("speculative", own))}
    windows["speedup"] = seconds["plain"] / seconds["speculative"]
    found = windows.dropna(subset=["speedup"]).reset_index(drop=True)
    profiles = equal.drop_duplicates("prompt")[["prompt", "profile"]]
    found = found.assign(first=found["begin"].astype(int) + 1, last=found["end"].astype(int))
    return found.merge(profiles, on="prompt", how="left")[SPAN_COLUMNS]


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


@dataclass(frozen=True)
class _Stops:
    """Where the requests of one arm stopped: of each delivery the request (its number among them, in order), the tokens delivered so far, and the
    seconds since the first delivery, which itself is a stop at 0 seconds. `prompts` are those of the requests."""

    request: Whole
    place: Array
    at: Array
    prompts: pd.Series

    @classmethod
    def of(cls, frames: Frames, requests: pd.DataFrame) -> "_Stops":
        requests = requests.sort_index()
        later = events_of(frames.deliveries, requests)
        rows = requests.index.to_numpy()
        numbers = np.zeros(rows[-1] + 1, dtype=np.int64)
        numbers[rows] = np.arange(len(rows))
        owner = numbers[later["request"]]
        # Before each delivery there are those before it, and the first ones of its request and of those before that.
        behind = np.arange(len(later)) + owner + 1
        request, tokens, at = np.empty(len(rows) + len(later), dtype=np.int64), np.empty(len(rows) + len(later)), np.zeros(len(rows) + len(later))
        request[behind], tokens[behind], at[behind] = owner, later["tokens"], later["at"]
        first = np.ones(len(request), dtype=bool)
        first[behind] = False
        request[first], tokens[first] = np.arange(len(rows)), requests["emitted"] - requests["decode_tokens"]
        sums = np.cumsum(tokens)
        before = sums[first] - tokens[first]
        return cls(request, sums - before[request], at, requests["prompt"].reset_index(drop=True))

    def seconds(self, windows: pd.DataFrame) -> pd.Series:
        """Of each window the median over passes of the seconds between its ends, since passes repeat the same steps; NaN where none stopped at both,
        or no clock could tell."""
        passes = pd.DataFrame({"prompt": self.prompts, "pass": np.arange(len(self.prompts))})
        tried = windows[["prompt", "begin", "end"]].assign(window=np.arange(len(windows))).merge(passes, on="prompt")
        number = tried["pass"].to_numpy()
        took = self._at(number, tried["end"].to_numpy()) - self._at(number, tried["begin"].to_numpy())
        medians = pd.Series(took).groupby(tried["window"].to_numpy()).median().reindex(range(len(windows)))
        return medians.where(medians > LEAST_SECONDS).set_axis(windows.index)

    def _at(self, request: Whole, place: Array) -> Array:
        """When each of these requests had delivered so many tokens; NaN where it did not stop there."""
        width = float(max(self.place.max(), place.max(initial=0.0)) + 1)
        known, wanted = self.request * width + self.place, request * width + place
        found = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[found] == wanted, self.at[found], np.nan)


def _windows(own: _Stops) -> pd.DataFrame:
    """`begin` and `end` (tokens before, tokens after) of each window of each prompt, by the stops of its first speculative pass."""
    found = []
    starts = np.searchsorted(own.request, np.arange(len(own.prompts) + 1))
    first = own.prompts.drop_duplicates().sort_values()
    for number, prompt in zip(first.index.to_numpy(), first, strict=True):
        found += [(prompt, *bounds) for bounds in _bounds(own.place[starts[number] : starts[number + 1]])]
    return pd.DataFrame(found, columns=["prompt", "begin", "end"])


def _bounds(places: Array) -> list[tuple[float, float]]:
    found, begin = [], places[0]
    for place in places[1:]:
        if place - begin >= LEAST_TOKENS:
            found.append((begin, place))
            begin = place
    return found
