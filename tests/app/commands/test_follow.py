"""What the demo's table and the run page say of a run in progress."""

from typing import get_args

from app.demo.follow import STAGES
from app.domain.facts import ProgressFact
from app.web import progress


def test_every_stage_has_words() -> None:
    """Catches a stage that a runner reports and the live table, or the page, stumbles over."""
    reported = set(get_args(ProgressFact.model_fields["stage"].annotation))
    assert set(STAGES) == reported
    assert set(progress.STAGES) == reported | {"queued"}
