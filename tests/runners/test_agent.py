"""The parent's parts that need no service: lease clock, child, device lock, token file, last words."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from runners.attempt import LeaseClock, crash_fact
from runners.device_lock import DeviceBusy, claim, hold
from runners.environment import gpu_identity, identity
from runners.link import read_token
from runners.program import KEPT, environment
from runners.protocol.spool import SpoolReader


def test_the_lease_is_given_up_before_it_ends() -> None:
    """Catches a child that goes on measuring after another runner may have taken the run."""
    clock = LeaseClock(90.0, 15.0, now=0.0)
    assert not clock.due(14.9)
    assert clock.due(15.0)
    assert not clock.expired(80.0)
    assert clock.expired(81.5)


def test_a_beat_counts_from_when_it_was_sent() -> None:
    """Catches a lease that a slow answer would stretch."""
    clock = LeaseClock(90.0, 15.0, now=0.0)
    clock.tried(30.0)
    clock.renewed(30.0)
    assert clock.expired(30.0 + 81.0)
    assert not clock.expired(30.0 + 80.0)


def test_the_child_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a token or database address that leaks into the process that runs models."""
    for name in ("BEZMEN_TOKEN", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "HF_TOKEN"):
        monkeypatch.setenv(name, "secret")
    seen = environment(online=False)
    assert "secret" not in seen.values()
    assert seen["OMP_WAIT_POLICY"] == "PASSIVE"
    assert set(KEPT) >= {"PATH"}


def test_two_runners_cannot_hold_one_device(tmp_path: Path) -> None:
    """Catches two measurements on one device, and a lock that outlives its holder."""
    first = hold("AMD EPYC", tmp_path)
    with pytest.raises(DeviceBusy, match=str(os.getpid())):
        hold("AMD EPYC", tmp_path)
    hold("another device", tmp_path).close()
    first.close()
    hold("AMD EPYC", tmp_path).close()


NAME = "NVIDIA H200"
UUID = "9c1f3f52-0b4e-7d61-2d0a-1f6f0d4c2b11"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"uuid": UUID}, {"uuid": UUID.replace("9", "8")}),
        ({"pci_domain_id": 0, "pci_bus_id": 0x17, "pci_device_id": 0}, {"pci_domain_id": 0, "pci_bus_id": 0x65, "pci_device_id": 0}),
        ({"uuid": "00000000-0000-0000-0000-000000000000", "pci_bus_id": 1}, {"uuid": "00000000-0000-0000-0000-000000000000", "pci_bus_id": 2}),
    ],
)
def test_two_equal_gpus_are_two_devices(tmp_path: Path, one: dict[str, object], other: dict[str, object]) -> None:
    """Catches a second GPU of one machine that cannot be measured on while the first is, and one GPU that two runners measure on."""
    first, second = (gpu_identity(SimpleNamespace(name=NAME, **told)) for told in (one, other))
    again = gpu_identity(SimpleNamespace(name=NAME, **one))
    busy = pytest.raises(DeviceBusy, match=f"^{NAME} is measured on by process {os.getpid()} already")
    with hold(first, tmp_path, NAME), hold(second, tmp_path, NAME), busy:
        hold(again, tmp_path, NAME)


def test_what_is_told_apart_by_nothing_is_one_device() -> None:
    """Catches two runners on one GPU of which the build of torch tells no more than the name; and two on the processors of one machine."""
    assert gpu_identity(SimpleNamespace(name=NAME, uuid=None)) == gpu_identity(SimpleNamespace(name=NAME)) == NAME
    assert identity(torch.device("cpu")) == "cpu"


def test_a_start_clears_what_the_dead_left_and_nothing_of_the_living(tmp_path: Path) -> None:
    """Catches prompts and answers that stay on a disk because their runner was killed, and a runner that empties its neighbour's spool."""

    def left(spool: Path) -> Path:
        log = spool / "child-17" / "log"
        log.parent.mkdir(parents=True)
        log.write_text("what was being read")
        return log

    spool, held = claim("gpu a", tmp_path)
    mine, foreign = left(spool), left(tmp_path / "amd-epyc-of-an-older-version")
    _, other = claim("gpu b", tmp_path)
    assert (mine.exists(), foreign.exists()) == (True, False)
    with pytest.raises(DeviceBusy, match=f"gpu-a is in use by process {os.getpid()}; give this runner a BEZMEN_DATA of its own"):
        claim("gpu a", tmp_path)
    assert mine.exists()
    held.close()
    again, held = claim("gpu a", tmp_path)
    assert (again, mine.exists()) == (spool, False)
    gone = left(spool)
    held.close()
    other.close()
    claim("gpu b", tmp_path)[1].close()
    assert not gone.exists()


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("bzr_x\n")
    file.chmod(0o644)
    with pytest.raises(PermissionError, match="chmod 600"):
        read_token(file)
    file.chmod(0o600)
    assert read_token(file) == "bzr_x"


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    """Catches a fact that is read while it is being written."""
    reader = SpoolReader(tmp_path)
    assert reader.new_lines() == []
    with (tmp_path / "facts.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"a": 1}\n{"b": "без')
        stream.flush()
        assert reader.new_lines() == ['{"a": 1}']
        stream.write('мен"}\n')
        stream.flush()
        assert reader.new_lines() == ['{"b": "безмен"}']


def test_a_crash_is_told_with_its_last_words() -> None:
    killed = crash_fact(-signal.SIGKILL, "loading")
    assert (killed.code, killed.retry_makes_sense) == ("killed", True)
    assert "SIGKILL" in killed.reason
    assert "loading" in killed.reason
    broken = crash_fact(1, "ValueError: boom")
    assert (broken.code, broken.retry_makes_sense) == ("crashed", False)
    assert "boom" in broken.reason
