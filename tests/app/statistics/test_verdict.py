"""The rules of definitions § 4, each with the evidence that must trigger it."""

from dataclasses import replace

import pytest

from app.domain.estimate import Estimate
from app.domain.sentence import plain
from app.statistics.verdict import MOST_MORE, Evidence, more_clusters, rule
from app.statistics.wording import Subject, decide


def ratio(point: float, low: float, high: float, n: int = 24) -> Estimate:
    return Estimate(point=point, low=low, high=high, n=n, counted="prompts")


LEVEL = ratio(1.0, 0.99, 1.01)
PAYS, LOSES, UNSURE = ratio(1.2, 1.1, 1.31), ratio(0.6, 0.55, 0.66), ratio(1.1, 0.95, 1.27)
SUBJECT = Subject(drafter="ngram", language="ru", load=1, trials=6, acceptance=Estimate(point=0.41, low=0.36, high=0.46, n=24, counted="prompts"))


def seen(speedup: Estimate | None = PAYS, **over: object) -> Evidence:
    values: dict[str, object] = {"headline": "speedup_end_to_end", "margin": 0.02, "noise_floor": LEVEL, "blocks": 3}
    return Evidence(speedup=speedup, **values | over)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("speedup", "outcome", "slower"),
    [
        (PAYS, "pays", False),
        (ratio(1.1, 1.02, 1.2), "cannot tell", False),
        (ratio(1.1, 1.0201, 1.2), "pays", False),
        (ratio(1.0, 0.99, 1.0199), "does not pay", False),
        (ratio(1.0, 0.99, 1.02), "cannot tell", False),
        (ratio(0.9, 0.8, 0.999), "does not pay", True),
        (ratio(0.9, 0.8, 1.0), "does not pay", False),
        (UNSURE, "cannot tell", False),
    ],
)
def test_the_margin_decides(speedup: Estimate, outcome: str, slower: bool) -> None:
    """Catches ≥ for >, a margin left out, and `slower` said of an interval that reaches 1."""
    found = rule(seen(speedup))
    assert (found.outcome, found.slower) == (outcome, slower)


@pytest.mark.parametrize(
    ("over", "cause"),
    [
        ({"noise_floor": ratio(1.05, 1.02, 1.08)}, "not level"),
        ({"noise_floor": None}, "no noise floor"),
        ({"control": ratio(0.34, 0.33, 0.36)}, "slow plain"),
        ({"controlled": True}, "no control"),
        ({"drafts": False}, "no draft"),
        ({"controlled": True, "control": ratio(1.0, 0.98, 1.02, n=10)}, "no control"),
        ({"blocks": 3, "contended": 2}, "contended"),
        ({"refused": True}, "refused"),
        ({"lossy": True}, "lossy"),
        ({"finished": False}, "not finished"),
        ({"speedup": None, "plain": False}, "no plain arm"),
        ({"speedup": None}, "no interval"),
        ({"speedup": ratio(1.2, 1.1, 1.31, n=7)}, "few prompts"),
        ({"family": 5, "still_pays": False}, "family"),
    ],
)
def test_what_forbids_a_decision(over: dict[str, object], cause: str) -> None:
    """Each would otherwise be `pays` by its interval."""
    found = decide(seen(**over), SUBJECT)
    assert found.outcome == "cannot tell"
    assert found.causes[0] == cause
    assert not found.slower


def test_a_third_of_the_blocks_may_be_contended() -> None:
    """More than a third, definitions say: one of three does not forbid."""
    assert rule(seen(blocks=3, contended=1)).outcome == "pays"
    assert rule(seen(blocks=2, contended=1)).causes == ("contended",)


def test_eight_prompts_are_enough() -> None:
    assert rule(seen(ratio(1.2, 1.1, 1.31, n=8))).outcome == "pays"


def test_all_causes_are_named() -> None:
    """Catches a verdict that says the first cause alone: whoever mends it would be sent back for the next."""
    found = rule(seen(UNSURE, noise_floor=ratio(1.05, 1.02, 1.08), blocks=2, contended=1))
    assert found.causes == ("contended", "not level", "interval")
    assert found.more is None


def test_more_prompts_would_settle_it() -> None:
    """Adding that many prompts of the same spread must move the interval past the bar, and one fewer must not."""
    import math

    from app.statistics.student import quantile

    speedup = ratio(1.1, 1.1 / 1.15, 1.1 * 1.15, n=24)
    spread = math.log(1.15) / quantile(0.95, 23) * math.sqrt(24)
    more = rule(seen(speedup)).more
    assert more is not None

    def low(n: int) -> float:
        return 1.1 * math.exp(-quantile(0.95, n - 1) * spread / math.sqrt(n))

    assert low(24 + more) > 1.02 >= low(24 + more - 1)


def test_no_number_of_prompts_for_an_effect_inside_the_margin() -> None:
    assert more_clusters(seen(ratio(1.01, 0.95, 1.07))) is None
    assert more_clusters(seen(ratio(1.0200001, 0.9, 1.15))) is None, f"{MOST_MORE} prompts are no advice"


def test_few_prompts_ask_at_least_for_the_least() -> None:
    assert rule(seen(ratio(2.0, 1.9, 2.1, n=6))).more == 2
    assert rule(seen(Estimate(point=1.5, n=3, counted="prompts", reason=plain("few")))).more == 5


@pytest.mark.parametrize("speedup", [PAYS, LOSES, ratio(1.0, 0.99, 1.01)])
def test_a_decision_never_goes_without_acceptance(speedup: Estimate) -> None:
    """Acceptance is not speed, and neither is shown without the other."""
    values = decide(seen(speedup), SUBJECT).sentence.values
    assert {"speedup", "acceptance", "language", "drafter", "prompts", "trials"} <= set(values)


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (seen(), "Pays."),
        (seen(LOSES), "Does not pay: it is slower."),
        (seen(ratio(1.0, 0.99, 1.01)), "Does not pay. "),
        (seen(UNSURE), "would settle"),
        (seen(ratio(1.01, 0.95, 1.07)), "not settled by a sensible number"),
        (seen(noise_floor=ratio(1.05, 1.02, 1.08)), "not level"),
        (seen(blocks=3, contended=2), "disturbed"),
        (seen(None, plain=False), "Acceptance only."),
    ],
)
def test_the_sentence_says_why(evidence: Evidence, words: str) -> None:
    sentence = decide(evidence, SUBJECT).sentence
    assert words in sentence.text
    assert sentence.text % dict.fromkeys(sentence.values, "…")


@pytest.mark.parametrize("served", [False, True])
def test_an_uneven_bench_is_told_where_to_look(served: bool) -> None:
    """Catches a quieter machine asked for where the place in the pair matters, and servers blamed where there is none."""
    said = decide(seen(noise_floor=ratio(1.05, 1.02, 1.08)), replace(SUBJECT, served=served)).sentence.text
    assert "quieter" not in said
    assert "slow down as they heat up" in said
    assert ("server" in said) == served


def pairs(point: float, low: float, high: float, n: int = 6) -> Estimate:
    return Estimate(point=point, low=low, high=high, n=n, counted="trial pairs", scope="these prompts")


LEVEL_BLOCKS = Estimate(point=1.0, low=0.97, high=1.03, n=3, counted="blocks", scope="these prompts")
TWO_BLOCKS = Estimate(point=1.0, n=2, counted="blocks", reason=plain("few"))
LOADED = Subject(drafter="ngram", language="ru", load=4, trials=6, acceptance=SUBJECT.acceptance)


def under_load(speedup: Estimate | None = None, **over: object) -> Evidence:
    return seen(speedup or pairs(1.2, 1.1, 1.31), **{"headline": "speedup_throughput", "noise_floor": LEVEL_BLOCKS, **over})


@pytest.mark.parametrize(
    ("evidence", "outcome", "causes"),
    [
        (under_load(), "pays", ()),
        (under_load(pairs(1.2, 1.1, 1.31, n=4), noise_floor=TWO_BLOCKS), "pays", ()),
        (under_load(pairs(1.2, 1.1, 1.31, n=3)), "cannot tell", ("few trial pairs",)),
        (under_load(noise_floor=None), "cannot tell", ("no noise floor",)),
        (under_load(noise_floor=TWO_BLOCKS.model_copy(update={"n": 1})), "cannot tell", ("no noise floor",)),
        (under_load(noise_floor=LEVEL_BLOCKS.model_copy(update={"low": 1.01})), "cannot tell", ("not level",)),
    ],
)
def test_under_load_trial_pairs_decide(evidence: Evidence, outcome: str, causes: tuple[str, ...]) -> None:
    """Four trial pairs are the least (definitions § 4): eight, the least number of prompts, must not be asked of them, nor six clusters of blocks."""
    found = rule(evidence)
    assert (found.outcome, found.causes) == (outcome, causes)


def test_more_counts_trial_pairs_within_what_a_run_holds() -> None:
    """Too few pairs ask for the missing ones; an effect that only thousands of pairs would settle gets no number."""
    assert rule(under_load(Estimate(point=1.5, n=2, counted="trial pairs", reason=plain("few")))).more == 2
    assert 0 < (rule(under_load(pairs(1.1, 0.97, 1.25))).more or 0) <= 100
    assert rule(under_load(pairs(1.03, 0.8, 1.33))).more is None
    assert rule(seen(ratio(1.03, 0.8, 1.33))).more is not None


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (under_load(), "Pays."),
        (under_load(pairs(0.6, 0.55, 0.66)), "Does not pay: it is slower."),
        (under_load(pairs(1.0, 0.99, 1.01)), "Does not pay. "),
        (under_load(pairs(1.1, 0.97, 1.25)), "%(trial_pairs)s more would settle"),
        (under_load(pairs(1.03, 0.8, 1.33)), "sensible number of trials"),
        (under_load(pairs(1.2, 1.1, 1.31, n=3)), "%(trial_pairs)s are too few"),
        (under_load(noise_floor=None), "no two blocks"),
        (under_load(family=5, still_pays=False), "weighed together"),
    ],
)
def test_the_sentence_of_a_load_never_speaks_of_prompts(evidence: Evidence, words: str) -> None:
    """Catches `24 prompts` printed where 6 trial pairs were counted, and speed where throughput was measured."""
    for subject in (LOADED, Subject(drafter="ngram", language="ru", load=4, trials=6)):
        sentence = decide(evidence, subject).sentence
        assert words in sentence.text
        assert "prompts" not in sentence.values
        assert "plain speed" not in sentence.text
        assert sentence.text % dict.fromkeys(sentence.values, "…")
