"""Random lives of runs over the HTTP API and the real Postgres. Whatever submitters, runners and the sweeper do, in whatever order and two at once:
a run has at most one result and one live attempt, its attempts count upwards, its end is its end, and a campaign counts a measurement once.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from app.domain.status import FINAL, MAX_ATTEMPTS
from app.storage.database import Database
from app.storage.embedded import EmbeddedPostgres
from app.storage.migrate import migrate
from tests import factories
from tests.integration.conftest import Attempt, batch, bearer, serving

Answer = TypeVar("Answer")
MEASURED = factories.facts(prompts=1, passes=2)
REQUESTS = sum(fact.kind == "request" for fact in MEASURED)
DRAFTERS: tuple[dict[str, Any], ...] = ({"name": "ngram"}, {"name": "layerskip", "params": {"skip": 10}})
LIVE = ("leased", "running")
ENDS = {str(state) for state in FINAL}
MOST_RUNS = 7
EVENTS = {"leased", "lost", "released", *ENDS}
PROJECTS = count(1)
PICK = st.integers(0, 11)


class House:
    """The service in a thread with a loop of its own, for tests that are no coroutines."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self._database = Database(postgres.create_database("machine"))
        self._loop = asyncio.new_event_loop()
        self._up, self._down = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve()))
        self._thread.start()
        assert self._up.wait(60)

    async def _serve(self) -> None:
        await migrate(self._database)
        async with serving(self._database) as self.service:
            self._up.set()
            await self._down.wait()
        await self._database.close()

    def do(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._down.set)
        self._thread.join(60)
        self._loop.close()


@pytest.fixture
def house(postgres: EmbeddedPostgres) -> Iterator[House]:
    made = House(postgres)
    try:
        yield made
    finally:
        made.close()
        postgres.drop_database("machine")


@dataclass
class Seen:
    """What the tables say of one run; `attempts` are states in the order of their numbers."""

    state: str
    attempt: int
    job: str
    finished: object
    attempts: list[str] = field(default_factory=list)


class Lives(RuleBasedStateMachine):
    """What an answer must be follows from what the tables said before; what two at once leave behind is read, not foretold."""

    def __init__(self, house: House) -> None:
        super().__init__()
        self.house, self.service = house, house.service
        self.seen: dict[int, Seen] = {}
        self.held: list[Attempt] = []
        self.batches: dict[int, int] = {}
        self.words: dict[int, dict[str, Any]] = {}
        self.runner_of: dict[int, int] = {}
        self.campaigns: list[int] = []

    @initialize()
    def open(self) -> None:
        """A project of this life's own, so that no run of another one is in the way."""
        self.project = f"life-{next(PROJECTS)}"
        self.house.do(self._open())

    async def _open(self) -> None:
        self.user = await self.service.token("read", "submit", project=self.project)
        self.runners = []
        for name in ("first", "second"):
            self.runners.append(bearer(await self.service.app.state.access.create(f"{self.project}-{name}", ("runner",), self.project)))
            assert (await self.service.offer(self.runners[-1])).is_success

    # --- what may happen ------------------------------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.seen) < MOST_RUNS)
    @rule()
    def submit(self) -> None:
        assert self.house.do(self.service.submit(headers=self.user, trials=1)).status_code == 201

    @precondition(lambda self: len(self.seen) < MOST_RUNS and len(self.campaigns) < 2)
    @rule()
    def submit_campaign(self) -> None:
        body = {"title": "two", "runs": [factories.spec_body(drafter=drafter, trials=1) for drafter in DRAFTERS]}
        answer = self.post("/api/v1/campaigns", body)
        assert answer.status_code == 201, answer.text
        self.campaigns.append(answer.json()["id"])

    @precondition(lambda self: self.seen)
    @rule(runner=st.integers(0, 1))
    def lease(self, runner: int) -> None:
        waiting = any(run.state == "queued" for run in self.seen.values())
        busy = any(self.live(attempt) for attempt in self.held if self.runner_of[attempt.id] == runner)
        answer = self.house.do(self._lease(runner))
        assert answer.status_code == (429 if busy else 200 if waiting else 204), answer.text

    @precondition(lambda self: self.held)
    @rule(pick=PICK)
    def beat(self, pick: int) -> None:
        attempt = self.attempt(pick)
        answer = self.house.do(attempt.beat())
        if self.live(attempt):
            assert answer.json()["action"] == "continue"
        else:
            assert answer.json()["action"] == ("cancel" if self.state(attempt) == "cancelled" else "lost")

    @precondition(lambda self: self.held)
    @rule(pick=PICK)
    def send_everything(self, pick: int) -> None:
        """Once counted, then only repeated."""
        attempt = self.attempt(pick)
        live, first = self.live(attempt), not self.batches[attempt.id]
        answer = self.house.do(self._send(attempt))
        assert answer.status_code == (200 if live else 409), answer.text
        if live:
            assert answer.json()["counted"] is first

    @precondition(lambda self: self.held)
    @rule(pick=PICK, outcome=st.sampled_from(["succeeded", "succeeded", "failed"]))
    def finish(self, pick: int, outcome: str) -> None:
        attempt = self.attempt(pick)
        live, said = self.live(attempt), self.words.get(attempt.id)
        answer = self.house.do(self._finish(attempt, outcome))
        if said is not None:
            assert (answer.status_code == 200) is (said["finish"]["outcome"] == outcome), answer.text
        else:
            complete = outcome == "failed" or self.batches[attempt.id] == 1
            assert (answer.status_code == 200) is (live and complete), answer.text

    @precondition(lambda self: self.held)
    @rule(pick=PICK)
    def release(self, pick: int) -> None:
        attempt = self.attempt(pick)
        live = self.live(attempt)
        assert self.house.do(attempt.post("release", {"reason": "told to stop"})).status_code == (200 if live else 409)

    @precondition(lambda self: self.held)
    @rule(pick=PICK, late=st.sampled_from(["sweep", "beat", "facts", "finish", "release"]))
    def expire(self, pick: int, late: str) -> None:
        """The lease of a live attempt runs out; the first to notice is the sweeper, or the runner itself, which is told so."""
        attempt = self.attempt(pick)
        live = self.live(attempt)
        self.house.do(self._expire(attempt))
        if late == "sweep":
            self.house.do(self.service.sweep())
        elif live:
            assert self.house.do(self._act(attempt, late)).json()["action"] == "lost"

    @precondition(lambda self: self.seen)
    @rule(pick=PICK)
    def cancel(self, pick: int) -> None:
        run = sorted(self.seen)[pick % len(self.seen)]
        refused = self.seen[run].state in ENDS - {"cancelled"}
        assert self.post(f"/api/v1/runs/{run}/cancel").status_code == (409 if refused else 200)

    @precondition(lambda self: self.campaigns)
    @rule(pick=PICK, verb=st.sampled_from(["cancel", "resume", "resume"]))
    def campaign(self, pick: int, verb: str) -> None:
        assert self.post(f"/api/v1/campaigns/{self.campaigns[pick % len(self.campaigns)]}/{verb}").status_code in (200, 409)

    @precondition(lambda self: self.held)
    @rule(pick=PICK, verbs=st.lists(st.sampled_from(["beat", "facts", "finish", "release", "cancel", "expire", "lease"]), min_size=2, max_size=3))
    def at_once(self, pick: int, verbs: list[str]) -> None:
        attempt = self.attempt(pick)

        async def together() -> list[Any]:
            return await asyncio.gather(*(self._act(attempt, verb) for verb in verbs))

        assert all(answer is None or answer.status_code < 500 for answer in self.house.do(together()))

    # --- how it is done -------------------------------------------------------------------------------------------------------------------

    def post(self, path: str, body: Any = None) -> Any:
        return self.house.do(self.service.client.post(path, json=body, headers=self.user))

    def attempt(self, pick: int) -> Attempt:
        """The newest more often than the old ones."""
        return self.held[-1 - min(pick, pick % len(self.held))]

    def state(self, attempt: Attempt) -> str:
        return self.seen[attempt.run].attempts[attempt.number - 1]

    def live(self, attempt: Attempt) -> bool:
        return self.state(attempt) in LIVE

    async def _act(self, attempt: Attempt, verb: str) -> Any:
        match verb:
            case "beat":
                return await attempt.beat()
            case "facts":
                return await self._send(attempt)
            case "finish":
                return await self._finish(attempt, "succeeded")
            case "release":
                return await attempt.post("release", {"reason": "told to stop"})
            case "cancel":
                return await self.service.client.post(f"/api/v1/runs/{attempt.run}/cancel", headers=self.user)
            case "lease":
                return await self._lease(self.runner_of[attempt.id])
        await self._expire(attempt)
        await self.service.sweep()

    async def _lease(self, runner: int) -> Any:
        answer = await self.service.ask_lease(headers=self.runners[runner])
        if answer.status_code == 200:
            first = answer.json()
            for lease in (first, *first["siblings"]):
                made = Attempt(self.service.client, lease["run"], lease["attempt"], lease["attempt_id"], bearer(lease["token"]))
                self.held.append(made)
                self.batches[made.id], self.runner_of[made.id] = 0, runner
        return answer

    async def _send(self, attempt: Attempt) -> Any:
        answer = await attempt.post("facts", batch(0, MEASURED))
        if answer.status_code == 200:
            self.batches[attempt.id] = 1
        return answer

    async def _finish(self, attempt: Attempt, outcome: str) -> Any:
        said = {"batches": self.batches[attempt.id], "finish": factories.finish_fact(outcome=outcome).model_dump(mode="json")}
        answer = await attempt.post("finish", self.words.get(attempt.id, said) | {"finish": said["finish"]})
        if answer.status_code == 200:
            self.words[attempt.id] = said
        return answer

    async def _expire(self, attempt: Attempt) -> None:
        past = "UPDATE attempts SET lease_expires_at = clock_timestamp() - interval '1 second' WHERE id = :id AND state IN ('leased', 'running')"
        await self.service.sql(past, id=attempt.id)

    # --- what must hold -------------------------------------------------------------------------------------------------------------------

    async def _look(self) -> dict[int, Seen]:
        found = await self.service.sql(
            "SELECT r.id, r.state, r.attempt, j.status::text, r.finished_at FROM runs r JOIN procrastinate_jobs j ON j.id = r.job_id"
            " WHERE r.project = :project ORDER BY r.id",
            project=self.project,
        )
        seen = {run: Seen(*rest) for run, *rest in found}
        numbers = await self.service.sql("SELECT run_id, number, state FROM attempts WHERE run_id = ANY(:runs) ORDER BY number", runs=list(seen))
        for run, number, state in numbers:
            seen[run].attempts.append(state)
            assert number == len(seen[run].attempts), "a number of an attempt was left out or given twice"
        return seen

    @invariant()
    def run_and_attempts_and_job_agree(self) -> None:
        before, self.seen = self.seen, self.house.do(self._look())
        assert before.keys() <= self.seen.keys()
        for run, now in self.seen.items():
            then = before.get(run)
            assert then is None or then.attempt <= now.attempt <= MAX_ATTEMPTS, "an attempt went backwards"
            assert then is None or then.state not in ENDS or then == now, "an end was not the end"
            assert now.attempts.count("succeeded") == (now.state == "succeeded"), "a success without its result, or two"
            assert "succeeded" not in now.attempts[:-1], "an attempt after a result"
            live = [number for number, state in enumerate(now.attempts, 1) if state in LIVE]
            assert live == ([now.attempt] if now.state in LIVE else []), "not the one live attempt that there should be"
            assert now.job == {"queued": "todo", "leased": "doing", "running": "doing"}.get(now.state, now.job), "the job tells another story"
            assert now.state not in ENDS or now.job not in ("todo", "doing"), "a job is left over"

    @invariant()
    def a_campaign_counts_a_measurement_once(self) -> None:
        for campaign in self.campaigns:
            found = self.house.do(self.service.get(f"/api/v1/campaigns/{campaign}", **self.user)).json()
            drafters = [run["spec"]["drafter"]["name"] for run in found["runs"]]
            assert sorted(drafters) == ["layerskip", "ngram"]
            assert found["progress"]["total"] == len(DRAFTERS)

    def teardown(self) -> None:
        if self.seen:
            self.house.do(self._close())

    async def _close(self) -> None:
        """What readers see in the end: one attempt's facts under a result, and a journal with one end."""
        for run, seen in self.seen.items():
            kinds = [event["kind"] for event in (await self.service.get(f"/api/v1/runs/{run}/events", **self.user)).json()]
            told = [kind for kind in kinds if kind in EVENTS]
            assert not ENDS & set(told[:-1]), f"run {run}: something happened after its end: {kinds}"
            if seen.state == "succeeded":
                lines = (await self.service.get(f"/api/v1/runs/{run}/facts", **self.user)).text
                assert lines.count('"kind":"request"') == REQUESTS
        for campaign in self.campaigns:
            for found in (await self.service.get(f"/api/v1/campaigns/{campaign}", **self.user)).json()["runs"]:
                if found["state"] == "succeeded":
                    report = (await self.service.get(f"/api/v1/runs/{found['id']}/report", **self.user)).json()
                    assert report["verdict"]["family"] == len(DRAFTERS)


def test_whatever_happens_the_books_agree(house: House) -> None:
    """Catches two results of a run, an attempt that goes backwards, an end that is left, two live attempts, and a campaign that counts twice."""
    bounded = settings(
        max_examples=20, stateful_step_count=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(lambda: Lives(house), settings=bounded)
