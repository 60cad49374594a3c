"""Models kept from one job to the next."""

from pathlib import Path

import pytest
import torch

from runners.clock import Clock
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget
from runners.models import shelf as shelves
from runners.models.load import Located
from runners.models.shelf import Shelf
from runners.protocol.control import Control
from tests.models import tiny_model

CPU = torch.device("cpu")


@pytest.fixture
def located(tmp_path: Path) -> Located:
    model = tiny_model("llama")
    model.generation_config.eos_token_id = [3, 5]
    model.save_pretrained(tmp_path / "tiny")
    return Located(tmp_path / "tiny", "tiny", None, "digest", None)


def test_a_second_job_finds_the_weights_and_the_ends_of_answers(located: Located) -> None:
    """Catches a model that is loaded twice, and a second run whose answers never end because the first one's control arm cleared the settings."""
    shelf = Shelf()
    first = shelf.model(located, torch.float32, CPU)
    target = TransformersTarget(first.model, slots=1, context=32, eos=first.ends)
    Control(target, StopRules(8, first.ends, (), lambda ids: ""), Clock(CPU))
    again = shelf.model(located, torch.float32, CPU)
    assert again.model is first.model
    assert again.ends == first.ends == {3, 5}


def test_another_type_is_another_model(located: Located) -> None:
    """Catches a float32 check that runs on the half-precision weights."""
    shelf = Shelf()
    half, full = shelf.model(located, torch.bfloat16, CPU), shelf.model(located, torch.float32, CPU)
    assert (half.model.dtype, full.model.dtype) == (torch.bfloat16, torch.float32)
    assert shelf.holds(located, torch.bfloat16)


def test_what_is_there_makes_room(located: Located, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a device that is full because the last model was kept."""
    shelf = Shelf()
    shelf.model(located, torch.bfloat16, CPU)
    monkeypatch.setattr(shelves, "free_bytes", lambda device: 1)
    shelf.model(located, torch.float32, CPU)
    assert not shelf.holds(located, torch.bfloat16)
    assert shelf.holds(located, torch.float32)
