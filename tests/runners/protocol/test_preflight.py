"""What the runner tells of itself before the first trial."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from app.domain.spec import SuiteChoice
from app.domain.suite import selection
from runners.models.load import Located
from runners.parts import choose
from runners.protocol.preflight import Ready, check_arrivals
from runners.protocol.unmeasurable import Unmeasurable
from runners.workloads import suite
from tests.factories import preflight_fact, run_spec
from tests.models import spec


@pytest.mark.parametrize(
    ("controller", "params", "timed"),
    [("constant", {}, False), ("window", {}, False), ("goodput", {}, False), ("goodput", {"online": True}, True), ("bandit", {}, True)],
)
def test_it_tells_whether_draft_lengths_follow_the_clock(controller: str, params: dict[str, bool], timed: bool, tmp_path: Path) -> None:
    """Catches a report that takes one trial's counts for all where each trial counts differently."""
    (tmp_path / "config.json").write_text(json.dumps({"max_position_embeddings": 512}))
    asked = spec("ngram", controller=controller, **params)
    ready = Ready(
        spec=asked,
        chosen=choose(asked),
        located=Located(tmp_path, "tiny", None, None, None),
        tokenizer=SimpleNamespace(chat_template=None),
        identity=preflight_fact().tokenizer,
        suite=selection(suite.load("parallel-v1"), "en", SuiteChoice(id="parallel-v1", limit=2)),
        requests=[],
        dtype=torch.float32,
        context=512,
    )
    assert ready.fact(6, "test").timed_controller is timed


def test_arrivals_that_take_hours_are_refused() -> None:
    """Catches a runner that sleeps for days between two requests."""
    prompts = suite.select(suite.load("parallel-v1"), "ru", None, 24)
    check_arrivals(run_spec(load={"kind": "open", "rate": 0.1}), prompts)
    check_arrivals(run_spec(), prompts)
    with pytest.raises(Unmeasurable, match="hours to arrive"):
        check_arrivals(run_spec(load={"kind": "open", "rate": 0.001}), prompts)
