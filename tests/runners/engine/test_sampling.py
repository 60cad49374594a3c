"""What is drawn, and that the loop says what the law says: over all outcomes, and in 50 000 samples."""

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from transformers import LogitsProcessorList, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from runners.clock import Clock
from runners.controllers.constant import Constant, ConstantParams
from runners.drafters.layerskip import LayerSkip, LayerSkipParams
from runners.engine.dice import Chance, Dice, SeededDice
from runners.engine.law import HEAD, Law
from runners.engine.loop import Loop
from runners.engine.sequence import Request
from runners.engine.stops import StopRules
from runners.verifiers.base import NoParams, Verifier
from runners.verifiers.rejection import Rejection
from tests.chance import law_of
from tests.contracts.test_verifiers import CASES, DrawsAgain
from tests.models import ChainTarget, rolled

SAMPLES, TOKENS, DRAFT = 50_000, 3, 2


def loop(case: str, verifier: Verifier, *, slots: int, limit: int = TOKENS, dice: Dice | None = None) -> Loop:
    own, early = CASES[case]
    target = ChainTarget(rolled(own), rolled(early), slots=slots)
    chance = Chance(Law(1.0), dice or SeededDice())
    drafter = LayerSkip(LayerSkipParams(exit_layer=1), target, chance)
    return Loop(target, drafter, Constant(ConstantParams(length=DRAFT)), verifier, StopRules(limit), Clock(target.device), chance=chance)


def exact(case: str) -> dict[tuple[int, ...], float]:
    """The joint law of three tokens behind token 0, from the written distribution alone."""
    after = rolled(CASES[case][0]).tolist()
    joint = {(a, b, c): after[0][a] * after[a][b] * after[b][c] for a, b, c in product(range(8), repeat=3)}
    return {key: probability for key, probability in joint.items() if probability > 0}


@pytest.mark.parametrize("case", ["zeros", "disjoint"])
def test_the_whole_loop_has_the_law_of_plain_decoding(case: str) -> None:
    """Catches a loop that lets the end of a text, a refilled slot or a shortened draft change the law: every outcome of three tokens."""

    def play(dice: Dice) -> tuple[int, ...]:
        return tuple(loop(case, Rejection(NoParams()), slots=1, dice=dice).run([Request("p", (0,))], 1)[0].output)

    found, wanted = law_of(play), exact(case)
    assert max(abs(found.get(key, 0.0) - wanted.get(key, 0.0)) for key in found.keys() | wanted.keys()) < 1e-6


def fit(verifier: Verifier) -> tuple[float, float]:
    """(p of a chi-square test, total variation) of the first three tokens of 50 000 answers against the exact law."""
    requests = (Request("p", (0,), seed=seed) for seed in range(SAMPLES))
    seen = Counter(tuple(sequence.output) for sequence in loop("close", verifier, slots=64).run(requests, 64))
    law = exact("close")
    assert set(seen) <= set(law)
    cells = sorted(law, key=lambda key: law[key], reverse=True)
    found, due = np.array([seen[key] for key in cells]), np.array([law[key] * SAMPLES for key in cells])
    rare = due < 10
    merged = [np.append(values[~rare], values[rare].sum()) for values in (found, due)]
    return float(chisquare(merged[0], merged[1] * merged[0].sum() / merged[1].sum()).pvalue), float(np.abs(found - due).sum() / SAMPLES / 2)


def test_50_000_samples_through_the_loop_fit_the_law() -> None:
    """Catches streams that depend on each other, on the slot or on what happened before: seeds are fixed, so the answer is always the same."""
    p, variation = fit(Rejection(NoParams()))
    assert p > 0.01
    assert variation < 0.04


def test_samples_of_a_broken_rule_do_not_fit() -> None:
    """Negative control of the same size."""
    p, _ = fit(DrawsAgain(NoParams()))
    assert p < 1e-9


@pytest.mark.parametrize(("temperature", "top_k", "top_p"), [(1.0, None, None), (0.7, None, None), (1.3, 5, None), (0.7, None, 0.8), (0.9, 20, 0.6)])
def test_the_law_is_the_librarys(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Catches another order of temperature, top-k and top-p, or another edge of the nucleus, than the control arm's."""
    torch.manual_seed(3)
    logits = torch.randn(6, 200) * 3
    processors: Any = [TemperatureLogitsWarper(temperature)] if temperature != 1 else []
    processors += [TopKLogitsWarper(top_k)] if top_k else []
    processors += [TopPLogitsWarper(top_p)] if top_p else []
    theirs = LogitsProcessorList(processors)(torch.zeros((6, 1), dtype=torch.long), logits.clone()).softmax(dim=-1)
    ours = Law(temperature, top_k, top_p).probabilities(logits)
    assert torch.equal(ours > 0, theirs > 0)
    assert torch.allclose(ours, theirs, atol=1e-6)


def test_a_nucleus_wider_than_its_head_is_found_whole() -> None:
    """Catches a nucleus that is cut where the quick search ends, and a row whose law depends on its neighbour's width."""
    torch.manual_seed(4)
    flat, steep = torch.randn(1, 5000) * 0.1, torch.randn(1, 5000) * 8
    theirs = TopPLogitsWarper(0.9)(torch.zeros((1, 1), dtype=torch.long), flat.clone()).softmax(dim=-1)
    law = Law(1.0, None, 0.9)
    assert int((theirs > 0).sum()) > HEAD
    assert torch.allclose(law.probabilities(flat), theirs, atol=1e-6)
    assert torch.equal(law.probabilities(torch.cat([flat, steep]))[1], law.probabilities(steep)[0])


def test_equals_at_the_edge_of_the_nucleus_stay_together() -> None:
    """Catches a law that depends on the order of a sort: half precision has many equal logits."""
    logits = torch.tensor([[2.0, 1.0, 1.0, 1.0, 0.0]])
    found = Law(1.0, None, 0.6).probabilities(logits)[0].tolist()
    assert found[1] == found[2] == found[3] > 0
    assert found[4] == 0


def test_temperature_0_is_the_argmax() -> None:
    logits = torch.tensor([[0.0, 3.0, 2.0]])
    assert Law(0.0, 2, 0.5).probabilities(logits).tolist() == [[0.0, 1.0, 0.0]]


def test_a_stream_depends_on_its_own_seed_and_prompt_alone() -> None:
    """Catches draws shared between slots: what one row gets must not depend on its neighbours or on its slot."""
    weights = torch.ones(1, 1000)

    def drawn(slot: int, seed: int, prompt: str, neighbour: bool) -> list[int]:
        dice = SeededDice()
        dice.begin(slot, seed, prompt)
        dice.begin(slot + 1, 99, "other")
        found = []
        for _ in range(5):
            if neighbour:
                found.append(int(dice.pick((slot + 1, slot), weights.expand(2, -1))[1]))
            else:
                found.append(int(dice.pick((slot,), weights)[0]))
        return found

    assert drawn(0, 1, "p", False) == drawn(4, 1, "p", True)
    assert drawn(0, 1, "p", False) != drawn(0, 2, "p", False)
    assert drawn(0, 1, "p", False) != drawn(0, 1, "q", False)


def test_what_has_no_weight_is_never_picked() -> None:
    """Catches an index between weights at the edges of the cumulated sum."""
    dice = SeededDice()
    weights = torch.tensor([[0.0, 0.0, 1e-12, 0.0, 0.7, 0.0, 0.0]])
    for seed in range(300):
        dice.begin(0, seed, "p")
        assert int(dice.pick((0,), weights)[0]) in {2, 4}
    dice.begin(0, 1, "p")
    assert dice.below((0,), [[0.0] * 50 + [1.0] * 50])[0] == [False] * 50 + [True] * 50
