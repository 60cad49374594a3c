"""What the page of runners says of a run that waits."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.sentence import plain
from app.line.schemas import Reason, Waiting
from app.web.pages.runners import place, why
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
