"""The access page and its API: tokens, projects, invitations, and who did what."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.storage.database import Database
from tests.integration.conftest import Service, bearer

FORM = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}


async def test_a_token_is_made_shown_once_and_revoked(service: Service) -> None:
    """Catches a token that a second look shows again, one that a cache keeps, and a revocation that does not take."""
    answer = await service.client.post("/access/tokens", data={"name": "ci", "scopes": ["read", "submit"]}, headers=FORM)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    token = re.search(r"bzt_[\w-]{43}", answer.text)
    assert token is not None
    headers = bearer(token.group())
    assert (await service.client.get("/api/v1/runs", headers=headers)).status_code == 200
    assert token.group() not in (await service.get("/access")).text
    listed = (await service.get("/api/v1/access")).json()
    assert token.group() not in str(listed)
    made = next(item for item in listed["tokens"] if item["name"] == "ci")
    assert (made["scopes"], made["project"]) == (["read", "submit"], "default")
    assert (await service.client.post(f"/access/tokens/{made['id']}/revoke", headers=FORM)).status_code == 303
    assert (await service.client.get("/api/v1/runs", headers=headers)).status_code == 401


async def test_the_api_says_the_same(service: Service) -> None:
    """Catches a page that can do what no program can."""
    answer = await service.client.post("/api/v1/access/tokens", json={"name": "ci", "scopes": ["submit"]}, headers=service.admin)
    assert (answer.status_code, answer.json()["project"]) == (201, "default")
    assert (await service.client.get("/api/v1/runs", headers=bearer(answer.json()["token"]))).status_code == 200
    id = next(item["id"] for item in (await service.get("/api/v1/access")).json()["tokens"] if item["name"] == "ci")
    for _ in range(2):
        revoked = await service.client.post(f"/api/v1/access/tokens/{id}/revoke", headers=service.admin)
        assert (revoked.status_code, revoked.json()["revoked_at"] is None) == (200, False)
    assert (await service.client.post("/api/v1/access/tokens/999/revoke", headers=service.admin)).status_code == 404


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"name": "x", "scopes": ["runner", "read"]}, "runner alone"),
        ({"name": "x", "scopes": []}, "at least 1"),
        ({"name": "x y"}, "/name"),
        ({"name": "x", "project": "Nope"}, "/project"),
        ({"name": "x", "project": "nope"}, 'There is no project "nope"'),
        ({"name": "x", "every_project": True}, "administers all of them"),
        ({"name": "x", "every_project": True, "project": "default"}, "give a project, or set every_project"),
    ],
)
async def test_what_is_no_token(service: Service, body: dict[str, object], said: str) -> None:
    """Catches a runner's token that reads, a name that nobody can type, and a project's administrator who reaches beyond it."""
    answer = await service.client.post("/api/v1/access/tokens", json=body, headers=service.admin)
    assert answer.status_code in {403, 404, 422}
    assert said in answer.text.replace('\\"', '"')


async def test_a_form_with_an_error_says_it(service: Service) -> None:
    """Catches a form that fails with a bare error page."""
    answer = await service.client.post("/access/tokens", data={"name": "x y", "scopes": "read"}, headers=FORM)
    assert (answer.status_code, "There is a problem" in answer.text) == (422, True)


async def test_a_project_is_made_and_used(service: Service) -> None:
    """Catches a project that exists in name alone."""
    assert (await service.client.post("/access/projects", data={"name": "mine"}, headers=FORM)).status_code == 303
    answer = await service.client.post("/access/tokens", data={"name": "ci", "scopes": "read", "project": "mine"}, headers=FORM)
    token = re.search(r"bzt_[\w-]{43}", answer.text)
    assert token is not None
    await service.offer()
    run = await service.run()
    assert (await service.client.get(f"/api/v1/runs/{run}", headers=bearer(token.group()))).status_code == 404
    answer = await service.client.post("/access/tokens", data={"name": "all", "scopes": "read", "project": "*"}, headers=FORM)
    token = re.search(r"bzt_[\w-]{43}", answer.text)
    assert token is not None
    assert (await service.client.get(f"/api/v1/runs/{run}", headers=bearer(token.group()))).status_code == 200


async def test_the_log_says_who_did_what(service: Service) -> None:
    """Catches a deed that leaves no trace, one told of a wrong hand, and a page that loses or repeats some."""
    await service.offer()
    token = await service.token("submit")
    run = (await service.submit(headers=token)).json()["id"]
    await service.client.post(f"/api/v1/runs/{run}/cancel", headers=token)
    await service.client.post("/api/v1/access/projects", json={"name": "mine"}, headers=service.admin)
    first = (await service.get("/api/v1/access/events?limit=3")).json()
    rest = (await service.get(f"/api/v1/access/events?cursor={first['next_cursor']}")).json()
    deeds = [*first["items"], *rest["items"]]
    ids = [deed["id"] for deed in deeds]
    assert ids == sorted(set(ids), reverse=True)
    said = {(deed["kind"], deed["actor"], deed["run"]) for deed in deeds}
    assert {("queued", "submit", run), ("cancelled", "submit", run), ("token made", "bezmen", None)} <= said
    page = (await service.get("/access", accept="text/html")).text
    assert f"submitted run {run}" in page
    assert "made the token submit" in page


async def test_the_log_cannot_be_rewritten(service: Service) -> None:
    """Catches a log from which whoever did it can take it out."""
    with pytest.raises(Exception, match="only ever added to"):
        await service.sql("DELETE FROM events")


async def test_an_enrolment_token_becomes_a_runners_once(service: Service) -> None:
    """Catches an invitation that works twice, for something else, or after its time."""
    made = (await service.client.post("/api/v1/access/enrolments", json={"name": "gpu-1", "minutes": 5}, headers=service.admin)).json()
    invitation = bearer(made["token"])
    assert (await service.client.get("/api/v1/runs", headers=invitation)).status_code == 401
    answer = await service.client.post("/api/v1/runners/enrol", headers=invitation)
    assert (answer.status_code, answer.json()["name"]) == (201, "gpu-1")
    runner = bearer(answer.json()["token"])
    assert (await service.offer(runner)).status_code == 204
    assert (await service.client.get("/api/v1/runs", headers=runner)).status_code == 403
    again = await service.client.post("/api/v1/runners/enrol", headers=invitation)
    assert (again.status_code, again.json()["detail"].startswith("This enrolment token is not known here, was used already, or is too old.")) == (
        401,
        True,
    )
    late = (await service.client.post("/api/v1/access/enrolments", json={"name": "gpu-2"}, headers=service.admin)).json()
    assert [item["name"] for item in (await service.get("/api/v1/access")).json()["enrolments"]] == ["gpu-2"]
    await service.sql("UPDATE enrolments SET expires_at = now() - interval '1 second' WHERE name = 'gpu-2'")
    assert (await service.client.post("/api/v1/runners/enrol", headers=bearer(late["token"]))).status_code == 401


def bezmen(database: Database, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    url = database.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", "from app.cli import main; main()", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, env={"DATABASE_URL": url} | environment, check=False)


async def test_the_commands(database: Database, tmp_path: Path) -> None:
    """Catches a first user who cannot be made without one, and passwords that must stand in the command line."""
    assert bezmen(database, "project", "add", "mine").stdout == "the project mine is there\n"
    assert bezmen(database, "project", "add", "Not so").returncode == 2
    assert bezmen(database, "user", "add", "ada", "--password-stdin", "--project", "mine", stdin="long enough 1\n").stdout == "ada may log in\n"
    again = bezmen(database, "user", "add", "ada", "--password-stdin", stdin="long enough 1\n")
    assert (again.returncode, again.stderr) == (3, "There is a user ada already; `bezmen user password ada` changes the password.\n")
    assert bezmen(database, "user", "add", "bob", "--project", "nope", "--password-stdin", stdin="long enough 1\n").returncode == 3
    assert "ada\tread,submit\tmine" in bezmen(database, "user", "list").stdout
    assert bezmen(database, "token", "enrol", "gpu-1").stdout.startswith("bze_")
    assert bezmen(database, "user", "remove", "ada").stdout == "ada is removed\n"
