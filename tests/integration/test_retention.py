"""Raw facts of old runs are deleted where somebody asked for it, and what was computed from them stays and says so."""

from typing import Any

import pytest

from app.runs import analysis as analysis_module
from app.runs.retention import Retention
from app.storage.database import Database
from tests.integration.conftest import Service

FACTS = ("requests", "trials", "batches", "observations")


@pytest.fixture
async def retention(database: Database) -> Retention:
    # A few rows at a time, so that one run takes several transactions.
    return Retention(database, 30, rows=7)


async def counts(service: Service, run: int) -> list[int]:
    query = "SELECT count(*) FROM {} JOIN attempts ON attempts.id = attempt_id WHERE run_id = :run"
    return [(await service.sql(query.format(table), run=run))[0][0] for table in FACTS]


async def aged(service: Service, run: int, days: int = 31) -> None:
    await service.sql("UPDATE runs SET finished_at = finished_at - make_interval(days => :days) WHERE id = :run", run=run, days=days)


async def report_of(service: Service, run: int) -> Any:
    answer = await service.get(f"/api/v1/runs/{run}/report")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_old_facts_go_and_the_report_stays(service: Service, retention: Retention, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a report that is computed anew from nothing once the analysis changes: every figure of it would be wrong or gone."""
    old, young = await service.finished(), await service.finished(language="en")
    before, figures = await report_of(service, old), await service.sql("SELECT * FROM figures WHERE run_id = 1 ORDER BY position")
    await report_of(service, young)
    await aged(service, old)
    assert await retention.sweep() == 1
    assert await counts(service, old) == [0, 0, 0, 0]
    assert min((await counts(service, young))[:3]) > 0
    monkeypatch.setattr("app.runs.service.analysis", lambda: "bezmen-2+other")
    await service.app.state.runs.prepare_reports()
    await service.app.state.runs.prepare_report(old)
    assert await report_of(service, old) == before
    assert await service.sql("SELECT * FROM figures WHERE run_id = 1 ORDER BY position") == figures
    assert await service.sql("SELECT run_id, analysis FROM reports ORDER BY run_id") == [(old, analysis_module.analysis()), (young, "bezmen-2+other")]
    assert await retention.sweep() == 0


async def test_what_needs_the_facts_says_that_they_are_gone(service: Service, retention: Retention) -> None:
    """Catches a comparison over no facts, and a page that is silent about it."""
    old, young = await service.finished(), await service.finished(language="en")
    await report_of(service, old)
    await aged(service, old)
    await retention.sweep()
    for path in (f"/api/v1/runs/{old}/facts", f"/api/v1/comparisons?runs={old},{young}"):
        answer = await service.get(path)
        assert (answer.status_code, answer.json()["type"]) == (410, "urn:bezmen:problem:facts-gone")
    summary = await service.state(old)
    assert summary["facts_deleted_at"] is not None
    assert summary["speedup"] is not None
    for language, said in (("en", "raw facts of this run were deleted"), ("ru", "Исходные факты этого прогона удалены")):
        page = await service.get(f"/runs/{old}", Accept="text/html", **{"Accept-Language": language})
        assert page.status_code == 200
        assert said in page.text


OLD = "bezmen-1+0123456789abcdef"


async def test_lists_keep_the_last_word_of_a_run_without_facts(service: Service, retention: Retention) -> None:
    """Catches lists that lose, zero or pass off as today's the figures of a run whose facts went before the analysis changed."""
    old, young = await service.finished(), await service.finished(language="en")
    for run in (old, young):
        await report_of(service, run)
    await service.sql("UPDATE reports SET analysis = :old", old=OLD)
    await service.sql("INSERT INTO forgotten (run_id) VALUES (:run)", run=old)
    assert await retention.sweep() == 1
    await service.app.state.runs.prepare_reports()
    assert await service.sql("SELECT run_id, analysis FROM reports ORDER BY run_id") == [(old, OLD), (young, analysis_module.analysis())]
    listed = {one["id"]: one for one in (await service.get("/api/v1/runs")).json()["items"]}
    assert {run: one["earlier_analysis"] for run, one in listed.items()} == {old: OLD, young: None}
    assert all(one["acceptance"]["pooled"]["point"] > 0 for one in listed.values())
    found = (await service.get("/api/v1/languages")).json()
    measured = {one["run"]: one for row in found["rows"] for one in row["measured"]}
    assert {run: one["earlier_analysis"] for run, one in measured.items()} == {old: OLD, young: None}
    assert measured[old]["acceptance"] == listed[old]["acceptance"]
    assert all(row["fertility_run"] is not None and row["runs"] == 1 for row in found["rows"])
    over_runs = (await service.get("/api/v1/figures?id=acceptance_rate")).json()
    assert {one["run"]: one["earlier_analysis"] for one in over_runs} == {old: OLD, young: None}
    on_board = [one for row in (await service.get("/api/v1/landscape")).json()["rows"] for one in row["measured"]]
    assert {one["run"]: one["earlier_analysis"] for one in on_board} == {old: OLD, young: None}
    for path, status in (("/runs", 200), ("/languages", 200), ("/landscape", 200), (f"/runs/{old}", 200), (f"/compare?runs={old},{young}", 410)):
        page = await service.get(path, Accept="text/html", **{"Accept-Language": "ru"})
        assert page.status_code == status, path
        assert f"по прежнему анализу, {OLD}" in page.text, path


async def test_only_what_was_asked_for(service: Service, retention: Retention, database: Database) -> None:
    """Catches facts that go without a report, before their time, or although nobody set a limit; and a report that is replaced after all."""
    run = await service.finished()
    await report_of(service, run)
    whole = await counts(service, run)
    assert await retention.sweep() == 0
    await aged(service, run)
    assert await Retention(database, None).sweep() == 0
    await service.sql("DELETE FROM reports")
    assert await retention.sweep() == 0
    assert await counts(service, run) == whole
    await report_of(service, run)
    assert await retention.sweep() == 1
    for query in ("UPDATE reports SET report = '{}'", "DELETE FROM figures", "DELETE FROM forgotten"):
        with pytest.raises(Exception, match=r"its facts are gone|only ever added"):
            await service.sql(query)


async def test_a_run_that_is_not_forgotten_keeps_its_facts(service: Service) -> None:
    """Catches triggers that let anybody delete facts since some may be."""
    await service.finished()
    for table in FACTS[:3]:
        with pytest.raises(Exception, match="only ever added to"):
            await service.sql(f"DELETE FROM {table}")


async def test_a_report_that_nobody_can_read_any_more_is_made_anew_or_said_so(service: Service, retention: Retention) -> None:
    """Catches an internal error for whoever opens a run, or a list that has it, whose report an earlier version stored in another form."""
    old, young = await service.finished(), await service.finished(language="en")
    before = {run: await report_of(service, run) for run in (old, young)}
    for what in ("report = report - 'verdict'", "speedup = speedup - 'pooled'", "acceptance = acceptance - 'passport'"):
        await service.sql(f"UPDATE reports SET {what}")
    await service.sql("UPDATE figures SET cell = cell - 'pooled'")
    await aged(service, old)
    assert await retention.sweep() == 1
    for path in ("/api/v1/runs", "/api/v1/languages", "/api/v1/figures?id=acceptance_rate", "/runs", "/languages", "/landscape"):
        assert (await service.get(path)).status_code == 200, path
    listed = (await service.get("/api/v1/runs")).json()["items"]
    assert all("in a form that this one does not read" in one["speedup"]["reason"]["said"] for one in listed)
    assert await report_of(service, young) == before[young]
    gone = await service.get(f"/api/v1/runs/{old}/report")
    assert (gone.status_code, gone.json()["type"]) == (410, "urn:bezmen:problem:facts-gone")
    assert "this one cannot read it" in gone.json()["detail"]
    page = await service.get(f"/runs/{old}", Accept="text/html", **{"Accept-Language": "ru"})
    assert (page.status_code, "эта его не читает" in page.text) == (410, True)
