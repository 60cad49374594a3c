"""Webhooks against a receiver that really listens: what it is told, how often, and that nothing else of this network can be reached."""

import asyncio
import hashlib
import hmac
import json
import re
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from app.access.principal import Principal
from app.hooks import courier, sender
from app.hooks.bodies import of_run
from app.hooks.schemas import WebhookIn
from app.reports.build import build
from app.storage.database import Database
from tests import factories
from tests.integration.conftest import Service, bearer, serving

SECRET_PROMPT = "Секретный промпт заказчика"


class Receiver:
    """An HTTP server that keeps what it was sent and answers what a test wants."""

    def __init__(self) -> None:
        self.seen: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.location = ""
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                owner.seen.append((dict(self.headers), body))
                status = owner.answers.pop(0) if owner.answers else 200
                self.send_response(status)
                if owner.location:
                    self.send_header("Location", owner.location)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


@pytest.fixture
async def service(database: Database) -> AsyncIterator[Service]:
    """A service that may call this machine, as its operator allowed."""
    async with serving(database, webhook_networks="127.0.0.0/8") as running:
        yield running


async def hook(service: Service, receiver: Receiver, *events: str) -> dict[str, Any]:
    body = {"url": receiver.url, "events": events or ("run.finished",)}
    answer = await service.client.post("/api/v1/webhooks", json=body, headers=service.admin)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def log(service: Service, webhook: int) -> list[dict[str, Any]]:
    answer = await service.client.get(f"/api/v1/webhooks/{webhook}/deliveries", headers=service.admin)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


async def settled(service: Service, webhook: int, tries: int = 1, n: int = 1) -> list[dict[str, Any]]:
    """The log, once it holds `n` deliveries of `tries` tries or more, for 30 s at most."""
    for _ in range(300):
        found = await log(service, webhook)
        if len(found) >= n and all(len(each["tries"]) >= tries for each in found):
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(await log(service, webhook))


async def due(service: Service) -> None:
    """As if every pause were over."""
    await service.sql("UPDATE procrastinate_jobs SET scheduled_at = now() WHERE queue_name = 'webhooks'")


def signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """As a receiver checks it."""
    found = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["Bezmen-Signature"])
    assert found is not None
    return hmac.compare_digest(hmac.new(secret.encode(), found[1].encode() + b"." + body, hashlib.sha256).hexdigest(), found[2])


async def test_a_finished_run_is_told_once_and_signed(service: Service, receiver: Receiver) -> None:
    """Catches a finish that nobody hears of, one told twice, a signature that does not fit, and a prompt or an answer in the body."""
    made = await hook(service, receiver)
    run = await service.finished(language="en", acceptance=0.9, output_text=SECRET_PROMPT)
    (delivery,) = await settled(service, made["id"])
    assert (delivery["state"], delivery["run"], [each["status"] for each in delivery["tries"]]) == ("delivered", run, [200])
    ((headers, body),) = receiver.seen
    assert signed(made["secret"], headers, body)
    assert not signed(made["secret"], headers, body + b" ")
    assert not signed("bzw_other", headers, body)
    found = json.loads(body)
    assert (headers["Bezmen-Event"], headers["Bezmen-Delivery"]) == ("run.finished", str(delivery["id"]))
    assert (found["event"], found["run"], found["state"], found["project"]) == ("run.finished", run, "succeeded", "default")
    assert [cell["id"] for cell in found["figures"]] == ["speedup_end_to_end", "acceptance_rate"]
    assert all(cell["passport"]["language"] == "en" for cell in found["figures"])
    assert SECRET_PROMPT not in body.decode()
    assert "prompts" not in found


async def test_what_a_runner_wrote_is_not_passed_on(service: Service, receiver: Receiver) -> None:
    """Catches a failure whose words quote a private prompt, and ends that nobody is told of: failed, cancelled."""
    made = await hook(service, receiver)
    await service.offer()
    run = await service.run()
    attempt = await service.lease()
    await attempt.finish(await attempt.measure(), outcome="failed", code="crashed", reason=f"died at {SECRET_PROMPT}")
    cancelled = await service.run(language="en")
    await service.client.post(f"/api/v1/runs/{cancelled}/cancel", headers=service.admin)
    gate = await service.client.post("/api/v1/gates", json={"run": run, "verdict": "pays"}, headers=service.admin)
    assert SECRET_PROMPT in gate.text, "whoever may read the run may read why it failed"
    await settled(service, made["id"], n=2)
    assert sorted(json.loads(body)["state"] for _, body in receiver.seen) == ["cancelled", "failed"]
    other = await hook(service, receiver, "gate.*")
    await service.client.post("/api/v1/gates", json={"run": run, "verdict": "pays"}, headers=service.admin)
    await settled(service, other["id"])
    assert json.loads(receiver.seen[-1][1])["event"] == "gate.could-not-be-measured"
    assert all(SECRET_PROMPT not in body.decode() for _, body in receiver.seen)


async def test_a_receiver_that_fails_is_asked_again(service: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a delivery that is lost after one error, one that never ends, and a second body that differs from the first."""
    made = await hook(service, receiver)
    receiver.answers = [500] * 20
    await service.finished(language="en")
    (delivery,) = await settled(service, made["id"])
    assert (delivery["state"], delivery["tries"][0]["status"]) == ("waiting", 500)
    assert delivery["next_at"] is not None
    receiver.answers = [503, 200]
    for tries in (2, 3):
        await due(service)
        (delivery,) = await settled(service, made["id"], tries)
    assert (delivery["state"], [each["status"] for each in delivery["tries"]]) == ("delivered", [500, 503, 200])
    assert len({body for _, body in receiver.seen}) == 1
    receiver.answers = [500] * 20
    monkeypatch.setattr(courier, "PAUSES", courier.PAUSES[:1])
    await service.finished(language="en", seed=2)
    await settled(service, made["id"], n=2)
    await due(service)
    last, _ = await settled(service, made["id"], 2, n=2)
    assert (last["state"], last["next_at"]) == ("failed", None)


async def test_a_redirect_is_not_followed(service: Service, receiver: Receiver) -> None:
    """Catches a receiver that sends us on to an address that it may not name itself."""
    made = await hook(service, receiver)
    receiver.answers, receiver.location = [307], f"http://127.0.0.1:{receiver.server.server_port}/elsewhere"
    await service.finished(language="en")
    (delivery,) = await settled(service, made["id"])
    assert (delivery["tries"][0]["status"], len(receiver.seen)) == (307, 1)
    assert "not followed" in delivery["tries"][0]["error"]


async def test_a_rolled_back_finish_is_not_told(service: Service, receiver: Receiver) -> None:
    """Catches a delivery of something that never came to be: it is written in the transaction of the finish."""
    made = await hook(service, receiver)
    await service.offer()
    run = await service.run()
    attempt = await service.lease()
    batches = await attempt.measure()
    refused = await attempt.finish(batches + 1)
    assert refused.status_code == 409
    assert await log(service, made["id"]) == []
    assert (await attempt.finish(batches)).status_code == 200
    assert (await attempt.finish(batches)).status_code == 200
    (delivery,) = await settled(service, made["id"])
    assert delivery["run"] == run


async def test_a_gate_is_told_when_it_is_certain(service: Service, receiver: Receiver) -> None:
    """Catches an alarm before the repeat that may take it back, and events that nobody asked for."""
    made = await hook(service, receiver, "gate.does-not-hold")
    slow = await service.finished(language="en", acceptance=0.3)
    again = await service.finished(language="en", acceptance=0.3)
    asked = {"run": slow, "verdict": "pays"}
    for body in (asked | {"to_be_confirmed": True}, asked | {"verdict": "does not pay"}, asked | {"repeat": again}):
        assert (await service.client.post("/api/v1/gates", json=body, headers=service.admin)).status_code == 200
    (delivery,) = await settled(service, made["id"])
    found = json.loads(receiver.seen[0][1])
    assert (delivery["event"], found["confirmed"], found["repeat"]) == ("gate.does-not-hold", True, again)
    assert found["passport"]["language"] == "en"


async def test_what_a_gate_said_stays_with_its_run(service: Service, receiver: Receiver) -> None:
    """Catches an answer that is kept only where a webhook asks for it, or that goes with the log of deliveries; and one that is not yet certain."""
    run = await service.finished(language="en", acceptance=0.3)
    bounds = [{"figure": "acceptance_rate", "max": 0.9}, {"figure": "headline", "min": 1.5}]
    for body in ({"run": run, "verdict": "pays", "to_be_confirmed": True}, {"run": run, "bounds": bounds}):
        assert (await service.client.post("/api/v1/gates", json=body, headers=service.admin)).status_code == 200
    said = [event for event in (await service.get(f"/api/v1/runs/{run}/events")).json() if event["kind"] == "gate"]
    assert [event["body"] for event in said] == [
        {"answer": "does not hold", "checks": [["acceptance_rate ≤ 0.9", "holds"], ["speedup_end_to_end ≥ 1.5", "does not hold"]]}
    ]
    for language, words in (("en", "acceptance_rate ≤ 0.9: holds"), ("ru", "acceptance_rate ≤ 0.9: выполнено")):
        assert words in (await service.get(f"/runs/{run}", **{"Accept-Language": language})).text
    assert (await service.sql("SELECT actor FROM events WHERE kind = 'gate'")) == [("admin",)]


async def test_ended_deliveries_leave_the_log_after_their_time(service: Service, receiver: Receiver) -> None:
    """Catches a log that grows for ever, one that forgets too early, a delivery that is dropped while it waits, and tries that stay behind."""
    receiver.answers = [200, 200, 500]
    made = await hook(service, receiver)
    for n in range(1, 4):
        await service.finished()
        await settled(service, made["id"], n=n)
    await service.sql("UPDATE deliveries SET ended_at = ended_at - interval '89 days' WHERE id = 2")
    await service.app.state.hooks.prune()
    assert len(await log(service, made["id"])) == 3
    await service.sql("UPDATE deliveries SET created_at = created_at - interval '91 days', ended_at = ended_at - interval '91 days' WHERE id <> 2")
    await service.app.state.hooks.prune()
    assert [(one["id"], one["state"]) for one in await log(service, made["id"])] == [(3, "waiting"), (2, "delivered")]
    assert await service.sql("SELECT delivery_id FROM delivery_tries ORDER BY 1") == [(2,), (3,)]


async def test_a_removed_webhook_hears_nothing(service: Service, receiver: Receiver) -> None:
    """Catches a delivery to somebody who was shut out, waiting ones included, a log that goes with the webhook, and a change nobody is named for."""
    made = await hook(service, receiver)
    receiver.answers = [500] * 5
    await service.finished(language="en")
    await settled(service, made["id"])
    assert (await service.client.delete(f"/api/v1/webhooks/{made['id']}", headers=service.admin)).status_code == 204
    await due(service)
    for _ in range(100):
        if (await log(service, made["id"]))[0]["state"] == "failed":
            break
        await asyncio.sleep(0.1)
    assert (await log(service, made["id"]))[0]["state"] == "failed"
    await service.finished(language="en", seed=3)
    assert (len(receiver.seen), len(await log(service, made["id"]))) == (1, 1)
    deeds = await service.sql("SELECT kind, actor, project, body ->> 'host' FROM events WHERE kind LIKE 'webhook%' ORDER BY id")
    assert deeds == [("webhook made", "admin", "default", "127.0.0.1"), ("webhook removed", "admin", "default", None)]


async def test_a_delivery_whose_process_died_is_tried_again(service: Service, receiver: Receiver) -> None:
    """Catches a job that stays with a worker which is gone."""
    made = await hook(service, receiver)
    receiver.answers = [500]
    await service.finished(language="en")
    await settled(service, made["id"])
    await service.sql("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour')")
    await service.sql(
        "UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT min(id) FROM procrastinate_workers"
        " WHERE last_heartbeat < now() - interval '10 minutes') WHERE queue_name = 'webhooks'"
    )
    (delivery,) = await settled(service, made["id"], 2)
    assert delivery["state"] == "delivered"


async def test_each_project_hears_of_its_own(service: Service, receiver: Receiver) -> None:
    """Catches a webhook that tells one project of another's runs, and a log or a list that shows another's webhooks."""
    await service.app.state.access.add_project("other")
    other = bearer(await service.app.state.access.create("theirs", ("read", "submit", "admin"), project="other"))
    mine = await hook(service, receiver)
    body = {"url": receiver.url, "events": ["run.finished"]}
    theirs = (await service.client.post("/api/v1/webhooks", json=body, headers=other)).json()
    await service.finished(language="en")
    await settled(service, mine["id"])
    assert (await service.client.get(f"/api/v1/webhooks/{theirs['id']}/deliveries", headers=other)).json() == []
    assert (await service.client.get(f"/api/v1/webhooks/{mine['id']}/deliveries", headers=other)).status_code == 404
    assert (await service.client.delete(f"/api/v1/webhooks/{mine['id']}", headers=other)).status_code == 404
    listed = (await service.client.get("/api/v1/webhooks", headers=other)).json()
    assert [each["id"] for each in listed] == [theirs["id"]]
    assert "secret" not in listed[0]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:5432/", "https://10.0.0.8/", "http://169.254.169.254/latest/meta-data/", "https://[::1]/", "https://[::ffff:127.0.0.1]/",
        "https://localhost/",
    ],
)  # fmt: skip
async def test_nothing_inside_is_called_unless_allowed(database: Database, url: str) -> None:
    """Catches a webhook as a way into the network of the service."""
    async with serving(database) as closed:
        answer = await closed.client.post("/api/v1/webhooks", json={"url": url, "events": ["run.finished"]}, headers=closed.admin)
        assert (answer.status_code, answer.json()["title"]) == (422, "A webhook may not lead there")
        assert "is not a public address" in answer.json()["detail"]


async def test_an_address_that_turned_private_is_not_called(database: Database, receiver: Receiver) -> None:
    """Catches a name that was public when it was entered: where it leads is looked up again for every try."""
    async with serving(database, webhook_networks="127.0.0.0/8") as opened:
        made = await opened.app.state.hooks.add(
            WebhookIn(url=receiver.url, events=("run.finished",)), principal=Principal("me", frozenset({"admin"}))
        )
    async with serving(database) as closed:
        await closed.finished(language="en")
        (delivery,) = await settled(closed, made.id)
        assert (delivery["tries"][0]["status"], receiver.seen) == (None, [])
        assert "is not a public address" in delivery["tries"][0]["error"]


async def test_who_may_have_webhooks(service: Service, receiver: Receiver) -> None:
    """Catches a token that may submit and thereby send what it likes to whom it likes."""
    body = {"url": receiver.url, "events": ["run.finished"]}
    for scope in ("read", "submit"):
        token = await service.token(scope)
        assert (await service.client.post("/api/v1/webhooks", json=body, headers=token)).status_code == 403
        assert (await service.client.get("/api/v1/webhooks", headers=token)).status_code == 403
    wrong = await service.client.post("/api/v1/webhooks", json=body | {"events": ["run.started"]}, headers=service.admin)
    assert wrong.status_code == 422


def test_the_body_of_a_run_holds_nothing_else() -> None:
    """Catches a field that somebody adds to the body without asking whether it may leave the service."""
    found = of_run(build(factories.record(language="en", prompts=8)), "http://x")
    assert set(found) == {"state", "language", "engine", "drafter", "outcome", "refused", "answer", "figures", "url"}


async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Listens until the other side hangs up."""
    await reader.read()
    writer.close()


async def test_a_slow_receiver_ends(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a receiver that takes the connection and never answers: it would stop every other delivery."""
    monkeypatch.setattr(sender, "TOTAL_SECONDS", 0.3)
    server = await asyncio.start_server(mute, "127.0.0.1", 0)
    try:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        made = (await service.client.post("/api/v1/webhooks", json={"url": url, "events": ["run.finished"]}, headers=service.admin)).json()
        await service.finished(language="en")
        (delivery,) = await settled(service, made["id"])
    finally:
        server.close()
    assert (delivery["tries"][0]["status"], delivery["tries"][0]["error"]) == (None, "no answer within 0 s")
