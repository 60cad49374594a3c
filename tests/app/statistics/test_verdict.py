"""The rules of definitions § 4, each with the evidence that must trigger it."""

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
