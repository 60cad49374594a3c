"""What happened to a run, in words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.runs.schemas import EventOut
from app.web.events import Happened, happened

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PROGRESS = {"arm": "plain", "done": 3, "stage": "trial", "total": 16, "attempt": 1, "repeated": 0, "remaining": 21.0, "half_width": None}


def one(kind: str, body: dict[str, Any]) -> Happened:
    return happened(EventOut(id=1, run=1, at=AT, kind=kind, body=body), "ru")


@pytest.mark.parametrize(
    ("kind", "body", "what", "details"),
    [
        ("queued", {"attempt": 1}, "в очереди", ("попытка 1",)),
        ("leased", {"attempt": 2, "of": 3}, "взят исполнителем", ("попытка 2 из 3",)),
        (
            "lost",
            {"attempt": 1, "of": 3, "reason": "The runner went silent for 90 s."},
            "исполнитель потерян",
            ("попытка 1 из 3", "Исполнитель молчит 90 с."),
        ),
        ("progress", PROGRESS, "ход измерения", ("попытка 1", "сделано: 3 из 16", "обычное", "повторы", "осталось около 21\u00a0с")),
    ],
)
def test_an_event_is_said_in_words(kind: str, body: dict[str, Any], what: str, details: tuple[str, ...]) -> None:
    """Catches a name of the log on a page, a None, and a reason left in the runner's English."""
    found = one(kind, body)
    assert found.what == what
    assert set(found.details) == set(details)
    assert found.unknown == ()


def test_what_has_no_words_is_shown_as_it_is() -> None:
    """Catches a value of the log that is lost because nobody gave it words."""
    assert one("queued", {"attempt": 1, "shard": 7}).unknown == (("shard", "7"),)
