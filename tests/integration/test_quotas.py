"""What one token and one run may take, each with the sentence that is said when it is more."""

from collections.abc import AsyncIterator

import pytest

from app.queue.sweeper import Sweeper
from app.storage.database import Database
from tests import factories
from tests.integration.conftest import Service, serving
from tests.integration.test_imports import BENCH, take

LINE = '{"id": "a", "parallel": "a", "language": "ru", "profile": "chat", "answer": "prompt", "text": "Как варят борщ и почему он красный?"}\n'


@pytest.fixture
async def strict(database: Database) -> AsyncIterator[Service]:
    async with serving(database, queued_per_token=2, tokens_per_run=10_000, uploads_per_token=1) as running:
        await running.offer()
        yield running


async def test_tokens_of_a_run(strict: Service) -> None:
    """Catches a run that holds a machine for days, and a limit that does not say how to come under it."""
    fits = {"suite": {"id": "everyday", "limit": 4}, "max_new_tokens": 64, "trials": 3}
    assert (await strict.submit(**fits)).status_code == 201
    for over in ({"max_new_tokens": 512}, {"suite": {"id": "everyday", "limit": 40}}, {"trials": 50}):
        answer = await strict.submit(**fits | over)
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:bezmen:problem:over-quota")
        assert "a run may generate 10000. Lower suite.limit, max_new_tokens or trials." in answer.json()["detail"]
    bodies = [factories.spec_body(**fits), factories.spec_body(**fits | {"trials": 50})]
    campaign = {"title": "both", "runs": bodies}
    assert (await strict.client.post("/api/v1/campaigns", json=campaign, headers=strict.admin)).status_code == 422


async def test_runs_that_wait(strict: Service) -> None:
    """Catches a queue that one token fills, and one token that pays for another's runs."""
    body = {"suite": {"id": "everyday", "limit": 4}}
    for trials in (1, 2):
        assert (await strict.submit(**body, trials=trials)).status_code == 201
    answer = await strict.submit(**body, trials=3)
    assert (answer.status_code, answer.json()["detail"]) == (429, "2 runs of admin wait already; wait for some or cancel them.")
    assert (await strict.submit(headers=await strict.token("submit"), **body)).status_code == 201


async def test_uploads(strict: Service) -> None:
    """Catches a disk that one token fills."""
    headers = strict.admin | {"Content-Type": "application/jsonl"}
    answers = [await strict.client.post(f"/api/v1/suites?id=mine-v{n}", content=LINE, headers=headers) for n in (1, 1, 2)]
    assert [answer.status_code for answer in answers] == [201, 200, 429]
    assert answers[2].json()["detail"] == "admin has uploaded 1 suites in 24 hours, and may not upload more; try again tomorrow."


async def test_imports(strict: Service) -> None:
    """Catches a database that one token fills with files, and a file that is counted twice."""
    answers = [await take(strict, BENCH | {"completed": n}) for n in (11, 11, 12)]
    assert [answer.status_code for answer in answers] == [201, 200, 429]
    assert answers[2].json()["detail"] == "admin has imported 1 files in 24 hours, and may not import more; try again tomorrow."


async def test_wall_time(service: Service) -> None:
    """Catches a run without end; what it measured stays, its runner is told, and nothing that it sends later counts."""
    await service.offer()
    run = await service.run()
    attempt = await service.lease()
    await attempt.send(0, factories.facts()[:4])
    sweeper = Sweeper(service.database, 90, run_seconds=3600)
    await sweeper.sweep()
    assert (await service.state(run))["state"] == "running"
    await service.sql("UPDATE attempts SET leased_at = now() - interval '3601 seconds'")
    await sweeper.sweep()
    state = await service.state(run)
    assert (state["state"], state["retry_makes_sense"]) == ("failed", False)
    assert state["failure"] == "The run took longer than the 3600 s that it may take (BEZMEN_RUN_SECONDS); what was measured is kept."
    assert (await attempt.beat()).json()["action"] == "cancel"
    assert (await attempt.send(1, factories.facts()[4:8])).status_code == 409
    assert (await attempt.finish(1, outcome="cancelled")).status_code == 200
    assert (await service.state(run))["state"] == "failed"


async def test_runs_side_by_side_share_their_time(service: Service) -> None:
    """Catches a campaign that is ended because six runs take six times as long as one."""
    await service.offer()
    bodies = [factories.spec_body(drafter=drafter) for drafter in ("ngram", "layerskip")]
    await service.client.post("/api/v1/campaigns", json={"title": "two", "runs": bodies}, headers=service.admin)
    answer = (await service.ask_lease()).json()
    assert len(answer["siblings"]) == 1
    sweeper = Sweeper(service.database, 90, run_seconds=3600)
    for seconds, expected in ((7199, "leased"), (7201, "failed")):
        await service.sql(f"UPDATE attempts SET leased_at = now() - interval '{seconds} seconds'")
        await sweeper.sweep()
        assert (await service.state(answer["run"]))["state"] == expected
