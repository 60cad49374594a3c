"""What the page of runners says of a run that waits."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.estimate import Estimate
from app.domain.sentence import plain
from app.line.schemas import Quiet, Reason, RunnerView, Waiting
from app.line.service import spread
from app.web.pages.runners import floors, place, why
from tests import factories


def waiting(*standings: Any) -> Waiting:
    said = plain("It is offline.")
    reasons = tuple(Reason(runner=f"r{number}", standing=standing, sentence=said) for number, standing in enumerate(standings))
    return Waiting(
        run=1, position=1, since=datetime(2026, 11, 1, tzinfo=UTC), spec=factories.run_spec(), why="The runner is busy with another run.",
        startable=False, reasons=reasons,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("standings", "words"),
    [
        (("labels", "free", "busy"), "line before"),
        (("does not offer", "busy", "offline"), "is busy"),
        (("labels", "offline"), "are offline"),
        (("does not offer", "labels"), "labels"),
        (("does not offer",), "offers"),
        ((), "offers"),
    ],
)
def test_the_nearest_runner_decides(standings: tuple[str, ...], words: str) -> None:
    """Catches a run said to wait for labels although a runner that has them is merely busy."""
    assert words in why(waiting(*standings))


def test_it_is_said_in_the_readers_language() -> None:
    """Catches an English reason on a Russian page."""
    shown = place(waiting("busy"), "ru")
    assert shown.why.startswith("Все исполнители")
    assert shown.reasons == (("r0", "Не на связи."),)


def floor(low: float | None, high: float | None) -> Estimate:
    reason = plain("too few prompts") if low is None else None
    return Estimate(point=1.0 if low is None or high is None else (low + high) / 2, low=low, high=high, n=8, counted="prompts", reason=reason)


def test_the_noise_floor_is_of_several_runs() -> None:
    """Catches the floor of a single quiet run that stands for a machine whose others were not level."""
    runs = [floor(0.99, 1.01), floor(1.02, 1.06), floor(None, None), floor(0.95, 1.03)]
    found = spread(runs)
    assert found is not None
    assert (found.runs, found.least, found.most, found.low, found.high, found.uneven) == (3, 0.99, 1.04, 0.95, 1.06, 1)
    assert spread([floor(None, None)]) is None
    quiet = Quiet(trials=10, disturbed=0, noise_floor=runs[0], run=12, floors=found)
    runner = RunnerView(
        name="local", device="cpu", state="idle", last_seen=datetime(2026, 11, 1, tzinfo=UTC), labels={}, version="0", run=None,
        offer=factories.offer(), quiet=quiet,
    )  # fmt: skip
    assert floors(runner, "en").replace("\xa0", " ") == "last 3 runs: 0.990× to 1.040×, intervals within [0.95, 1.06], not level: 1"
    alone = runner.model_copy(update={"quiet": quiet.model_copy(update={"floors": spread(runs[:1])})})
    assert floors(alone, "en") == ""
