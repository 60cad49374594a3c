"""What the demo's table says of a run in progress."""

from typing import get_args

from app.demo.follow import STAGES
from app.domain.facts import ProgressFact


def test_every_stage_has_words() -> None:
    """Catches a stage that a runner reports and the live table stumbles over."""
    assert set(STAGES) == set(get_args(ProgressFact.model_fields["stage"].annotation))
