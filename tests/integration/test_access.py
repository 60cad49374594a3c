"""Tokens, scopes, hosts, origins and sizes."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.access.service import Access
from app.settings import Settings
from app.storage.database import Database
from tests import factories
from tests.integration.conftest import Service, bearer, serving


@pytest.fixture
async def public(database: Database) -> AsyncIterator[Service]:
    """A service that other machines can reach."""
    async with serving(database, host="0.0.0.0", url="http://bench.example:8000") as running:
        yield running


async def test_at_this_machine_reading_needs_no_token(service: Service) -> None:
    """Catches a first page that asks for a token which nobody has yet."""
    assert (await service.get("/api/v1/runs")).status_code == 200
    assert (await service.client.post("/api/v1/runs", json=factories.spec_body())).status_code == 401


async def test_beyond_loopback_everything_needs_one(public: Service) -> None:
    """Catches a service that is bound to the network and open to it."""
    for path in ("/api/v1/runs", "/api/v1/catalogue", "/api/v1/figures?id=acceptance_rate"):
        answer = await public.get(path)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="bezmen"')
        assert (await public.client.get(path, headers=public.admin)).status_code == 200
    page = await public.get("/runs?state=queued", accept="text/html")
    assert (page.status_code, page.headers["location"]) == (303, "/login?next=%2Fruns%3Fstate%3Dqueued")
    assert (await public.get("/runs")).status_code == 401
    password = public.admin["Authorization"].removeprefix("Bearer ")
    basic = base64.b64encode(f"anybody:{password}".encode()).decode()
    assert (await public.get("/runs", authorization=f"Basic {basic}", accept="text/html")).status_code == 200


FORM = {"Sec-Fetch-Site": "same-origin"}
TOUCHED = ("/access", "/runs", "/metrics", "/api/v1/runs", "/api/v1/access")


async def test_behind_a_proxy_of_the_same_machine_everything_needs_one(database: Database) -> None:
    """Catches a public address served from loopback, where every visitor of the proxy would administer every project."""
    async with serving(database, url="https://bench.example") as proxied:
        for host in ("bench.example", "127.0.0.1:8000"):
            for path in TOUCHED:
                assert (await proxied.get(path, host=host)).status_code == 401, (host, path)
                assert (await proxied.client.get(path, headers=proxied.admin | {"host": host})).status_code == 200, (host, path)
            asked = {"name": "stranger", "scopes": "admin"}
            made = await proxied.client.post("/access/tokens", data=asked, headers=FORM | {"host": host, "origin": "https://bench.example"})
            assert made.status_code == 401
        assert await proxied.sql("SELECT 1 FROM tokens WHERE name = 'stranger'") == []
        assert "can be reached from other machines" in (await proxied.get("/login", accept="text/html")).text


@pytest.mark.parametrize(
    "header", [("Forwarded", "for=1.2.3.4"), ("X-Forwarded-For", "1.2.3.4"), ("X-Forwarded-Proto", "https"), ("X-Real-IP", "::1"), ("Via", "1.1 p")]
)
async def test_what_a_proxy_forwards_was_not_asked_here(service: Service, header: tuple[str, str]) -> None:
    """Catches a proxy before a service that was never told its public address."""
    for path in TOUCHED:
        assert (await service.get(path)).status_code == 200, path
        assert (await service.get(path, **dict([header]))).status_code == 401, path
    assert (await service.client.post("/access/tokens", data={"name": "x", "scopes": "admin"}, headers=FORM | dict([header]))).status_code == 401


async def test_another_name_of_the_service_is_not_this_machine(database: Database) -> None:
    """Catches a name that a proxy passes on being trusted as the machine itself."""
    async with serving(database, names="bench") as named:
        assert (await named.get("/runs", host="bench")).status_code == 401
        assert (await named.get("/runs", host="localhost:8000")).status_code == 200


async def test_a_token_that_is_sent_counts_at_this_machine_too(service: Service) -> None:
    """Catches pages and metrics that show every project, or anything at all, to a token that may not see it."""
    await service.offer()
    run = await service.run()
    theirs = await service.token("read", project="theirs")
    for path in (f"/runs/{run}", f"/api/v1/runs/{run}"):
        assert (await service.get(path)).status_code == 200
        assert (await service.client.get(path, headers=theirs)).status_code == 404
    assert (await service.client.get("/access", headers=theirs)).status_code == 403
    for path in TOUCHED:
        for junk in ("Bearer bzt_guess", "Bearer", "Basic eDp5", "Basic %", "Negotiate x", ""):
            assert (await service.get(path, authorization=junk)).status_code == 401, (path, junk)
    own, other = [(await service.client.get("/metrics", headers=headers)).text for headers in (service.admin, theirs)]
    assert 'bezmen_runs{state="queued"} 1.0' in own
    assert 'bezmen_runs{state="queued"} 1.0' not in other


@pytest.mark.parametrize(
    ("scopes", "read", "submit", "lease"),
    [(("read",), 200, 403, 403), (("submit",), 200, 201, 403), (("runner",), 403, 403, 409), (("admin",), 200, 403, 403)],
)
async def test_a_scope_opens_what_it_names(public: Service, scopes: tuple[str, ...], read: int, submit: int, lease: int) -> None:
    """Catches a runner's token that submits, and a reader's that leases."""
    await public.offer()
    token = await public.token(*scopes)
    assert (await public.client.get("/api/v1/runs", headers=token)).status_code == read
    assert (await public.submit(headers=token)).status_code == submit
    assert (await public.ask_lease(headers=token)).status_code == lease


async def test_a_refusal_names_the_scope(service: Service) -> None:
    """Catches "403 Forbidden" and nothing else, and words that make no sentence."""
    answer = await service.submit(headers=await service.token("read"))
    assert answer.json()["detail"] == "This token is for reading runs; submitting runs takes a token with the scope submit."
    answer = await service.submit(headers=service.runner)
    assert answer.json()["detail"] == "This token is for runners; submitting runs takes a token with the scope submit."
    answer = await service.ask_lease(headers=service.admin)
    said = "This token is for reading runs and submitting runs and administering the service"
    assert answer.json()["detail"] == f"{said}; leasing and measuring runs takes a token with the scope runner."


async def test_revoked_and_unknown_tokens(service: Service) -> None:
    """Catches a revocation that waits for a restart, and a wrong token that passes as a local reader."""
    token = await service.token("submit")
    assert await service.app.state.access.revoke("submit") == 1
    assert (await service.submit(headers=token)).status_code == 401
    assert (await service.client.get("/api/v1/runs", headers=bearer("bzt_guess"))).status_code == 401


async def test_only_hashes_are_kept(service: Service) -> None:
    """Catches a dump of the database that opens the service."""
    token = (await service.token("submit"))["Authorization"].removeprefix("Bearer ")
    assert token.startswith("bzt_")
    assert len(token) >= 4 + 43
    rows = await service.sql("SELECT t::text FROM tokens t")
    assert not any(token in row[0] or token.removeprefix("bzt_") in row[0] for row in rows)


async def test_own_tokens_are_files_of_their_owner(database: Database, tmp_path: Path) -> None:
    """Catches a token that other users of the machine can read, one that changes at every start, and one that a new database does not know."""
    access, settings = Access(database), Settings(data=tmp_path)
    await access.ensure_own(settings)
    first = settings.admin_token_file.read_text().strip()
    assert settings.admin_token_file.stat().st_mode & 0o777 == settings.runner_token_file.stat().st_mode & 0o777 == 0o600
    await access.ensure_own(settings)
    assert settings.admin_token_file.read_text().strip() == first
    settings.admin_token_file.write_text("bzt_of_another_database")
    await access.ensure_own(settings)
    found = await access.principal(settings.admin_token_file.read_text().strip())
    assert found is not None
    assert found.scopes == {"read", "submit", "admin"}
    assert await access.principal(first) is None


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[::2]"])
async def test_foreign_hosts_are_turned_away(service: Service, host: str) -> None:
    """Catches DNS rebinding: a page of another site that points its own name at this machine."""
    answer = await service.get("/api/v1/runs", host=host)
    assert (answer.status_code, answer.headers["content-type"]) == (421, "application/problem+json")


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:8000", "LOCALHOST:1"])
async def test_own_names_are_known(service: Service, host: str) -> None:
    """Catches a host check that locks out the machine itself."""
    assert (await service.get("/api/v1/healthz", host=host)).status_code == 200


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"origin": "http://127.0.0.1:8000"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({}, False),
    ],
)
async def test_pages_act_only_for_their_own_forms(service: Service, headers: dict[str, str], allowed: bool) -> None:
    """Catches another site that cancels runs through the browser of whoever sits at this machine."""
    await service.offer()
    run = await service.run()
    answer = await service.client.post(f"/runs/{run}/cancel", headers=headers)
    assert (answer.status_code in {303, 200}) is allowed
    assert ((await service.state(run))["state"] == "cancelled") is allowed


async def test_oversized_bodies(service: Service) -> None:
    """Catches a body that fills the memory, announced or in chunks."""

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 65536

    headers = service.admin | {"Content-Type": "application/json"}
    announced = await service.client.post("/api/v1/runs", content=b" " * 1_000_000, headers=headers)
    streamed = await service.client.post("/api/v1/runs", content=chunks(), headers=headers)
    assert [(answer.status_code, answer.json()["type"]) for answer in (announced, streamed)] == [(413, "urn:bezmen:problem:too-large")] * 2
