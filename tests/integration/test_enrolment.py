"""A new machine joins: a real agent, from its enrolment token to the second start. Nothing is measured, so no model is loaded."""

import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg

from app.storage.embedded import EmbeddedPostgres
from tests.integration.conftest import PATIENCE, Place, bearer

OPTIONS = ("--warmup-seconds", "1", "--lock-folder")


@contextmanager
def agent(place: Place, url: str, file: Path, *more: str) -> Iterator["subprocess.Popen[str]"]:
    process = place.start("runner", "--url", url, "--token-file", str(file), *more, *OPTIONS, str(place.data / "locks"))
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def joined(url: str, process: "subprocess.Popen[str]", since: str = "") -> dict[str, Any]:
    """What the service knows of its runner, once that has spoken after `since`."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        found = [runner for runner in known(url) if runner["last_seen"] > since]
        if found:
            return found[0]
        time.sleep(0.2)
    raise AssertionError("the runner has not published what it offers")


def known(url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = httpx.get(f"{url}/api/v1/runners").json()
    return found


def test_a_runner_enrols_once_and_keeps_its_token(place: Place) -> None:
    """Catches an enrolment that is not kept, a token that others can read, a second start that needs another invitation, and what a killed
    runner has left lying about."""
    file = place.data / "gpu-1.token"
    with place.serving() as (url, _):
        invitation = place.run("token", "enrol", "gpu-1")[1].strip()
        with agent(place, url, file, "--enrol", invitation) as first:
            found = joined(url, first)
            assert found["name"] == "gpu-1"
            assert found["offer"]["drafters"]
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            own = file.read_text()
            assert own.startswith("bzr_")
            assert httpx.get(f"{url}/api/v1/runs", headers=bearer(own.strip())).status_code == 403
            os.kill(first.pid, signal.SIGKILL)
            first.wait(PATIENCE)
        last = known(url)[0]["last_seen"]
        spool = place.data / "runner" / "spool" / "cpu"
        left = spool / "child-1" / "log"
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_text("what was being read")
        with agent(place, url, file) as second:
            assert joined(url, second, since=last)["name"] == "gpu-1"
            assert file.read_text() == own
            assert not left.exists()


def test_an_enrolment_that_cannot_be_is_a_sentence(place: Place) -> None:
    """Catches an invitation that works twice or too late, a refused one that leaves an empty token file, and a kept token that is overwritten."""
    kept, file = place.data / "kept.token", place.data / "new.token"
    with place.serving() as (url, _):
        at = ("runner", "--url", url, "--token-file")
        status, _, error = place.run(*at, str(file))
        assert (status, "`bezmen token enrol NAME`" in error) == (2, True)
        spent = place.run("token", "enrol", "gpu-1")[1].strip()
        assert httpx.post(f"{url}/api/v1/runners/enrol", headers=bearer(spent)).status_code == 201
        late = httpx.post(
            f"{url}/api/v1/access/enrolments",
            json={"name": "gpu-2"},
            headers=bearer((place.data / "admin.token").read_text().strip()),
        ).json()["token"]
        expired = place.run("token", "enrol", "gpu-3")[1].strip()
        address = EmbeddedPostgres(place.data).url().set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(address) as connection:
            connection.execute("UPDATE enrolments SET expires_at = now() - interval '1 second' WHERE name = 'gpu-3'")
        for token in (spent, expired, "bze_unheard-of"):
            status, _, error = place.run(*at, str(file), "--enrol", token)
            assert (status, error.startswith("This enrolment token is not known here, was used already, or is too old.")) == (2, True), error
            assert not file.exists()
        kept.write_text("bzr_mine\n")
        status, _, error = place.run(*at, str(kept), "--enrol", late)
        assert (status, f"{kept} is there already" in error, kept.read_text()) == (2, True, "bzr_mine\n")
        # The invitation that was not needed can still be used.
        assert httpx.post(f"{url}/api/v1/runners/enrol", headers=bearer(late)).status_code == 201
