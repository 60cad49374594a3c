"""Runs that are submitted together: leased together where they share a bench, and weighed as one family."""

from typing import Any

from tests import factories
from tests.integration.conftest import Attempt, Service, bearer

DRAFTERS: tuple[dict[str, Any], ...] = (
    {"name": "ngram", "params": {"max_ngram": 2}},
    {"name": "ngram", "params": {"max_ngram": 3}},
    {"name": "layerskip", "params": {"skip": 10}},
)


def body(languages: tuple[str, ...] = ("ru",), **over: Any) -> dict[str, Any]:
    runs = [factories.spec_body(drafter=drafter, language=language) for language in languages for drafter in DRAFTERS]
    return {"title": "three drafters", "runs": runs} | over


async def submit(service: Service, asked: dict[str, Any], key: str | None = None) -> Any:
    return await service.client.post("/api/v1/campaigns", json=asked, headers=service.admin | ({"Idempotency-Key": key} if key else {}))


async def leased(service: Service) -> list[Attempt]:
    """The next lease and its siblings."""
    first = (await service.ask_lease()).json()
    return [Attempt(service.client, b["run"], b["attempt"], b["attempt_id"], bearer(b["token"])) for b in (first, *first["siblings"])]


async def test_runs_that_share_a_bench_are_leased_together(service: Service) -> None:
    """Catches a plain arm measured once a drafter, and a language that slips into another one's bench."""
    await service.offer()
    made = (await submit(service, body(("ru", "en")))).json()
    for language in ("ru", "en"):
        attempts = await leased(service)
        specs = [(await service.state(a.run))["spec"] for a in attempts]
        assert {spec["language"] for spec in specs} == {language}
        assert [spec["drafter"] for spec in specs] == list(DRAFTERS)
        for attempt in attempts:
            assert (await attempt.finish(await attempt.measure(language=language))).status_code == 200
    again = (await service.get(f"/api/v1/campaigns/{made['id']}")).json()
    assert [run["state"] for run in again["runs"]] == ["succeeded"] * 6
    assert (await service.ask_lease()).status_code == 204


async def test_runs_of_other_campaigns_and_lone_runs_are_not_siblings(service: Service) -> None:
    """Catches runs of two submitters measured as one family's."""
    await service.offer()
    await submit(service, body())
    await submit(service, body())
    await service.run()
    first = await leased(service)
    assert len(first) == 3
    for attempt in first:
        await attempt.post("release", {"reason": "enough seen"})


async def test_a_lost_run_of_a_campaign_waits_again_and_its_siblings_go_on(service: Service) -> None:
    """Catches a sibling that is lost with the others, and one that can never be leased again."""
    await service.offer()
    await submit(service, body())
    one, two, three = await leased(service)
    await one.post("release", {"reason": "killed"})
    assert (await two.beat()).json()["action"] == "continue"
    for attempt in (two, three):
        assert (await attempt.finish(await attempt.measure())).status_code == 200
    (again,) = await leased(service)
    assert (again.run, again.number) == (one.run, 2)


async def test_the_campaign_is_the_family(service: Service) -> None:
    """Catches a `pays` that was one of three tries and is told as if it were the only one."""
    await service.offer()
    await submit(service, body())
    attempts = await leased(service)
    for attempt in attempts:
        await attempt.finish(await attempt.measure())
    for attempt in attempts:
        report = (await service.get(f"/api/v1/runs/{attempt.run}/report")).json()
        assert report["verdict"]["family"] == 3


async def test_the_same_key_gives_the_same_campaign(service: Service) -> None:
    """Catches a retried request that doubles a campaign, and one key for two different ones."""
    await service.offer()
    first, second = await submit(service, body(), "k"), await submit(service, body(), "k")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert len(await service.sql("SELECT id FROM runs")) == 3
    shorter = body() | {"runs": body()["runs"][:2]}
    longer = body() | {"runs": [*body()["runs"], factories.spec_body(language="en")]}
    other = body() | {"runs": [*body()["runs"][:2], factories.spec_body(trials=3)]}
    for changed in (shorter, longer, other):
        answer = await submit(service, changed, "k")
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert len(await service.sql("SELECT id FROM runs")) == 3


async def test_one_run_that_nobody_offers_refuses_the_campaign(service: Service) -> None:
    """Catches half a campaign in the queue."""
    await service.offer()
    answer = await submit(service, body() | {"runs": [*body()["runs"], factories.spec_body(drafter={"name": "ngramm"})]})
    assert answer.status_code == 422
    assert "ngram" in answer.json()["detail"]
    assert await service.sql("SELECT id FROM campaigns") == []
    assert await service.sql("SELECT id FROM runs") == []


async def test_the_same_run_twice_is_no_campaign(service: Service) -> None:
    """Catches a family that counts one try as two."""
    await service.offer()
    answer = await submit(service, body() | {"runs": [factories.spec_body(), factories.spec_body()]})
    assert answer.status_code == 422
    assert "same measurement" in answer.text


async def test_a_number_that_no_campaign_has(service: Service) -> None:
    for number in (0, 7, 2**70):
        assert (await service.get(f"/api/v1/campaigns/{number}")).status_code == 404
    assert (await submit(service, {"title": "one alone", "runs": [factories.spec_body()]})).status_code == 422
