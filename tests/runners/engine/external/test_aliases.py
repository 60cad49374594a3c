"""The file of engines: what it may say, and that a fault in it is found by key and line."""

from pathlib import Path

import pytest

from runners.engine.external.aliases import Attached, BadEngines, LlamaServer, read_engines, with_programs

GOOD = """\
hosts = ["gpu1.example"]

[engines.llama]
kind = "llama.cpp"
server = "/opt/llama/llama-server"
roots = ["/models"]
arguments = ["-ngl", "99"]

[engines.far]
kind = "openai"
url = "https://gpu1.example:8000/"
model = "target"
plain = "far-plain"
key_from = "FAR_KEY"

[engines.far-plain]
kind = "openai"
url = "http://127.0.0.1:8001"
model = "target"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "engines.toml"


def test_both_sorts_of_engines_are_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(GOOD)
    engines = read_engines(file).engines
    llama, far = engines["llama"], engines["far"]
    assert isinstance(llama, LlamaServer)
    assert llama.arguments == ("-ngl", "99")
    assert isinstance(far, Attached)
    assert far.url == "https://gpu1.example:8000"
    monkeypatch.setenv("FAR_KEY", "sk-1")
    assert far.key() == "sk-1"
    monkeypatch.delenv("FAR_KEY")
    with pytest.raises(BadEngines, match="the environment variable FAR_KEY, which is to hold the key of an engine, is not set"):
        far.key()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("server =", "serve =", "line 3: engines.llama.server: is missing"),
        ('roots = ["/models"]', 'roots = ["models"]', "line 6: engines.llama.roots: models is to be an absolute path"),
        ('kind = "llama.cpp"', 'kind = "llamacpp"', "line 3: engines.llama: has a kind that is not known; there are llama.cpp, vllm"),
        ('"-ngl", "99"', '"--spec-type", "ngram-mod"', "line 7: engines.llama.arguments: --spec-type is decided by a run's spec"),
        ('"-ngl", "99"', '"-np", "1"', "line 7: engines.llama.arguments: -np is decided by a run's spec"),
        ('"-ngl", "99"', '"--ctx-size=64"', "line 7: engines.llama.arguments: --ctx-size=64 is decided by a run's spec"),
        ('"-ngl", "99"', '"--draft-p-min", "0.9"', "line 7: engines.llama.arguments: --draft-p-min is decided by a run's spec"),
        ('key_from = "FAR_KEY"', 'key = "sk-1"', "line 14: engines.far.key: is no key that is known here"),
        ('url = "http://127', 'url = "ftp://127', "line 18: engines.far-plain.url: an address begins with http"),
        ("gpu1.example:8000/", "me:secret@gpu1.example/", "line 11: engines.far.url: an address holds no name, key, query or fragment"),
        ("http://127.0.0.1:8001", "http://10.0.0.1", "line 18: engines.far-plain.url: 10.0.0.1 is not this machine; add it to hosts if it is meant"),
        ('plain = "far-plain"', 'plain = "llama"', "line 13: engines.far.plain: llama is to be another engine of kind openai in this file"),
        ("[engines.llama]", "[engines.transformers]", r"line \d+: engines.transformers: this is what our own loop is called; choose another name"),
        ("[engines.far]", "[engines.far", r"is not TOML: .*at line 9"),
    ],
)
def test_a_fault_is_named_by_key_and_line(file: Path, old: str, new: str, said: str) -> None:
    """Catches a key, an address or a flag that decides what a spec is to decide, and a fault that has to be looked for."""
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(BadEngines, match=said):
        read_engines(file)


def test_a_file_that_is_not_there_is_said_so(file: Path) -> None:
    with pytest.raises(BadEngines, match=r"engines\.toml cannot be read: No such file or directory"):
        read_engines(file)


def test_models_stay_under_their_roots(tmp_path: Path) -> None:
    """Catches a spec that reads any file of the machine through an engine, by dots or by a link."""
    root, outside = tmp_path / "models", tmp_path / "secret.gguf"
    root.mkdir()
    (root / "m.gguf").touch()
    outside.touch()
    (root / "link.gguf").symlink_to(outside)
    alias = LlamaServer(kind="llama.cpp", server=Path("/opt/llama-server"), roots=(root,))
    assert alias.model("m.gguf") == root / "m.gguf"
    for name in ("../secret.gguf", "link.gguf", str(outside), "other.gguf"):
        with pytest.raises(FileNotFoundError, match="under the roots of this engine"):
            alias.model(name)


def test_a_program_that_cannot_be_run_is_not_offered(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an engine that stands in the form, and whose every run fails."""
    monkeypatch.setenv("FAR_KEY", "sk-1")
    server = tmp_path / "llama-server"
    server.write_text("")
    file.write_text(GOOD.replace("/opt/llama/llama-server", str(server)))
    with pytest.raises(BadEngines, match=r"engines.llama.server: .*llama-server is no program that can be run"):
        with_programs(read_engines(file))
    server.chmod(0o755)
    assert "llama" in with_programs(read_engines(file)).engines
