"""Which rows a figure may use: one trial for counts, undisturbed finished pairs for times."""

import pandas as pd

from app.domain.sentence import Sentence, plain
from app.metrics.frame import Frames, events_of
from app.metrics.once import once
from app.metrics.terms import DONE, LEAST_SECONDS


@once
def headline(frames: Frames, arm: str) -> pd.DataFrame:
    """All finished headline requests of an arm. A request that ended by an error or was cancelled has no figure of its own."""
    rows = frames.requests
    return rows[(rows["arm"] == arm) & (rows["purpose"] == "headline") & rows["finish"].isin(DONE)]


@once
def counted(frames: Frames, arm: str = "speculative") -> pd.DataFrame:
    """The requests that counts come from: of greedy repeats, which are identical, one trial; of sampled ones all. Where a controller decides by
    measured times repeats differ too and are draws of one and the same prompt, so all count, but for those of disturbed blocks: their times are not
    those of the machine, and so are not their drafts.

    The trial with the most requests is taken, the first of equals, so that a pass cut short never stands for a whole one.
    """
    rows = timed(frames, arm) if frames.timed_controller else headline(frames, arm)
    if frames.sampled or frames.timed_controller or rows.empty:
        return rows
    return rows[rows["trial"] == counted_trial(rows)]


def counted_trial(rows: pd.DataFrame) -> int:
    sizes = rows.groupby("trial").size()
    return int(sizes.index[sizes == sizes.max()].min())


@once
def counted_rounds(frames: Frames) -> pd.DataFrame:
    """The rounds of the requests that counts come from."""
    rows = counted(frames)
    rounds = events_of(frames.rounds, rows)
    return rounds.assign(prompt=rows["prompt"].reindex(rounds["request"]).to_numpy())


@once
def listed(frames: Frames) -> bool:
    """Whether every round of the requests that counts come from is there by itself: a figure over some of them would look like one over all."""
    told = counted(frames)["rounds"]
    return not told.isna().any() and counted_rounds(frames)["rounds"].sum() == told.sum()


@once
def void_blocks(frames: Frames) -> set[int]:
    """Blocks in which a headline trial was contended; nothing timed in them is used."""
    trials = frames.trials
    return set(trials.loc[(trials["purpose"] == "headline") & trials["contended"].astype(bool), "block"])


@once
def timed(frames: Frames, arm: str) -> pd.DataFrame:
    """Finished headline requests of an arm, without void blocks."""
    trials, rows, void = frames.trials, headline(frames, arm), void_blocks(frames)
    if not void:
        return rows
    voided = set(trials.loc[(trials["purpose"] == "headline") & (trials["arm"] == arm) & trials["block"].isin(void), "trial"])
    return rows[~rows["trial"].isin(voided)]


@once
def paired(frames: Frames, first: str = "plain", second: str = "speculative") -> pd.DataFrame:
    """Requests of two arms that ran in the same pass over the same prompt, one row a pair; columns end in the arm's name.

    A pass that only one arm finished is left out of both, so that no arm is favoured by a quieter moment.
    """
    keys = ["prompt", "trial", "seed"]
    columns = [*keys, "order", "seconds", "decode_seconds", "decode_tokens", "emitted", "finish"]
    a, b = (rows.loc[rows["seconds"] > LEAST_SECONDS, columns] for rows in (timed(frames, first), timed(frames, second)))
    return a.merge(b, on=keys, how="inner", suffixes=(f"_{first}", f"_{second}"))


@once
def deliveries(frames: Frames, arm: str) -> pd.DataFrame:
    """Of the requests whose times may be used, in the order of requests and steps."""
    return events_of(frames.deliveries, timed(frames, arm))


def why_untimed(frames: Frames, arm: str) -> Sentence:
    """Why an arm has no time to show."""
    if headline(frames, arm).empty:
        return plain("The %(arm)s arm was not measured.", arm=arm)
    if timed(frames, arm).empty:
        return plain("Every block of trials was disturbed by other processes, so no time is used.")
    return plain("No prompt was measured in both arms of one pass.")
