"""Passwords and sessions, where other machines can reach the service."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.access.principal import COOKIE
from app.storage.database import Database
from tests.integration.conftest import Service, serving

PASSWORD = "correct horse battery"
FORM = {"Sec-Fetch-Site": "same-origin"}
PAGE = {"Accept": "text/html"}


@pytest.fixture
async def public(database: Database) -> AsyncIterator[Service]:
    async with serving(database, host="0.0.0.0", url="https://bench.example") as running:
        await running.app.state.users.add("ada", PASSWORD, ("read", "submit", "admin"), None)
        yield running


async def login(service: Service, name: str = "ada", password: str = PASSWORD, **over: Any) -> httpx.Response:
    body = {"name": name, "password": password} | over.pop("body", {})
    return await service.client.post("/login", data=body, headers=FORM | over)


def cookie(answer: httpx.Response) -> dict[str, str]:
    """The session, carried by hand: the test speaks http and the cookie is for https alone."""
    return {"Cookie": f"{COOKIE}={answer.cookies[COOKIE] if COOKIE in answer.cookies else answer.headers['set-cookie'].split('=')[1].split(';')[0]}"}


async def test_a_password_opens_the_pages(public: Service) -> None:
    """Catches a login that does not lead back, a cookie that scripts or other sites can use, and one that goes over plain http."""
    answer = await login(public, body={"next": "/runs?state=queued"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?state=queued")
    flags = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "secure", "path=/", "max-age=43200"} <= flags
    assert (await public.client.get("/runs", headers=cookie(answer) | PAGE)).status_code == 200
    page = await public.client.get("/access", headers=cookie(answer) | PAGE)
    assert page.status_code == 200
    assert "ada" in page.text


async def test_a_session_looks_at_the_api_and_does_nothing_there(public: Service) -> None:
    """Catches JSON links of the pages that end at "send a token", and a form of another site that acts through a session."""
    session = cookie(await login(public))
    assert (await public.client.get("/api/v1/runs", headers=session)).status_code == 200
    assert (await public.client.post("/api/v1/access/tokens", json={"name": "x"}, headers=session | FORM)).status_code == 401
    assert (await public.client.post("/access/projects", data={"name": "x"}, headers=session | {"Origin": "https://evil.example"})).status_code == 403


@pytest.mark.parametrize("next", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
async def test_nobody_is_led_away(public: Service, next: str) -> None:
    """Catches a link to our login that ends at another site's copy of it."""
    assert (await login(public, body={"next": next})).headers["location"] == "/"
    assert '<input type="hidden" name="next" value="/">' in (await public.client.get("/login", params={"next": next}, headers=PAGE)).text


async def test_what_was_wrong_is_not_told(public: Service) -> None:
    """Catches an answer by which names can be guessed, and a wrong password that gets a session."""
    wrong, unknown = await login(public, password="wrong password"), await login(public, name="bob", password="wrong password")
    assert wrong.status_code == unknown.status_code == 422
    assert wrong.text.replace("ada", "bob") == unknown.text
    assert "No user has this name and this password." in wrong.text
    assert "set-cookie" not in wrong.headers
    assert "wrong password" not in wrong.text.replace("this password", "")


async def test_a_form_of_another_site_logs_nobody_in(public: Service) -> None:
    """Catches a login across sites, which would put somebody into another's account unseen."""
    answer = await public.client.post("/login", data={"name": "ada", "password": PASSWORD}, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403


async def test_guessing_ends_soon(public: Service) -> None:
    """Catches a password that can be guessed at leisure, and a limit that the right password gets around."""
    for _ in range(5):
        assert (await login(public, password="wrong password")).status_code == 422
    answer = await login(public)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "900")
    assert "wait 15 minutes" in answer.text
    await public.app.state.users.add("bob", PASSWORD, ("read",))
    assert (await login(public, name="bob")).status_code == 303


async def test_a_session_ends(public: Service) -> None:
    """Catches a logout that forgets the cookie and not the session, a session without end, and a new password that leaves the old sessions alive."""
    first, second, third = [cookie(await login(public)) for _ in range(3)]
    assert (await public.client.post("/logout", headers=first | FORM)).headers["location"] == "/login"

    async def alive(session: dict[str, str]) -> bool:
        return (await public.client.get("/runs", headers=session)).status_code == 200

    assert (await alive(first), await alive(second)) == (False, True)
    hash = "(SELECT hash FROM sessions ORDER BY created_at LIMIT 1)"
    await public.sql(f"UPDATE sessions SET expires_at = now() - interval '1 second' WHERE hash = {hash}")
    assert (await alive(second), await alive(third)) == (False, True)
    await public.app.state.users.sweep()
    assert len(await public.sql("SELECT 1 FROM sessions")) == 1
    await public.app.state.users.set_password("ada", PASSWORD + "!")
    assert not await alive(third)
    assert (await login(public)).status_code == 422
    last = cookie(await login(public, password=PASSWORD + "!"))
    await public.app.state.users.remove("ada")
    assert not await alive(last)


async def test_only_digests_are_kept(public: Service) -> None:
    """Catches a dump of the database that holds a password or a session, and a log that does."""
    session = cookie(await login(public))["Cookie"].partition("=")[2]
    await login(public, password="wrong password")
    for table in ("users", "sessions", "events"):
        rows = " ".join(row[0] for row in await public.sql(f"SELECT t::text FROM {table} t"))
        assert PASSWORD not in rows
        assert PASSWORD.encode().hex() not in rows
        assert session not in rows
        assert "wrong password" not in rows


async def test_a_user_sees_one_project(public: Service) -> None:
    """Catches a login that opens every project, and a user who administers others' tokens."""
    await public.app.state.access.add_project("theirs")
    await public.app.state.users.add("eve", PASSWORD, ("read", "admin"), "theirs")
    await public.offer()
    run = await public.run()
    eve, ada = cookie(await login(public, name="eve")), cookie(await login(public))
    assert (await public.client.get(f"/runs/{run}", headers=eve)).status_code == 404
    assert (await public.client.get(f"/runs/{run}", headers=ada)).status_code == 200
    seen = (await public.client.get("/api/v1/access", headers=eve)).json()
    assert (seen["projects"], seen["tokens"], [user["name"] for user in seen["users"]]) == (["theirs"], [], ["eve"])
    token = (await public.client.get("/api/v1/access", headers=ada)).json()["tokens"][0]["id"]
    assert (await public.client.post(f"/access/tokens/{token}/revoke", headers=eve | FORM)).status_code == 404
    for body in ({"name": "x", "project": "default"}, {"name": "x", "project": "*"}):
        assert (await public.client.post("/access/tokens", data=body | {"scopes": "read"}, headers=eve | FORM)).status_code in {403, 404}
    assert (await public.client.post("/access/projects", data={"name": "mine"}, headers=eve | FORM)).status_code == 403


@pytest.mark.parametrize("password", ["short", "", "x" * 1025])
async def test_passwords_have_a_length(public: Service, password: str) -> None:
    """Catches an empty password, and one that takes minutes to hash."""
    answer = None
    try:
        await public.app.state.users.add("bob", password, ("read",))
    except Exception as error:
        answer = str(error)
    assert answer == "A password has 10 to 1024 characters."
