"""A report is computed once, whoever else asks for it meanwhile."""

import asyncio
from typing import Any

import pytest

from app.reports.kept import Measured
from app.runs import service as room
from app.storage.view import View
from tests.integration.conftest import Service


async def test_a_report_that_is_being_made_is_waited_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches one computed by a comparison, by the page and ahead of its first reader at the same time, each for as long as all of them together."""
    runs: room.Runs = service.app.state.runs
    run = await service.finished()
    other = await service.finished()
    await service.sql("DELETE FROM reports")
    made: list[int] = []

    def counted(record: Any, measured: Any = room.measured) -> Measured:
        made.append(record.run)
        found: Measured = measured(record)
        return found

    monkeypatch.setattr(room, "measured", counted)
    report, measured, seen, _ = await asyncio.gather(
        runs.report(run), runs.measured(run), runs.seen_by(View("default")).measured(run), runs.measured(other)
    )
    assert sorted(made) == [run, other]
    assert report == measured.report == seen.report
