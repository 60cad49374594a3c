"""The schedule of transformers' assisted generation, step for step."""

from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.generation.candidate_generator import AssistedCandidateGenerator
from transformers.generation.configuration_utils import GenerationConfig

from runners.controllers.hf_heuristic import HfHeuristic, HfHeuristicParams

OUTCOMES = [True, True, False, True, False, False, False, False, False, False, True, True, True]


def library(schedule: str) -> Any:
    """The library's own generator, for its update rule alone."""
    config = LlamaConfig(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1)
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(num_assistant_tokens=5, num_assistant_tokens_schedule=schedule, assistant_confidence_threshold=0.0)
    return AssistedCandidateGenerator(torch.tensor([[1, 2]]), model, GenerationConfig(), {})


@pytest.mark.parametrize("schedule", ["heuristic", "heuristic_transient"])
def test_it_moves_as_the_library_does(schedule: str) -> None:
    """Catches another step up or down, and another floor."""
    theirs, ours = library(schedule), HfHeuristic(HfHeuristicParams(length=5, longest=32, transient=schedule != "heuristic"))
    ours.begin(0)
    for whole in OUTCOMES:
        drafted = ours.length(0)
        assert drafted == int(theirs.num_assistant_tokens)
        kept = drafted if whole else drafted - 1
        theirs.update_candidate_strategy(torch.tensor([[1, 2]]), torch.zeros((1, drafted + 1, 8)), kept)
        ours.observe(0, drafted, kept)


def test_the_length_carries_over_to_the_next_request_unless_it_is_transient() -> None:
    for transient, expected in ((False, 9), (True, 5)):
        controller = HfHeuristic(HfHeuristicParams(length=5, transient=transient))
        controller.begin(0)
        controller.observe(0, 5, 5)
        controller.observe(0, 7, 7)
        controller.begin(0)
        assert controller.length(0) == expected
        controller.reset()
        controller.begin(0)
        assert controller.length(0) == 5


def test_transient_slots_are_apart_and_others_are_shared() -> None:
    """Catches a length per slot where the library has one per run, and the other way round."""
    for transient, expected in ((False, [6, 6]), (True, [7, 4])):
        controller = HfHeuristic(HfHeuristicParams(length=5, transient=transient))
        controller.begin(0)
        controller.begin(1)
        controller.observe(0, 5, 5)
        controller.observe(1, 5, 1)
        assert controller.lengths([0, 1]) == expected


def test_it_never_asks_for_more_than_the_longest() -> None:
    controller = HfHeuristic(HfHeuristicParams(length=5, longest=6))
    controller.begin(0)
    controller.observe(0, 5, 5)
    assert controller.length(0) == 6
    with pytest.raises(ValueError, match="longest"):
        HfHeuristicParams(length=7, longest=6)
