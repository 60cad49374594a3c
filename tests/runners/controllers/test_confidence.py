"""A draft that ends behind an unsure token; that leaving the token out would change the law is shown in tests/contracts/test_verifiers.py."""

import pytest

from runners.controllers.confidence import Confidence, ConfidenceParams
from runners.engine.stops import StopRules
from tests.models import SAMPLED, counts, loop_of, prompts, spec, tiny

LIMIT = 40


@pytest.mark.parametrize("rule", ["greedy", "sampled"])
@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.2, 1.0])
def test_a_draft_holds_its_unsure_token_and_nothing_behind_it(threshold: float, rule: str) -> None:
    """Catches a token that is dropped, and one that is drafted behind an unsure one: every draft is asked about token by token, all but the last
    were sure, and as many tokens were drafted as were asked about."""
    asked: list[float] = []
    loop = loop_of(
        tiny("llama"), spec("layerskip", controller="confidence", threshold=threshold, rule=SAMPLED if rule == "sampled" else None), StopRules(LIMIT)
    )
    proceeds = loop.controller.proceeds

    def noted(slot: int, confidence: float) -> bool:
        asked.append(confidence)
        return proceeds(slot, confidence)

    loop.controller.proceeds = noted  # type: ignore[method-assign]
    sequence = loop.run(prompts(1), 1)[0]
    assert len(asked) == sequence.drafted > 0
    for made in sequence.round_drafted:
        own, asked = asked[:made], asked[made:]
        assert all(confidence >= threshold for confidence in own[:-1])


def test_threshold_0_is_a_constant_length_and_1_a_single_token() -> None:
    """Catches a comparison that is the wrong way round."""

    def drafted(controller: str, **params: float) -> object:
        return [counts(s) for s in loop_of(tiny("llama"), spec("layerskip", controller=controller, **params), StopRules(LIMIT)).run(prompts(3), 1)]

    assert drafted("confidence", length=5, threshold=0.0) == drafted("constant", length=5)
    assert drafted("confidence", length=5, threshold=1.0) == drafted("constant", length=1)


def test_a_token_at_the_threshold_is_sure_enough() -> None:
    """As in transformers, where only less than the threshold stops."""
    controller = Confidence(ConfidenceParams(threshold=0.4))
    assert controller.proceeds(0, 0.4)
    assert not controller.proceeds(0, 0.39)
