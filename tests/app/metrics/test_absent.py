"""Counts that a served engine does not tell: a figure is that of all its counts, or it is not there and says why."""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.facts import UNTOLD, RequestFact, TrialFact
from app.domain.spec import Load
from app.metrics.base import Reading
from app.metrics.catalogue import METRICS, key_of, readings
from app.metrics.frame import Frames, from_facts
from app.metrics.sums import OF_TRIAL
from tests.app.metrics.test_costs import cost
from tests.factories import requests, trials
from tests.factories_told import reading, told_trials, untold

FACTS = tuple(requests(prompts=7, passes=2))
TRIALS = tuple(trials(list(FACTS)))
TOLD = tuple(told_trials(FACTS))
COSTS = (cost("step", 0, 0.02), *(cost("draft", n, 0.001 * n) for n in range(1, 5)), *(cost("verify", n, 0.02 + 0.001 * n) for n in range(1, 5)))
MISSING = st.dictionaries(
    st.sampled_from([i for i, fact in enumerate(FACTS) if fact.arm == "speculative"]),
    st.sets(st.sampled_from((*UNTOLD, "lists", "slots")), min_size=1),
    min_size=1,
)
EVERYWHERE = dict.fromkeys(range(len(FACTS)), frozenset({"rounds", "undrafted", "accepted", "verified", "drafted", "prefill_tokens"}))


def frames(facts: Sequence[RequestFact], passes: Sequence[TrialFact] = TRIALS, *, sampled: bool = False) -> Frames:
    return from_facts(facts, passes, costs=COSTS, load=Load(), sampled=sampled)


def without(missing: Mapping[int, set[str] | frozenset[str]]) -> list[RequestFact]:
    return [untold(fact, *missing.get(i, ())) for i, fact in enumerate(FACTS)]


def found(of: Frames) -> dict[str, Reading]:
    return {key_of(metric.id, each.part): each for metric, each in readings(of)}


@cache
def whole(sampled: bool) -> dict[str, Reading]:
    return found(frames(FACTS, sampled=sampled))


@given(MISSING, st.booleans())
@settings(deadline=None, max_examples=30)
def test_a_figure_is_whole_or_has_a_reason(missing: dict[int, set[str]], sampled: bool) -> None:
    """Catches the sum that leaves out whoever is silent: it looks right, and is of other requests than it says."""
    for key, each in found(frames(without(missing), sampled=sampled)).items():
        if each.pooled.point is None:
            assert each.pooled.reason is not None, key
            continue
        complete = whole(sampled)[key]
        assert each.pooled == complete.pooled, key
        assert each.macro == complete.macro, key
        assert each.rounds in (None, complete.rounds), key
        assert each.emitted in (None, complete.emitted), key


@given(MISSING)
@settings(deadline=None, max_examples=15)
def test_what_is_compared_is_whole_or_not_there(missing: dict[int, set[str]]) -> None:
    """Catches a comparison over prompts of which some are silent."""
    silent, every = frames(without(missing)), frames(FACTS)
    for metric in METRICS.values():
        if metric.sums is None:
            continue
        complete = {key_of(metric.id, sums.part): sums for sums in metric.sums(every)}
        for sums in metric.sums(silent):
            pd.testing.assert_frame_equal(sums.table, complete[key_of(metric.id, sums.part)].table)


@given(MISSING)
@settings(deadline=None, max_examples=12)
def test_totals_of_a_trial_stand_in(missing: dict[int, set[str]]) -> None:
    """Catches totals that are of more, or of fewer, than the trial that counts come from, and an interval that nobody can know."""
    complete = whole(False)
    for key, each in found(frames(without(missing), TOLD)).items():
        if each.pooled.point is None:
            continue
        assert each.pooled.point == pytest.approx(complete[key].pooled.point, rel=1e-12), key
        if each.pooled != complete[key].pooled:
            assert (each.pooled.low, each.pooled.reason, each.pooled.n, each.pooled.counted) == (None, OF_TRIAL, 7, "requests"), key
            assert each.macro is None, key


COUNTED = (
    "acceptance_rate", "verified_per_position", "accepted_per_round", "tokens_per_round", "tokens_per_target_forward", "accepted_share",
    "draft_coverage", "acceptance_at_all_rounds[1]",
)  # fmt: skip


@pytest.mark.parametrize("key", COUNTED)
def test_where_requests_tell_nothing_the_totals_do(key: str) -> None:
    """Catches a run on an engine whose only words are its counters, and which has no figure for it."""
    silent, told = found(frames(without(EVERYWHERE))), found(frames(without(EVERYWHERE), TOLD))
    assert silent[key.partition("[")[0]].pooled.point is None
    assert told[key].pooled.point == pytest.approx(whole(False)[key].pooled.point, rel=1e-12)
    assert (told[key].pooled.reason, told[key].pooled.n) == (OF_TRIAL, 7)


def test_depths_are_known_where_all_drafts_were_as_long() -> None:
    """Catches a share of rounds that drafted so far, of rounds whose depth nobody knows, or of drafts whose number is assumed."""
    assert found(frames(without(EVERYWHERE), TOLD))["acceptance_at"].pooled.point is None
    for source, known in (("observed", True), ("nominal", False)):
        whole_drafts = [
            trial.model_copy(update={"counted": reading([], drafted_source=source, **as_long(trial))}) if trial.arm == "speculative" else trial
            for trial in TOLD
        ]
        made = found(frames(without(EVERYWHERE), whole_drafts))
        assert ("acceptance_at[1]" in made) is known
        assert made["acceptance_at_all_rounds[1]"].pooled.point is not None
        if known:
            assert made["acceptance_at[1]"].pooled.point == made["acceptance_at_all_rounds[1]"].pooled.point


def as_long(trial: TrialFact) -> dict[str, object]:
    assert trial.counted is not None
    counts = trial.counted.counts
    assert counts.rounds is not None
    return vars(counts) | {"longest_draft": 4, "drafted": 4 * counts.rounds}


@pytest.mark.parametrize(
    "change",
    [
        {"requests": 8},
        {"rounds": None},
    ],
)
def test_totals_of_others_are_nobodys(change: dict[str, int | None]) -> None:
    """Catches figures over requests that were not ours, and over a count that the totals lack too."""
    silent = without(EVERYWHERE)
    other = [
        trial.model_copy(update={"counted": reading([f for f in FACTS if f.arm == trial.arm and f.trial == trial.trial], **change)})
        for trial in TRIALS
    ]
    made = found(frames(silent, other))["tokens_per_round"].pooled
    assert (made.point, made.low) == (None, None)
    assert made.reason is not None


def test_a_trial_in_which_something_broke_off_gives_no_totals() -> None:
    """Catches counters that hold a request which no figure counts; the next whole trial is taken instead."""
    silent = without(EVERYWHERE)
    first = next(i for i, fact in enumerate(silent) if fact.arm == "speculative" and fact.trial == 0)
    broken = [fact.model_copy(update={"finish": "error"}) if i == first else fact for i, fact in enumerate(silent)]
    from_second = found(frames(broken, TOLD))["tokens_per_round"]
    assert from_second.pooled.point == pytest.approx(whole(False)["tokens_per_round"].pooled.point)
    only_first = [trial for trial in TOLD if trial.trial == 0]
    assert found(frames(broken, only_first))["tokens_per_round"].pooled.point is None


def test_of_drawn_answers_the_totals_of_all_trials_are_added() -> None:
    """Catches one trial of several that stands for all where each of them drew anew."""
    silent = without(EVERYWHERE)
    made = found(frames(silent, TOLD, sampled=True))["tokens_per_round"]
    assert made.pooled.point == pytest.approx(whole(True)["tokens_per_round"].pooled.point, rel=1e-12)
    assert made.pooled.n == 14
    assert found(frames(silent, TOLD[:2], sampled=True))["tokens_per_round"].pooled.point is None


def test_trees_are_known_by_the_engines_word() -> None:
    """Catches nodes of a tree that pass for tokens of a chain because no round is there to show it."""
    trees = told_trials(FACTS, tree=True)
    made = found(frames(without(EVERYWHERE), trees))
    assert made["acceptance_rate"].pooled.point is None
    assert made["acceptance_rate_nodes"].pooled.point is not None


def test_slots_that_nobody_told_are_no_number() -> None:
    """Catches the sequences of one request's rounds given to another's."""
    facts = [untold(fact, "slots") if fact.prompt == "ru-02" else fact for fact in FACTS]
    rounds = frames(facts).rounds
    prompts = np.array([fact.prompt for fact in FACTS])[rounds["request"].to_numpy()]
    assert rounds.loc[prompts == "ru-02", "slots"].isna().all()
    assert (rounds.loc[prompts != "ru-02", "slots"] == 1).all()
