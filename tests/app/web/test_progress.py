"""What a run's page says while the run goes."""

from datetime import UTC, datetime

import pytest

from app.domain.facts import ProgressFact
from app.domain.status import RunState
from app.runs.schemas import RunSummary
from app.web.progress import show
from tests import factories


def detail(locale: str, half_width: float | None, repeated: int = 0) -> str:
    fact = ProgressFact(stage="trial", done=5, total=8, remaining=60.0, half_width=half_width, repeated=repeated)
    summary = RunSummary(
        id=1, state=RunState.RUNNING, spec=factories.run_spec(), created_at=datetime(2026, 1, 1, tzinfo=UTC), attempt=1, progress=fact
    )
    return show(summary, locale).detail


@pytest.mark.parametrize(("locale", "half_width", "said"), [("en", 0.0412, "± 4.1%."), ("en", 0.204, "± 20%."), ("ru", 0.0412, "± 4,1\u00a0%.")])
def test_the_width_to_come_is_said(locale: str, half_width: float, said: str) -> None:
    """Catches a share printed as a ratio, and digits that a forecast does not have."""
    assert detail(locale, half_width).endswith(said)


def test_nothing_is_said_of_a_width_that_is_not_known() -> None:
    """Catches ± 0 before the second block is over."""
    assert "±" not in detail("en", None)
    assert "measured once more" in detail("en", 0.04, repeated=1)
