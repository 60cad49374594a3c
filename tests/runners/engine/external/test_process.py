"""Engines as processes, real ones: started, awaited, ended with all that they started."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from runners.engine.external.faults import EngineFault
from runners.engine.external.ports import free_port
from runners.engine.external.process import Command, Process
from runners.engine.external.words import end_of, tellable, without_folders
from tests.runners.engine.external import servers

Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    begun: list[Process] = []

    def launch(mode: str, port: int | None = None, cores: tuple[int, ...] = ()) -> Process:
        port = port or free_port()
        command = Command((sys.executable, str(Path(servers.__file__)), mode, str(port)), {"ENGINE_SAYS": "/opt/lib/libx.so"}, cores)
        begun.append(Process("llama.cpp", command, port, tmp_path / "engine.log"))
        return begun[-1]

    yield launch
    for process in begun:
        process.stop(grace=0.2)


def gone(pid: int, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


def worker_of(process: Process) -> int:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        words = [line for line in process.log.read_text().splitlines() if line.startswith("worker ")]
        if words:
            return int(words[0].split()[1])
        time.sleep(0.05)
    raise AssertionError("no worker")


def test_a_slow_start_is_awaited(start: Start) -> None:
    """Catches a server that is asked while it answers 503."""
    process = start("slow")
    process.await_ready("/health", 30)
    assert process.exit is None


def test_a_server_that_is_never_ready_is_named_with_its_last_words(start: Start) -> None:
    process = start("never")
    with pytest.raises(
        EngineFault, match=r"llama.cpp was not ready within 2 seconds; its last answer was 503; its last words:\nloading model.gguf as never"
    ):
        process.await_ready("/health", 2)


def test_an_exit_at_the_start_is_noticed_at_once_and_tells_no_folder(start: Start) -> None:
    """Catches a wait to the end for what is gone, and a path of this machine in what the service is told."""
    process = start("exits")
    with pytest.raises(EngineFault) as fault:
        process.await_ready("/health", 60)
    assert (fault.value.code, fault.value.again) == ("engine_exited", False)
    assert str(fault.value).startswith("llama.cpp exited with status 1; its last words:\n")
    assert "failed to load model 'model.gguf'" in str(fault.value)
    assert "somebody" not in str(fault.value)


def test_a_program_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    process = Process("llama.cpp", Command(("/nowhere/llama-server",)), free_port(), tmp_path / "log")
    try:
        with pytest.raises(EngineFault, match="llama-server could not be started: No such file or directory"):
            process.await_ready("/health", 60)
    finally:
        process.stop(grace=0)


def test_last_words_are_those_of_this_start(start: Start) -> None:
    """Catches the words of an earlier start, which lie in the same log, as the reason for this one's end."""
    first = start("exits")
    with pytest.raises(EngineFault):
        first.await_ready("/health", 60)
    second = start("quick")
    second.await_ready("/health", 30)
    assert second.last_words() == "loading model.gguf as quick"


def test_a_taken_port_is_refused_before_anything_starts(start: Start) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(EngineFault, match=rf"port {other.getsockname()[1]} of this machine is taken"):
            start("quick", other.getsockname()[1])


def test_another_program_on_the_engines_port_is_not_taken_for_the_engine(start: Start) -> None:
    """Catches a measurement of somebody else: the engine runs but does not listen, and whoever took its port since answers its health check."""
    process = start("quick")
    process.await_ready("/health", 30)
    with servers.served({"/health": lambda handler: handler.reply({})}) as url:
        process.port = int(url.rpartition(":")[2])
        with pytest.raises(EngineFault, match=r"another program than llama\.cpp listens on port"):
            process.await_ready("/health", 30)


def test_one_that_heeds_no_signal_is_killed_with_its_workers(start: Start) -> None:
    """Catches an engine or a worker of it that stays and takes cores from the next arm."""
    process = start("stubborn")
    process.await_ready("/health", 30)
    worker = worker_of(process)
    engine = psutil.Process(process.pid).children()[0].pid
    process.stop(grace=0.3)
    assert gone(engine)
    assert gone(worker)


PARENT = """
import sys, time
from pathlib import Path
from runners.engine.external.process import Command, Process
process = Process("llama.cpp", Command((sys.executable, {program!r}, "stubborn", "{port}")), {port}, Path({log!r}))
process.await_ready("/health", 30)
print(process.pid, flush=True)
time.sleep(600)
"""


def test_an_engine_dies_with_its_parent(tmp_path: Path) -> None:
    """Catches engines left over by a runner that was killed: they would hold the device, and slow down whatever is measured next."""
    port, log = free_port(), tmp_path / "log"
    script = textwrap.dedent(PARENT).format(program=servers.__file__, port=port, log=str(log))
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=Path(__file__).parents[4])
    assert parent.stdout is not None
    guard = int(parent.stdout.readline())
    family = [guard, *(child.pid for child in psutil.Process(guard).children(recursive=True))]
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert len(family) == 3
    assert all(gone(pid, 20) for pid in family)


@pytest.mark.skipif(sys.platform != "linux", reason="this system ends no process with its parent")
def test_an_engine_dies_with_its_guard_and_that_is_told(start: Start) -> None:
    """Catches an engine that runs on when its guard was killed: its time would count as that of others, and nothing would end it with its runner."""
    process = start("quick")
    process.await_ready("/health", 30)
    engine = psutil.Process(process.pid).children()[0].pid
    os.kill(process.pid, signal.SIGKILL)
    assert gone(engine, 2.0)
    with pytest.raises(EngineFault, match=r"^llama\.cpp was ended by SIGKILL; its last words:\nloading model\.gguf as quick$") as fault:
        process.check_alive()
    assert (fault.value.code, fault.value.again) == ("engine_exited", True)


def test_the_engine_sees_no_token_and_no_proxy(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEZMEN_TOKEN", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    process = start("quick")
    process.await_ready("/health", 30)
    engine = psutil.Process(process.pid).children()[0]
    seen = engine.environ()
    assert {"BEZMEN_TOKEN", "HTTPS_PROXY", "VIRTUAL_ENV"}.isdisjoint(seen)
    assert seen["OMP_WAIT_POLICY"] == "PASSIVE"
    assert os.getpgid(engine.pid) == process.pid != os.getpgid(0)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("failed to open '/home/a/b/model.gguf'", "failed to open 'model.gguf'"),
        ("listening on http://127.0.0.1:8080/health", "listening on http://127.0.0.1:8080/health"),
        ("5.9 ms/token, 3/4 done", "5.9 ms/token, 3/4 done"),
        ("~/models/x.gguf and /srv/m/", "x.gguf and …"),
        ("loading /home/ann smith/my models/a.gguf now", "loading a.gguf now"),
        (r"failed: C:\Users\ann b\x.gguf", "failed: x.gguf"),
        ("see file:///srv/keys/y", "see y"),
    ],
)
def test_folders_of_the_machine_are_left_out(said: str, told: str) -> None:
    """Catches a user's name told to the service, and an address or a quotient mangled."""
    assert without_folders(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("started with --api-key sk-SECRET-WORD --port 1", "started with --api-key … --port 1"),
        ("HF_TOKEN=hf_AbCdEfGhIjKl", "HF_TOKEN=…"),
        ("a repo of hf_AbCd1234EfGh is closed", "a repo of … is closed"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer …"),
        ('{"api_key": "abcdef12", "n": 1}', '{"api_key": "…", "n": 1}'),
        ("password=hunter22!", "password=…"),
        ("EOS token = 2, n_tokens = 512, prompt tokens: 19, hf_overrides", "EOS token = 2, n_tokens = 512, prompt tokens: 19, hf_overrides"),
        ("general.key = value, --hf-token 12", "general.key = value, --hf-token 12"),
    ],
)
def test_secrets_are_left_out(said: str, told: str) -> None:
    """Catches a key in an engine's last words on a page, and counts of tokens that pass for one."""
    assert tellable(said) == told


def test_last_words_hold_no_times_of_a_request(tmp_path: Path) -> None:
    """Catches a speed of a run that gives no figures, read off the log of its engine."""
    log = tmp_path / "log"
    log.write_text("slot print_timing: id 0 | total time = 3263.83 ms / 181 tokens\nslot print_timing: id 0 | graphs reused = 71\nout of memory\n")
    assert end_of(log) == "out of memory"


def test_last_words_can_be_kept(tmp_path: Path) -> None:
    """Catches a log with colours, or with a character that no database takes, and one so long that reading it takes minutes."""
    log = tmp_path / "log"
    log.write_bytes(b"x" * 200_000 + b"\nloading: 10%\rloading: 99%\n\x1b[31merror\x1b[0m: \x00 bad \xff\n")
    assert end_of(log, 1) == "x" * (1500 - 28) + "\nloading: 99%\nerror:   bad \ufffd"


def test_a_passport_names_the_command_without_folders() -> None:
    command = Command(("/opt/llama/llama-server", "-m", "/data/m.gguf", "-t", "1"), {"LD_PRELOAD": "/opt/v/lib/libiomp5.so"})
    assert command.told == ("LD_PRELOAD=libiomp5.so", "llama-server", "-m", "m.gguf", "-t", "1")


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins no process to cores")
def test_the_engine_keeps_to_its_cores(start: Start) -> None:
    """Catches an engine that shares its cores with whoever sends the requests, or takes those of the machine."""
    own = sorted(os.sched_getaffinity(0))
    process = start("quick", cores=(own[-1],))
    process.await_ready("/health", 30)
    assert os.sched_getaffinity(psutil.Process(process.pid).children()[0].pid) == {own[-1]}
    assert sorted(os.sched_getaffinity(0)) == own
