"""The runner's side of the service's HTTP protocol: outbound only, a token per runner and one per attempt."""

import hashlib
import logging
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import httpx

from app.domain.catalogue import Offer
from app.domain.facts import FinishFact
from app.domain.lease import Lease
from app.domain.probe import ProbeEnd, ProbeLease
from app.domain.protocol import PROTOCOL

log = logging.getLogger("bezmen.runner")
Action = Literal["continue", "cancel", "lost"]


class Lost(Exception):
    """The service has given the attempt to another runner, or ended it; nothing more may be sent for it."""


class Cancelled(Lost):
    """The same of a run that was cancelled: nobody has it instead."""


class Refused(Exception):
    """The service refuses what was sent and will go on refusing it."""


def read_token(file: Path) -> str:
    """The runner's token. Raises PermissionError when others may read the file."""
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise PermissionError(f"{file} may be read by others; run: chmod 600 {file}")
    return file.read_text().strip()


class Link:
    """Retries what may succeed later (no connection, 5xx, 429) until `give_up` says stop; everything else is answered at once."""

    def __init__(self, url: str, token: str, *, timeout: float = 40.0) -> None:
        self._client = httpx.Client(base_url=url.rstrip("/") + "/api/v1", timeout=httpx.Timeout(timeout, connect=10.0))
        self._token = token

    def close(self) -> None:
        self._client.close()

    def publish(self, offer: Offer, give_up: Callable[[], bool]) -> None:
        self._send("PUT", "/runners/me/offer", offer.model_dump(mode="json", by_alias=True), self._token, give_up)

    def lease(self, wait_seconds: float, give_up: Callable[[], bool]) -> Lease | None:
        answer = self._send("POST", "/runners/me/lease", {"wait_seconds": wait_seconds, "protocol": PROTOCOL}, self._token, give_up)
        return None if answer is None or answer.status_code == 204 else Lease.model_validate(answer.json())

    def beat(self, lease: Lease) -> Action | None:
        """None when the service could not be asked; the lease then runs on."""
        try:
            answer = self._post(lease, "heartbeat", {})
        except httpx.TransportError:
            return None
        if answer.status_code in (404, 409, 410):
            return "lost"
        if answer.is_error:
            return None
        action: Action = answer.json()["action"]
        return action

    def send_facts(self, lease: Lease, number: int, lines: list[str], give_up: Callable[[], bool]) -> None:
        """One batch. Sending it again is harmless: the service counts a number once. Raises Lost or Refused."""
        text = "[" + ",".join(lines) + "]"
        body = {"number": number, "digest": hashlib.sha256(text.encode()).hexdigest(), "facts": text}
        self._send("POST", f"/attempts/{lease.attempt_id}/facts", body, lease.token, give_up)

    def finish(self, lease: Lease, batches: int, fact: FinishFact, give_up: Callable[[], bool]) -> None:
        body = {"batches": batches, "finish": fact.model_dump(mode="json")}
        self._send("POST", f"/attempts/{lease.attempt_id}/finish", body, lease.token, give_up)

    def release(self, lease: Lease, reason: str) -> None:
        """Gives the run back at once; where that fails the lease simply ends."""
        try:
            self._post(lease, "release", {"reason": reason})
        except httpx.TransportError as error:
            log.warning("could not release run %s: %s", lease.run, error)

    # --- probes -------------------------------------------------------------------------------------------------------------------------

    def lease_probe(self) -> ProbeLease | None:
        """Without waiting; None also from a service that does not answer, or knows no probes."""
        try:
            answer = self._client.post("/runners/me/probes/lease", json={}, headers={"Authorization": f"Bearer {self._token}"})
        except httpx.TransportError:
            return None
        return ProbeLease.model_validate(answer.json()) if answer.status_code == 200 else None

    def beat_probe(self, lease: ProbeLease) -> bool | None:
        """Whether the lease holds; None when the service could not be asked, and it runs on. Raises Cancelled."""
        try:
            answer = self._client.post(f"{_place(lease)}/heartbeat", headers={"Authorization": f"Bearer {lease.token}"}, timeout=10.0)
        except httpx.TransportError:
            return None
        if not answer.is_success and _said(answer).get("action") == "cancel":
            raise Cancelled(_problem(answer))
        return None if answer.status_code >= 500 or answer.status_code == 429 else answer.is_success

    def finish_probe(self, lease: ProbeLease, end: ProbeEnd, give_up: Callable[[], bool]) -> None:
        """Saying it again is harmless. Raises Lost or Refused."""
        self._send("POST", f"{_place(lease)}/finish", {"end": end.model_dump(mode="json")}, lease.token, give_up)

    def release_probe(self, lease: ProbeLease, reason: str) -> None:
        """Gives the probe back at once; where that fails the lease simply ends."""
        try:
            self._client.post(f"{_place(lease)}/release", json={"reason": reason}, headers={"Authorization": f"Bearer {lease.token}"}, timeout=10.0)
        except httpx.TransportError as error:
            log.warning("could not release probe %s: %s", lease.probe, error)

    def _post(self, lease: Lease, verb: str, body: dict[str, Any]) -> httpx.Response:
        return self._client.post(f"/attempts/{lease.attempt_id}/{verb}", json=body, headers={"Authorization": f"Bearer {lease.token}"}, timeout=10.0)

    def _send(self, method: str, path: str, body: Any, token: str, give_up: Callable[[], bool]) -> httpx.Response | None:
        pause = 0.2
        while True:
            problem = ""
            try:
                answer = self._client.request(method, path, json=body, headers={"Authorization": f"Bearer {token}"})
                if answer.is_success:
                    return answer
                problem = _problem(answer)
                if answer.status_code in (409, 410) and "/attempts/" in path:
                    raise Cancelled(problem) if _said(answer).get("action") == "cancel" else Lost(problem)
                if answer.status_code < 500 and answer.status_code != 429:
                    raise Refused(problem)
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            if give_up():
                return None
            log.warning("%s %s: %s; trying again in %.1f s", method, path, problem, pause)
            time.sleep(pause)
            pause = min(pause * 2, 5.0)


def _place(lease: ProbeLease) -> str:
    return f"/probes/{lease.probe}/attempts/{lease.attempt}"


def _problem(answer: httpx.Response) -> str:
    body = _said(answer)
    return f"{answer.status_code} {body.get('title', '')}: {body.get('detail', '')}" if body else f"{answer.status_code} {answer.text[:200]}"


def _said(answer: httpx.Response) -> dict[str, Any]:
    """The object that is answered with; an empty one where it is something else."""
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
