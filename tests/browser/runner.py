"""A runner as the service sees one: the real protocol over HTTP, with facts that were made up."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from app.domain.facts import AnyFact
from app.domain.probe import ProbeEnd
from tests import factories
from tests.factories_probe import probe_found


@dataclass
class Attempt:
    """A lease; facts are sent in numbered batches."""

    client: httpx.Client
    run: int
    id: int
    language: str
    token: str
    sent: int = field(default=0)

    def post(self, verb: str, body: dict[str, Any]) -> None:
        answer = self.client.post(f"/api/v1/attempts/{self.id}/{verb}", json=body, headers={"Authorization": f"Bearer {self.token}"})
        assert answer.status_code == 200, answer.text

    def send(self, facts: Sequence[AnyFact]) -> None:
        text = "[" + ",".join(fact.model_dump_json() for fact in facts) + "]"
        self.post("facts", {"number": self.sent, "digest": hashlib.sha256(text.encode()).hexdigest(), "facts": text})
        self.sent += 1

    def progress(self, **over: Any) -> None:
        self.send([factories.progress_fact(**over)])

    def finish(self, **over: Any) -> None:
        self.post("finish", {"batches": self.sent, "finish": factories.finish_fact(**over).model_dump(mode="json")})

    def measure(self, **over: Any) -> None:
        """Everything of a good run, to the end."""
        self.send(factories.facts(language=self.language, **over))
        self.finish()


class Runner:
    """`token` is the one that an embedded service leaves for its own runner."""

    def __init__(self, url: str, token: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=30)
        self._headers = {"Authorization": f"Bearer {token}"}

    def offer(self, **over: Any) -> None:
        body = factories.offer(**over).model_dump(mode="json", by_alias=True)
        answer = self._client.put("/api/v1/runners/me/offer", json=body, headers=self._headers)
        assert answer.status_code == 204, answer.text

    def lease(self) -> Attempt:
        answer = self._client.post("/api/v1/runners/me/lease", json={"wait_seconds": 20}, headers=self._headers)
        assert answer.status_code == 200, answer.text
        found = answer.json()
        return Attempt(self._client, found["run"], found["attempt_id"], found["spec"]["language"], found["token"])

    def probe(self) -> None:
        """The next probe, to its end."""
        held = self._client.post("/api/v1/runners/me/probes/lease", json={}, headers=self._headers)
        assert held.status_code == 200, held.text
        place, end = f"/api/v1/probes/{held.json()['probe']}/attempts/{held.json()['attempt']}/finish", ProbeEnd(found=probe_found())
        token = {"Authorization": f"Bearer {held.json()['token']}"}
        answer = self._client.post(place, json={"end": end.model_dump(mode="json")}, headers=token)
        assert answer.status_code == 200, answer.text

    def close(self) -> None:
        self._client.close()
