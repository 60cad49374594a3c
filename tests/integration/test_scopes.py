"""Every route against every kind of token, and two projects against each other. The application is asked for its routes: a new one is here too."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import Mount

from app.access.principal import Needs, anyone, own_form
from app.access.service import enrolled
from app.attempts.routes import mine
from app.main import create_app
from app.probes.routes import mine as probes_mine
from app.settings import Settings
from app.storage.database import Database
from tests import factories
from tests.integration.conftest import Service, serving
from tests.integration.test_imports import BENCH, take

# Served by the framework: the description of the API, and files that are the same for everybody.
PUBLIC = {"/api/v1/openapi.json", "/static"}
# Declarations that are no scope: anybody, or a token that is not a principal's.
OWN_TOKEN = {mine, probes_mine, enrolled}
CALLERS = ("nobody", "read", "submit", "admin", "runner")
LETS_IN = {"read": {"read", "submit", "admin"}, "submit": {"submit"}, "admin": {"admin"}, "runner": {"runner"}}
FORM = {"Sec-Fetch-Site": "same-origin"}
# A number that nothing else in an answer has.
FIRST = 770001
TITLE = "Quarterly sentinel"
LABEL = "sentinel-machine"


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    declared: frozenset[Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def calls(dependant: Dependant) -> Iterator[Any]:
    for inner in dependant.dependencies:
        yield inner.call
        yield from calls(inner)


def routes(app: FastAPI) -> list[Route]:
    found = []
    for context in iter_route_contexts(app.routes):
        if isinstance(context.original_route, APIRoute):
            known = [call for call in calls(context.dependant) if isinstance(call, Needs) or call in {anyone, own_form, *OWN_TOKEN}]
            found += [Route(method, str(context.path), frozenset(known)) for method in sorted(context.methods or ())]
        else:
            assert isinstance(context.original_route, Mount) or context.path in PUBLIC, f"{context.path} is served outside the table of scopes"
    return found


ROUTES = routes(create_app(Settings()))


def test_the_table_is_not_empty() -> None:
    """Catches a walk that finds nothing and lets everything pass."""
    paths = {route.path for route in ROUTES}
    assert len(ROUTES) > 30
    assert {"/runs/{run_id}", "/api/v1/runs", "/api/v1/attempts/{attempt}/facts", "/assets/plotly-{version}.min.js"} <= paths


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_every_route_declares_who_may_call_it(route: Route) -> None:
    """Catches a new route that nobody thought about."""
    assert route.declared, f"{route} takes Reader, Submitter, Admin, Runner, or the dependency anyone"
    assert len(route.declared & {anyone, own_form, *OWN_TOKEN}) <= 1


@pytest.fixture
async def public(database: Database) -> AsyncIterator[Service]:
    async with serving(database, host="0.0.0.0", url="http://bench.example:8000") as running:
        yield running


def filled(path: str, **values: object) -> str:
    """With a number that nothing has for every parameter that is not given."""
    for part in path.split("{")[1:]:
        name = part.partition("}")[0]
        path = path.replace(f"{{{name}}}", str(values.get(name, 900_000_001)))
    return path


def expected(route: Route, caller: str) -> set[int] | None:
    """The statuses of a refusal, or None where this caller is let in."""
    scopes = [call.scope for call in route.declared if isinstance(call, Needs)]
    if not scopes:
        return {401} if route.declared & OWN_TOKEN else None
    if caller == "nobody":
        return {401}
    return None if all(caller in LETS_IN[scope] for scope in scopes) else {403}


async def test_each_route_lets_in_whom_it_names(public: Service) -> None:
    """Catches a route whose declaration and behaviour part, for anybody without a token and for each scope alone."""
    tokens = {caller: {} if caller == "nobody" else await public.token(caller) for caller in CALLERS}
    wrong = []
    for route in ROUTES:
        for caller in CALLERS:
            answer = await public.client.request(route.method, filled(route.path), headers=tokens[caller] | FORM)
            refusals = expected(route, caller)
            right = answer.status_code in refusals if refusals else answer.status_code not in {401, 403}
            if not right:
                wrong.append(f"{route} as {caller}: {answer.status_code}, not {refusals or 'let in'}")
    assert not wrong, "\n".join(wrong)


# --- two projects -----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """What lies in a project, and everybody's tokens of it."""

    run: int
    other: int
    campaign: int
    brought: int
    attempt: int
    headers: dict[str, str]

    def address(self, path: str) -> str:
        values = {"run": self.run, "run_id": self.run, "campaign": self.campaign, "campaign_id": self.campaign, "number": self.brought}
        asked = QUERIES.get(path, "").format(run=self.run, other=self.other)
        return filled(path, figure="acceptance_rate", **values) + asked


# Routes that name runs, or that answer only to a question.
QUERIES = {
    "/compare": "?runs={run},{other}",
    "/api/v1/comparisons": "?runs={run},{other}",
    "/api/v1/comparisons.csv": "?runs={run},{other}",
    "/api/v1/figures": "?id=acceptance_rate",
}
NAMES_A_RUN = ("{run}", "{run_id}", "{campaign}", "{campaign_id}", "{number}")


async def furnished(service: Service, project: str) -> Data:
    """Two finished runs, an import, and a campaign of two that wait, one of them leased."""
    runner = await service.token("runner", project=project)
    headers = await service.token("read", "submit", "admin", project=project)
    await service.offer(runner, labels={"machine": LABEL})
    found = []
    for language in ("ru", "en"):
        run = (await service.submit(headers=headers, language=language)).json()["id"]
        attempt = await service.lease(runner)
        assert (await attempt.finish(await attempt.measure(language=language))).status_code == 200
        found.append(run)
    bodies = [factories.spec_body(trials=trials, labels={"machine": LABEL}) for trials in (5, 6)]
    campaign = (await service.client.post("/api/v1/campaigns", json={"title": TITLE, "runs": bodies}, headers=headers)).json()["id"]
    made = await take(service, BENCH | {"model_id": LABEL}, "?language=ru", headers)
    held = await service.lease(runner)
    return Data(found[0], found[1], campaign, made.json()["id"], held.id, headers)


async def asked(service: Service, address: str, headers: dict[str, str]) -> tuple[int, str]:
    """Status and text; a stream that is still open after a while counts as let in."""
    request = service.client.get(address, headers=headers | {"Accept": "application/json, text/html"})
    try:
        answer = await asyncio.wait_for(request, 5 if address.endswith("/stream") else 60)
    except TimeoutError:
        return 200, ""
    return answer.status_code, answer.text


async def test_nothing_leaks_from_one_project_into_another(public: Service) -> None:
    """Catches a query without its view: every address of one project's things, and every list, asked by the other."""
    for table in ("runs", "campaigns", "attempts", "imports"):
        await public.sql(f"ALTER TABLE {table} ALTER COLUMN id RESTART WITH {FIRST}")
    mine = await furnished(public, "mine")
    others = await public.token("read", "submit", "admin", project="theirs")
    wrong = []
    for route in [route for route in ROUTES if route.method == "GET" and not route.declared & {anyone, *OWN_TOKEN}]:
        address = mine.address(route.path)
        own, _ = await asked(public, address, mine.headers)
        status, text = await asked(public, address, others)
        text = text.replace(address, "").replace(f"run {mine.run}", "").replace(f"campaign {mine.campaign}", "").replace(f"import {mine.brought}", "")
        named = any(name in route.path for name in NAMES_A_RUN) or "{run}" in QUERIES.get(route.path, "")
        if named and (status != 404 or own == 404):
            wrong.append(f"{address}: {status} to others, {own} to its own")
        # Whole numbers: the digits of a time may happen to hold any of them.
        if TITLE in text or LABEL in text or {str(FIRST + n) for n in range(20)} & set(re.findall(r"(?<![\d.])\d+(?!\d|\.\d)", text)):
            wrong.append(f"{address} tells others of it: {text[:300]}")
    assert not wrong, "\n".join(wrong)


async def test_nobody_acts_on_what_is_not_theirs(public: Service) -> None:
    """Catches a cancel across projects, and a runner that measures for people whose prompts it must not see."""
    mine = await furnished(public, "mine")
    others = await public.token("read", "submit", "admin", project="theirs")
    waiting = (await public.client.get("/api/v1/runs?state=queued", headers=mine.headers)).json()["items"][0]["id"]
    for path in (f"/api/v1/runs/{waiting}/cancel", f"/runs/{waiting}/cancel"):
        assert (await public.client.post(path, headers=others | FORM)).status_code == 404
    runner = await public.token("runner", project="theirs")
    await public.offer(runner, labels={"machine": LABEL})
    assert (await public.ask_lease(headers=runner)).status_code == 204
    shared = await public.app.state.access.create("shared", ("runner",), None)
    headers = {"Authorization": f"Bearer {shared}"}
    await public.offer(headers, labels={"machine": LABEL})
    assert (await public.ask_lease(headers=headers)).json()["run"] == waiting


async def test_an_idempotency_key_is_its_tokens_own(public: Service) -> None:
    """Catches a key that gives somebody the run of another project."""
    await public.offer()
    one, other = await public.token("submit", project="mine"), await public.token("submit", project="theirs")
    await public.offer(await public.token("runner", project="mine"))
    await public.offer(await public.token("runner", project="theirs"))
    answers = [await public.submit(key="same", headers=headers) for headers in (one, other)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["id"] != answers[1].json()["id"]
