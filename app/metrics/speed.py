"""Speed-ups at load 1 from pairs measured back to back (definitions § 3)."""

import pandas as pd

from app.domain.estimate import Estimate
from app.domain.sentence import Sentence, plain
from app.metrics.base import Pairs, Reading
from app.metrics.frame import Frames
from app.metrics.select import counted, paired, why_untimed
from app.metrics.sums import missing, total
from app.metrics.terms import LEAST_SECONDS
from app.statistics import clusters
from app.statistics.pairs import noise_floor, speedup

UNDER_LOAD = plain("Under load, times of single requests are distributions, never ratios of pairs.")


def end_to_end_pairs(frames: Frames) -> pd.DataFrame:
    """Mean whole seconds of plain and of the speculative arm, `[prompts, 2]`."""
    rows = paired(frames)
    return rows.groupby("prompt")[["seconds_plain", "seconds_speculative"]].mean()


def decode_pairs(frames: Frames, first: str = "plain", second: str = "speculative") -> pd.DataFrame:
    """Decode seconds per token of both arms, `[prompts, 2]`, all passes and seeds of a prompt together. Equal answers make it the quotient of decode
    seconds; answers of different length would otherwise be compared as if they were the same work. Prompts without decode time in either arm are
    not in it."""
    sums = _with_decoding(frames, first, second).groupby("prompt")[_decode_columns(first, second)].sum()
    return pd.DataFrame({arm: sums[f"decode_seconds_{arm}"] / sums[f"decode_tokens_{arm}"] for arm in (first, second)})


def _decode_columns(first: str, second: str) -> list[str]:
    return [f"{name}_{arm}" for arm in (first, second) for name in ("decode_seconds", "decode_tokens")]


def _with_decoding(frames: Frames, first: str = "plain", second: str = "speculative") -> pd.DataFrame:
    """Pairs with decode time in both arms. A pair leaves as a whole, so that both arms keep the same passes."""
    rows = paired(frames, first, second)
    return rows[(rows[_decode_columns(first, second)] > LEAST_SECONDS).all(axis=1)]


def same_lengths(frames: Frames, first: str = "plain", second: str = "speculative") -> bool:
    """Whether every pair emitted as many tokens in both arms; only then do whole times compare. Answers that are drawn must besides have run to
    the token limit: of those that end by themselves, equal lengths are a coincidence."""
    rows = paired(frames, first, second)
    equal = rows[f"emitted_{first}"] == rows[f"emitted_{second}"]
    if frames.sampled:
        equal &= (rows[f"finish_{first}"] == "length") & (rows[f"finish_{second}"] == "length")
    return bool(equal.all())


def by_prompt(table: pd.DataFrame) -> pd.Series:
    """Plain ÷ the other arm, per prompt."""
    return table.iloc[:, 0] / table.iloc[:, 1]


def readings(frames: Frames, table: pd.DataFrame, over_all: Estimate, *, left_out: Sentence | None = None) -> list[Reading]:
    """The pairs' estimate, and beside it all plain time ÷ all speculative time."""
    rows = counted(frames)
    rounds, emitted = total(rows, "rounds"), total(rows, "emitted")
    pairs = speedup(table.iloc[:, 0].to_numpy(), table.iloc[:, 1].to_numpy())
    return [
        Reading(pairs, left_out=left_out, rounds=rounds, emitted=emitted),
        Reading(over_all, part={"over": "total time"}, rounds=rounds, emitted=emitted),
    ]


def end_to_end(frames: Frames) -> list[Reading]:
    if frames.load.regime != "single":
        return [missing(UNDER_LOAD)]
    table = end_to_end_pairs(frames)
    if table.empty:
        return [missing(why_unpaired(frames))]
    if not same_lengths(frames) and frames.sampled:
        return [missing(plain("Drawn answers end where they end, so whole times do not compare; the speed-up of decoding counts time per token."))]
    if not same_lengths(frames):
        return [missing(plain("The arms' answers differ in length, so whole times do not compare; the speed-up of decoding counts time per token."))]
    return readings(frames, table, clusters.ratio(table.iloc[:, 0].to_numpy(), table.iloc[:, 1].to_numpy()))


def decode(frames: Frames) -> list[Reading]:
    if frames.load.regime != "single":
        return [missing(UNDER_LOAD)]
    table = decode_pairs(frames)
    if table.empty:
        return [missing(why_unpaired(frames))]
    pairs = _with_decoding(frames)
    sums = pairs.groupby("prompt")[_decode_columns("plain", "speculative")].sum()
    terms = [
        (sums[f"{name}_{arm}"].to_numpy(), power)
        for arm, sign in (("plain", 1), ("speculative", -1))
        for name, power in (("decode_seconds", sign), ("decode_tokens", -sign))
    ]
    return readings(frames, table, clusters.product(terms), left_out=_without_decoding(frames, len(table), len(pairs)))


def _without_decoding(frames: Frames, prompts: int, pairs: int) -> Sentence | None:
    """What is said of prompts, or of single draws of a prompt, that left because an answer ended with its first token."""
    found = paired(frames)
    if left := found["prompt"].nunique() - prompts:
        return plain("%(left)s prompts have no decode time: the prefill emitted every token.", left=left)
    if left := len(found) - pairs:
        return plain("%(left)s of %(n)s pairs of drawn answers have no decode time: one ended with its first token.", left=left, n=len(found))
    return None


def why_unpaired(frames: Frames) -> Sentence:
    """Why there is no pair of plain and speculative requests."""
    arms = {arm: why_untimed(frames, arm) for arm in ("plain", "speculative")}
    return next((why for why in arms.values() if why.values), arms["plain"])


def whole_series(frames: Frames) -> list[Pairs]:
    return [Pairs(by_prompt(end_to_end_pairs(frames)))] if same_lengths(frames) else []


def decode_series(frames: Frames) -> list[Pairs]:
    return [Pairs(by_prompt(decode_pairs(frames)))]


def plain_against_plain(frames: Frames, *, decode_only: bool) -> Estimate | None:
    """The noise floor of the headline: plain requests that ran first in their pair against those that ran second; None without both."""
    rows = paired(frames)
    seconds = rows["decode_seconds_plain"] / rows["decode_tokens_plain"] if decode_only else rows["seconds_plain"]
    rows = rows.assign(value=seconds, place=(rows["order_plain"] > rows["order_speculative"]).astype(int))
    rows = rows[(rows["value"] > LEAST_SECONDS) & (rows["order_plain"] != rows["order_speculative"])]
    table = rows.pivot_table(index="prompt", columns="place", values="value", aggfunc="mean") if not rows.empty else pd.DataFrame()
    if len(table.columns) < 2:
        return None
    both = table.dropna()
    return noise_floor(both[0].to_numpy(), both[1].to_numpy()) if len(both) else None
