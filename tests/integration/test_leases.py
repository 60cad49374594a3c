"""Lost runners, cancelled runs, and a database that goes away."""

import asyncio
import random

import pytest

from app.storage.embedded import EmbeddedPostgres
from tests import factories
from tests.integration.conftest import Service
from tests.integration.test_protocol import leased


async def test_a_silent_runner_loses_its_run_to_the_next_attempt(service: Service) -> None:
    """Catches a run that is lost with its runner, and late facts that are mixed into another attempt's."""
    old = await leased(service)
    await old.send(0, factories.facts())
    await service.expire()
    assert await service.sweep() == 1
    summary = await service.state(old.run)
    assert (summary["state"], summary["attempt"], summary["progress"]) == ("queued", 2, None)
    new = await service.lease()
    assert (new.run, new.number) == (old.run, 2)
    for answer in (await old.send(1, [factories.progress_fact()]), await old.finish(1), await old.beat()):
        assert (answer.status_code, answer.json()["action"]) == (409, "lost")
    batches = await new.measure(seed=7)
    await new.finish(batches)
    lines = (await service.get(f"/api/v1/runs/{old.run}/facts")).text
    assert lines.count('"seed":7,"prompt_tokens"') == 112
    assert '"seed":1,"prompt_tokens"' not in lines


async def test_a_lease_that_ran_out_is_over_before_any_sweep(service: Service) -> None:
    """Catches a stopped and continued runner that writes in the gap between its lease's end and the sweeper's round."""
    attempt = await leased(service)
    await service.expire()
    answer = await attempt.send(0, factories.facts())
    assert (answer.status_code, answer.json()["type"].rsplit(":", 1)[1]) == (409, "stale-attempt")
    assert (await service.state(attempt.run))["attempt"] == 2


async def test_after_three_lost_attempts_the_run_fails_with_a_sentence(service: Service) -> None:
    """Catches a poisoned run that takes down one runner after the other for ever."""
    await service.offer()
    run = await service.run()
    for number in (1, 2, 3):
        assert (await service.lease()).number == number
        await service.expire()
        await service.sweep()
    summary = await service.state(run)
    assert (summary["state"], summary["attempt"], summary["retry_makes_sense"]) == ("failed", 3, True)
    assert summary["failure"] == "Given up after 3 attempts without a result; the last one: The runner went silent for 90 s."
    assert (await service.ask_lease()).status_code == 204
    assert await service.sql("SELECT status::text FROM procrastinate_jobs") == [("failed",)]


async def test_a_job_that_nobody_does_waits_again(service: Service) -> None:
    """Catches a job that stays `doing` for ever because whoever fetched it died before it held a lease."""
    await service.offer()
    run = await service.run()
    await service.sql("UPDATE procrastinate_jobs SET status = 'doing', worker_id = NULL")
    assert (await service.ask_lease()).status_code == 204
    await service.sweep()
    assert (await service.lease()).run == run


async def test_a_requeued_run_keeps_its_place(service: Service) -> None:
    """Catches a run that is punished for its runner: behind everything that came later."""
    first = await leased(service)
    later = await service.run()
    await service.expire()
    await service.sweep()
    assert (await service.state(first.run))["queue_position"] == 1
    assert (await service.state(later))["queue_position"] == 2
    assert (await service.lease()).run == first.run


@pytest.mark.parametrize("state", ["queued", "leased", "running"])
async def test_cancelling_ends_a_run_at_once(service: Service, state: str) -> None:
    """Catches a cancelled run that is measured, or whose facts still come in."""
    await service.offer()
    run = await service.run()
    attempt = None if state == "queued" else await service.lease()
    if state == "running" and attempt is not None:
        await attempt.send(0, factories.facts())
    answers = [await service.client.post(f"/api/v1/runs/{run}/cancel", headers=service.admin) for _ in range(2)]
    assert [(answer.status_code, answer.json()["state"]) for answer in answers] == [(200, "cancelled")] * 2
    if attempt is not None:
        assert (await attempt.beat()).json()["action"] == "cancel"
        assert (await attempt.send(1, [factories.progress_fact()])).json()["action"] == "cancel"
        assert (await attempt.finish(1)).status_code == 409
        assert (await attempt.finish(1, outcome="cancelled", code="cancelled")).status_code == 200
    await service.expire()
    assert await service.sweep() == 0
    assert (await service.ask_lease()).status_code == 204
    assert (await service.state(run))["state"] == "cancelled"
    assert await service.sql("SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')") == [(0,)]


async def test_a_finished_run_cannot_be_cancelled(service: Service) -> None:
    """Catches a result that vanishes from the lists."""
    run = await service.finished()
    answer = await service.client.post(f"/api/v1/runs/{run}/cancel", headers=service.admin)
    assert (answer.status_code, answer.json()["type"].rsplit(":", 1)[1]) == (409, "already-ended")
    assert (await service.state(run))["state"] == "succeeded"


async def test_cancel_and_finish_at_once_end_in_one_state(service: Service) -> None:
    """Catches a race in which both win: a cancelled run with a result."""
    for seed in range(5):
        attempt = await leased(service)
        batches = await attempt.measure(seed=seed)
        cancelled, finished = await asyncio.gather(
            service.client.post(f"/api/v1/runs/{attempt.run}/cancel", headers=service.admin), attempt.finish(batches)
        )
        state = (await service.state(attempt.run))["state"]
        assert {(200, 409): "cancelled", (409, 200): "succeeded"}[(cancelled.status_code, finished.status_code)] == state


async def test_a_database_that_stops_for_five_seconds_costs_nothing(service: Service, postgres: EmbeddedPostgres) -> None:
    """Catches a pool that keeps dead connections, a listener that stays deaf, and a result that is lost or counted twice."""
    attempt = await leased(service)
    assert (await attempt.send(0, factories.facts()[:30])).json()["counted"] is True
    await asyncio.to_thread(postgres.pause)
    away = await attempt.beat()
    assert (away.status_code, away.headers["retry-after"]) == (503, "2")
    assert (await service.get("/api/v1/healthz")).status_code == 503
    await asyncio.sleep(5)
    await asyncio.to_thread(postgres.resume)
    assert (await attempt.send(0, factories.facts()[:30])).json()["counted"] is False
    assert (await attempt.send(1, factories.facts()[30:])).json()["counted"] is True
    assert (await attempt.finish(2)).status_code == 200
    assert (await service.state(attempt.run))["state"] == "succeeded"
    assert await service.sql("SELECT count(*) FROM requests") == [(112,)]
    waiting = asyncio.create_task(service.ask_lease(wait=20))
    await asyncio.sleep(0.1)
    run = await service.run()
    assert (await waiting).json()["run"] == run


async def test_facts_and_events_cannot_be_changed(service: Service) -> None:
    """Catches a correction of the past: figures are recomputed, facts never."""
    await service.finished()
    for table, column in (("requests", "verified"), ("trials", "seconds"), ("events", "kind"), ("batches", "digest"), ("preflights", "tokenizer")):
        with pytest.raises(Exception, match="only ever added to"):
            await service.sql(f"UPDATE {table} SET {column} = {column}")
        with pytest.raises(Exception, match="only ever added to"):
            await service.sql(f"DELETE FROM {table}")


async def test_whatever_happens_a_run_has_one_result(service: Service) -> None:
    """Catches a sequence of leases, losses, cancels and finishes that ends with two results or an attempt that goes backwards."""
    await service.offer()
    source = random.Random(1)
    held = None
    for _ in range(60):
        match source.choice(["submit", "lease", "facts", "finish", "expire", "cancel", "beat", "release"]):
            case "submit":
                await service.submit()
            case "lease":
                answer = await service.ask_lease()
                if answer.status_code == 200:
                    held = answer.json()
            case "expire":
                await service.expire()
                await service.sweep()
            case "cancel":
                newest = (await service.sql("SELECT coalesce(max(id), 1) FROM runs"))[0][0]
                await service.client.post(f"/api/v1/runs/{newest}/cancel", headers=service.admin)
            case verb if held is not None:
                await _act(service, held, verb)
    live = await service.sql("SELECT run_id FROM attempts WHERE state IN ('leased', 'running') GROUP BY run_id HAVING count(*) > 1")
    results = await service.sql("SELECT run_id FROM attempts WHERE state = 'succeeded' GROUP BY run_id HAVING count(*) > 1")
    torn = await service.sql(
        "SELECT r.id, r.state, j.status::text FROM runs r JOIN procrastinate_jobs j ON j.id = r.job_id"
        " WHERE (r.state = 'queued') <> (j.status = 'todo') OR (r.state IN ('leased', 'running')) <> (j.status = 'doing')"
    )
    unfinished = await service.sql(
        "SELECT r.id FROM runs r WHERE r.state = 'succeeded'"
        " AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.run_id = r.id AND a.state = 'succeeded' AND a.number = r.attempt)"
    )
    assert (live, results, torn, unfinished) == ([], [], [], [])
    assert await service.sql("SELECT count(*) > 3 FROM runs") == [(True,)]


async def _act(service: Service, held: dict[str, int | str], verb: str) -> None:
    from tests.integration.conftest import Attempt, bearer

    attempt = Attempt(service.client, int(held["run"]), int(held["attempt"]), int(held["attempt_id"]), bearer(str(held["token"])))
    if verb == "facts":
        await attempt.send(0, factories.facts(prompts=1, passes=4))
    elif verb == "finish":
        await attempt.finish(1)
    elif verb == "release":
        await attempt.post("release", {"reason": "told to stop"})
    else:
        await attempt.beat()
