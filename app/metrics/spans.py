"""Windows of an answer: what speculation gains there and then, and not on the whole. They show that a peak is no mean.

A window is the fewest whole steps that deliver at least 32 tokens; windows of an answer do not overlap, and what is left behind the last is in none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from app.metrics.columns import Array, Whole, starts_of
from app.metrics.frame import Frames
from app.metrics.once import once
from app.metrics.select import counted_trial, deliveries, timed
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
    firsts = equal[equal["arm"] == "speculative"].sort_index().drop_duplicates("prompt")
    windows = _windows(_Stops.of(frames, firsts))
    if windows.empty:
        return pd.DataFrame(columns=SPAN_COLUMNS)
    equal = equal[equal["prompt"].isin(windows["prompt"].unique())]
    own, others = (_Stops.of(frames, equal[equal["arm"] == arm]) for arm in ("speculative", "plain"))
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
    prompts, _ = pd.factorize(rows["prompt"])
    kept = np.bincount(prompts[_first_of(prompts, rows["output_digest"])]) == 1
    kept &= np.bincount(prompts[_first_of(prompts, rows["arm"])]) == len(ARMS)
    found: pd.DataFrame = rows[kept[prompts]]
    return found


def _first_of(prompts: Whole, values: pd.Series) -> Whole:
    """Where each value first stands beside each prompt."""
    codes, names = pd.factorize(values)
    found: Whole = np.unique(prompts * len(names) + codes, return_index=True)[1]
    return found


@dataclass(frozen=True)
class _Stops:
    """Where the requests of one arm stopped. `prompts` and `first` (tokens of the first delivery, at 0 seconds) are by request; of each later one
    `request` is the number of its request among them, in order, `place` the tokens delivered so far, `at` the seconds since the first."""

    prompts: pd.Series
    first: Array
    request: Whole
    place: Array
    at: Array

    @classmethod
    def of(cls, frames: Frames, requests: pd.DataFrame) -> "_Stops":
        requests = requests.sort_index()
        later = deliveries(frames, requests["arm"].iloc[0])
        rows, owner = requests.index.to_numpy(), later["request"].to_numpy()
        numbers = np.full(max(rows[-1], owner.max(initial=0)) + 1, -1)
        numbers[rows] = np.arange(len(rows))
        request, tokens, at = numbers[owner], later["tokens"].to_numpy(), later["at"].to_numpy()
        if (request < 0).any():
            request, tokens, at = (values[request >= 0] for values in (request, tokens, at))
        first = (requests["emitted"] - requests["decode_tokens"]).to_numpy()
        sums = np.concatenate([[0.0], np.cumsum(tokens)])
        before = sums[starts_of(np.bincount(request, minlength=len(rows)))[:-1]]
        return cls(requests["prompt"].reset_index(drop=True), first, request, sums[1:] + (first - before)[request], at)

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
        times, starts = self._times
        wanted = starts[request] + place.astype(np.int64)
        # Beyond the last place of a request lies the next one's first.
        at = np.where(wanted < starts[request + 1], times[np.minimum(wanted, len(times) - 1)], np.nan)
        return np.where(self.first[request] == place, 0.0, at)

    @cached_property
    def _times(self) -> tuple[Array, Whole]:
        """(of each request one entry a place from 0 to its last: when it stopped there, NaN where it did not; where each request's begin)."""
        place = self.place.astype(np.int64)
        ends = starts_of(np.bincount(self.request, minlength=len(self.prompts)))
        last = np.append(place, 0)[np.maximum(ends[1:] - 1, 0)]
        starts = starts_of(np.where(np.diff(ends) > 0, last + 1, 1))
        times = np.full(starts[-1], np.nan)
        times[starts[self.request] + place] = self.at
        return times, starts


def _windows(own: _Stops) -> pd.DataFrame:
    """`begin` and `end` (tokens before, tokens after) of each window of each prompt, by the stops of its one request."""
    found = []
    starts = np.searchsorted(own.request, np.arange(len(own.prompts) + 1))
    prompts = own.prompts.sort_values()
    for number, prompt in zip(prompts.index.to_numpy(), prompts, strict=True):
        places = [own.first[number], *own.place[starts[number] : starts[number + 1]]]
        found += [(prompt, *bounds) for bounds in _bounds(places)]
    return pd.DataFrame(found, columns=["prompt", "begin", "end"])


def _bounds(places: Sequence[float]) -> list[tuple[float, float]]:
    found, begin = [], places[0]
    for place in places[1:]:
        if place - begin >= LEAST_TOKENS:
            found.append((begin, place))
            begin = place
    return found
