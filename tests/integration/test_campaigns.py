"""Runs that are submitted together: leased together where they share a bench, and weighed as one family."""

from typing import Any

from app.campaigns.forecast import NOBODY
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
    # What the offer's own defaults make equal is known to the service alone.
    short = [factories.spec_body(drafter="ngram"), factories.spec_body(drafter={"name": "ngram", "params": {"max_ngram": 3.0}})]
    answer = await submit(service, {"title": "spelt out", "runs": short})
    assert (answer.status_code, answer.json()["title"]) == (422, "A campaign measures everything once")
    assert answer.json()["detail"].startswith("Runs 1 and 2 (ngram in ru) ask for the same measurement, defaults filled in;")
    judged = await submit(service, body() | {"runs": [factories.spec_body(margin=0.02), factories.spec_body(margin=0.05)]})
    assert "differ in the margin of their verdict alone" in judged.text
    assert await service.sql("SELECT id FROM runs") == []


async def test_a_number_that_no_campaign_has(service: Service) -> None:
    for number in (0, 7, 2**70):
        assert (await service.get(f"/api/v1/campaigns/{number}")).status_code == 404
    assert (await submit(service, {"title": "one alone", "runs": [factories.spec_body()]})).status_code == 422


async def test_a_runner_stays_with_the_campaign_whose_target_it_has_loaded(service: Service) -> None:
    """Catches weights that are loaded again because a run of somebody else came in between."""
    await service.offer()
    await submit(service, body(("ru", "en")))
    first = await leased(service)
    other = await service.run()
    for attempt in first:
        await attempt.finish(await attempt.measure())
    answer = (await service.ask_lease()).json()
    assert answer["campaign"] is not None
    assert answer["spec"]["language"] == "en"
    for lease in (answer, *answer["siblings"]):
        attempt = Attempt(service.client, lease["run"], lease["attempt"], lease["attempt_id"], bearer(lease["token"]))
        await attempt.finish(await attempt.measure(language="en"))
    last = (await service.ask_lease()).json()
    assert (last["run"], last["campaign"]) == (other, None)


async def test_a_product_is_a_campaign(service: Service) -> None:
    """Catches a product that the API takes and does not multiply."""
    await service.offer()
    each = {name: value for name, value in factories.spec_body().items() if name not in ("drafter", "language")}
    product = {"each": each, "drafters": [{"drafter": drafter} for drafter in DRAFTERS], "languages": ["ru", "en"]}
    made = await submit(service, {"title": "a product", "product": product})
    assert made.status_code == 201, made.text
    assert [(run["spec"]["language"], run["spec"]["drafter"]["name"]) for run in made.json()["runs"]] == [
        (language, drafter["name"]) for language in ("ru", "en") for drafter in DRAFTERS
    ]
    assert made.json()["progress"] == {"ended": 0, "total": 6, "counts": {"queued": 6}, "remaining": None, "unknown": NOBODY}
    listed = (await service.get("/api/v1/campaigns")).json()
    assert [(line["title"], line["counts"]) for line in listed["items"]] == [("a product", {"queued": 6})]


async def test_cancel_and_resume_take_all_runs_that_need_it(service: Service) -> None:
    """Catches a resumed campaign whose family counts a measurement twice, and a cancel that spares a run or kills a result."""
    await service.offer()
    made = (await submit(service, body())).json()
    at = f"/api/v1/campaigns/{made['id']}"
    one, two, three = await leased(service)
    await one.finish(await one.measure())
    cancelled = (await service.client.post(f"{at}/cancel", headers=service.admin)).json()
    assert [run["state"] for run in cancelled["runs"]] == ["succeeded", "cancelled", "cancelled"]
    assert (await service.client.post(f"{at}/cancel", headers=service.admin)).status_code == 409
    for late in (two, three):
        assert (await late.beat()).json()["action"] == "cancel"
    resumed = (await service.client.post(f"{at}/resume", headers=service.admin)).json()
    assert [run["state"] for run in resumed["runs"]] == ["succeeded", "queued", "queued"]
    assert [run["id"] for run in resumed["earlier"]] == [two.run, three.run]
    assert (await service.client.post(f"{at}/resume", headers=service.admin)).status_code == 409
    again = await leased(service)
    assert len(again) == 2
    for attempt in again:
        await attempt.finish(await attempt.measure())
    report = (await service.get(f"/api/v1/runs/{again[0].run}/report")).json()
    assert report["verdict"]["family"] == 3


async def test_repeating_a_campaign_makes_another_one(service: Service) -> None:
    await service.offer()
    made = (await submit(service, body())).json()
    answer = await service.client.post(f"/api/v1/campaigns/{made['id']}/repeat", headers=service.admin)
    assert answer.status_code == 201
    assert answer.json()["id"] != made["id"]
    assert [run["spec"] for run in answer.json()["runs"]] == [run["spec"] for run in made["runs"]]
