"""`bezmen wait`, `compare` and `gate` against a real service: their words, their files and above all their status."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import yaml
from typer.testing import CliRunner

from app.cli import commands
from tests import factories
from tests.integration.conftest import PATIENCE, Attempt, Place, bearer
from tests.test_readme_ci import blocks


class Bench:
    """A service, and a runner that measures what a test wants it to."""

    def __init__(self, url: str, place: Place) -> None:
        self._place = place
        self._url = url
        self.client = httpx.AsyncClient(base_url=url, timeout=PATIENCE)
        self._runner = bearer((place.data / "runner.token").read_text().strip())
        self._admin = bearer((place.data / "admin.token").read_text().strip())

    async def offer(self) -> None:
        offer = factories.offer().model_dump(mode="json", by_alias=True)
        (await self.client.put("/api/v1/runners/me/offer", json=offer, headers=self._runner)).raise_for_status()

    async def measure(self, **facts: Any) -> int:
        """Takes the next run that waits, for 30 s at most."""
        answer = await self.client.post("/api/v1/runners/me/lease", json={"wait_seconds": 30}, headers=self._runner)
        body = answer.json()
        attempt = Attempt(self.client, body["run"], body["attempt"], body["attempt_id"], bearer(body["token"]))
        await attempt.finish(await attempt.measure(**facts))
        return int(body["run"])

    async def run(self, *, language: str = "en", **facts: Any) -> int:
        body = factories.spec_body(language=language)
        (await self.client.post("/api/v1/runs", json=body, headers=self._admin)).raise_for_status()
        return await self.measure(language=language, **facts)

    async def say(self, *arguments: object) -> tuple[int, str, str]:
        """A command's status, output and errors."""
        environment = self._place.environment | {"BEZMEN_URL": self._url, "DATABASE_URL": None, "BEZMEN_TOKEN": None}
        done = await asyncio.to_thread(CliRunner().invoke, commands, [str(argument) for argument in arguments], env=environment)
        assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
        return done.exit_code, done.stdout, done.stderr


async def test_every_status(place: Place, tmp_path: Path) -> None:
    """Catches a build that goes on where it should stop, or stops without saying why."""
    with place.serving() as (url, _):
        bench = Bench(url, place)
        async with bench.client:
            await bench.offer()
            fast, slow = await bench.run(acceptance=0.9), await bench.run(acceptance=0.3)
            looping = await bench.run(degenerate=True, repeated_share=0.9)
            await holds(bench, fast, tmp_path)
            await holds_not(bench, slow, fast)
            await not_measured(bench, looping, fast)
            await usage(bench, fast)
            await waits_and_compares(bench, slow, fast, looping)


async def holds(bench: Bench, run: int, folder: Path) -> None:
    file = folder / "bezmen.xml"
    status, out, error = await bench.say("gate", run, "--min", "headline=1", "--verdict", "pays", "--junit", file)
    assert (status, out.splitlines()[0]) == (0, f"gate of run {run}: The gate holds (2\u00a0checks)."), error
    suite = ElementTree.parse(file).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "0")
    status, out, _ = await bench.say("gate", run, "--max", "headline=9", "--markdown", "--locale", "ru")
    assert status == 0
    assert "**Выдержано.**" in out
    assert "| ✓ | Ускорение" in out
    assert "Доля принятых" in out, "acceptance stands beside speed, asked for or not"
    assert f"/runs/{run})" in out
    status, out, _ = await bench.say("gate", run, "--min", "request_latency[arm=plain,quantile=p50]=0", "--json")
    # A quantile of what was measured has no interval, so it decides nothing.
    assert (status, json.loads(out)["checks"][0]["part"]) == (4, {"arm": "plain", "quantile": "p50"})


async def holds_not(bench: Bench, slow: int, fast: int) -> None:
    """The first repeat says the same, so the build stops. Asked again it is the same repeat, and nothing is measured."""
    gate = ("gate", slow, "--verdict", "pays")
    (status, out, error), repeat = await asyncio.gather(bench.say(*gate, "--timeout", 60), bench.measure(language="en", acceptance=0.3))
    assert (status, f"Confirmed: run {repeat}, measured anew, says so too." in out) == (1, True), error
    assert f"run {slow} does not hold; run {repeat} measures it once more" in error
    assert (await bench.say(*gate))[0] == 1
    assert (await bench.say("gate", slow, "--baseline", fast, "--no-confirm"))[0] == 1
    # A run that a repeat takes back: the second one's answers were all accepted.
    other = await bench.run(acceptance=0.3)
    (status, out, _), _ = await asyncio.gather(bench.say("gate", other, "--verdict", "pays"), bench.measure(language="en", acceptance=0.95))
    assert (status, "Not confirmed" in out) == (4, True)
    low = (await bench.client.get(f"/api/v1/runs/{fast}/figures/acceptance_rate")).json()["pooled"]["point"]
    assert (await bench.say("gate", fast, "--min", f"acceptance_rate={low}"))[0] == 4


async def not_measured(bench: Bench, looping: int, fast: int) -> None:
    status, out, _ = await bench.say("gate", looping, "--min", "acceptance_rate=0.1")
    assert (status, "repeat themselves" in out) == (3, True)
    waiting = await bench.client.post("/api/v1/runs", json=factories.spec_body(language="ru"), headers=bench._admin)
    status, _, error = await bench.say("gate", waiting.json()["id"], "--verdict", "pays", "--timeout", "1")
    assert (status, "has not ended in time" in error) == (3, True)
    russian = await bench.measure(language="ru", acceptance=0.9)
    status, out, _ = await bench.say("gate", russian, "--baseline", fast)
    assert (status, "they differ in language" in out) == (3, True)


async def usage(bench: Bench, run: int) -> None:
    wrong: dict[str, tuple[object, ...]] = {
        "a gate asks something": ("gate", run),
        "a bound is FIGURE=NUMBER": ("gate", run, "--min", "headline"),
        "is no number": ("gate", run, "--min", "headline=fast"),
        "a part of a figure is NAME=VALUE": ("gate", run, "--min", "ttft[plain]=1"),
        "--within is towards a baseline": ("gate", run, "--verdict", "pays", "--within", "headline=0.1"),
        "There is no figure": ("gate", run, "--min", "speed=1"),
        "is a share from 0 to 1": ("gate", run, "--min", "acceptance_rate=60"),
        "is not finite": ("gate", run, "--min", "headline=nan"),
        "choose one": ("gate", run, "--verdict", "pays", "--json", "--markdown"),
        "There is no run 99": ("gate", 99, "--verdict", "pays"),
        "two different runs": ("compare", run, run),
    }
    for said, arguments in wrong.items():
        status, _, error = await bench.say(*arguments)
        assert (status, said in error) == (2, True), (arguments, error)


async def waits_and_compares(bench: Bench, slow: int, fast: int, looping: int) -> None:
    status, out, _ = await bench.say("wait", slow, fast, "--json")
    assert (status, [report["run"] for report in json.loads(out)]) == (0, [slow, fast])
    status, out, _ = await bench.say("wait", slow, looping, "--markdown")
    assert (status, out.count("###"), "**Refused**" in out) == (3, 2, True)
    status, out, _ = await bench.say("compare", slow, fast, "--markdown")
    assert (status, f"/compare?runs={slow},{fast})" in out, f"run {slow} against run {fast}" in out) == (0, True, True)
    assert (await bench.say("compare", slow, looping))[0] == 3


async def test_the_snippet_runs(place: Place, tmp_path: Path) -> None:
    """Catches a pipeline that a reader copies and that does not work: GitLab's lines, as a shell runs them, but for installing the package."""
    lines = [line for line in yaml.safe_load(blocks("README.md", "yaml")[-1])["speculation"]["script"] if not line.startswith("pip ")]
    with place.serving() as (url, _):
        bench = Bench(url, place)
        async with bench.client:
            await bench.offer()
            old = await bench.run(acceptance=0.9)
            (tmp_path / "bezmen.json").write_text(json.dumps(factories.spec_body(language="en")), encoding="utf-8")
            (tmp_path / "bezmen").write_text(f'#!/bin/sh\nexec {sys.executable} -m app.cli "$@"\n', encoding="utf-8")
            (tmp_path / "bezmen").chmod(0o755)
            token = (place.data / "admin.token").read_text().strip()
            own = {"BEZMEN_URL": url, "BEZMEN_TOKEN": token, "BEZMEN_BASELINE": str(old), "CI_PIPELINE_ID": "77"}
            environment = place.environment | own | {"PATH": f"{tmp_path}:{place.environment['PATH']}"}
            shell = await asyncio.create_subprocess_exec("sh", "-ec", "\n".join(lines), cwd=tmp_path, env=environment, stderr=asyncio.subprocess.PIPE)
            new, (_, error) = await asyncio.gather(bench.measure(language="en", acceptance=0.9), shell.communicate())
    assert shell.returncode == 0, error.decode()
    assert "**Holds.**" in (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert ElementTree.parse(tmp_path / "bezmen.xml").getroot()[0].get("name") == f"bezmen gate of run {new}"
