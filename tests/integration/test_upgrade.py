"""Runners of the version before the service's, and of versions that it does not understand."""

from typing import Any

import pytest

from app.domain import protocol
from app.domain.lease import Lease
from tests import factories
from tests.integration.conftest import Attempt, Service, bearer

# What a lease held before the protocol had a version; a runner of that time refuses any other field.
FIRST_LEASE = {
    "run", "attempt", "attempt_id", "token", "spec", "campaign", "lease_seconds", "beat_seconds", "suite", "siblings",
}  # fmt: skip


async def publish(service: Service, **over: Any) -> Any:
    body = factories.offer().model_dump(mode="json", by_alias=True, exclude={"protocol"}) | over
    return await service.client.put("/api/v1/runners/me/offer", json=body, headers=service.runner)


async def lease(service: Service, **over: Any) -> Any:
    return await service.client.post("/api/v1/runners/me/lease", json=over, headers=service.runner)


async def test_a_runner_of_the_version_before_measures_on(service: Service) -> None:
    """Catches a field in the lease, also of a sibling, that a runner of the previous version refuses: an upgrade would stop all of them."""
    assert (await publish(service)).status_code == 204
    bodies = [factories.spec_body(drafter={"name": name, "params": {}}) for name in ("ngram", "layerskip")]
    made = await service.client.post("/api/v1/campaigns", json={"title": "both", "runs": bodies}, headers=service.admin)
    assert made.status_code == 201, made.text
    body = (await lease(service)).json()
    assert set(body) == FIRST_LEASE
    assert [set(sibling) for sibling in body["siblings"]] == [FIRST_LEASE]
    attempt = Attempt(service.client, body["run"], body["attempt"], body["attempt_id"], bearer(body["token"]))
    assert (await attempt.beat()).status_code == 200


async def test_a_runner_of_this_version_learns_what_the_service_speaks(service: Service) -> None:
    """Catches a lease without the version."""
    assert (await publish(service, protocol=protocol.PROTOCOL)).status_code == 204
    await service.run()
    found = Lease.model_validate((await lease(service, protocol=protocol.PROTOCOL)).json())
    assert found.protocol == protocol.PROTOCOL


@pytest.mark.parametrize(("spoken", "remedy"), [(protocol.OLDEST - 1, "install"), (protocol.PROTOCOL + 1, "upgrade the service first")])
async def test_others_are_refused_with_a_sentence(service: Service, spoken: int, remedy: str) -> None:
    """Catches a runner that is let in and whose facts nobody understands, and a refusal that does not say what to do."""
    assert (await publish(service)).status_code == 204
    run = await service.run()
    for answer in (await publish(service, protocol=spoken), await lease(service, protocol=spoken)):
        problem = answer.json()
        assert (answer.status_code, problem["type"]) == (409, "urn:bezmen:problem:other-protocol")
        assert (problem["spoken"], problem["oldest"], problem["newest"]) == (spoken, protocol.OLDEST, protocol.PROTOCOL)
        assert f"version {spoken} of the protocol" in problem["detail"]
        assert remedy in problem["detail"].lower()
    assert (await service.state(run))["state"] == "queued"


async def test_what_is_being_measured_ends_well(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an upgrade that throws away the run in hand of a runner that has become too old."""
    await publish(service)
    await service.run()
    attempt = await service.lease()
    monkeypatch.setattr("app.runners_registry.protocol.OLDEST", 2)
    assert (await attempt.finish(await attempt.measure())).json()["state"] == "succeeded"
    assert (await lease(service)).status_code == 409
