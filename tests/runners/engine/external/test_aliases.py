"""The file of engines: what it may say, and that a fault in it is found by key and line."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
        ('"-ngl", "99"', '"--ctx-size=64"', "line 7: engines.llama.arguments: --ctx-size is decided by a run's spec"),
        ('"-ngl", "99"', '"--draft-p-min", "0.9"', "line 7: engines.llama.arguments: --draft-p-min is decided by a run's spec"),
        (
            'key_from = "FAR_KEY"',
            'key = "sk-1"',
            "line 14: engines.far.key: is no key that is known here; there are kind, url, model, plain, key_from$",
        ),
        ("hosts =", "host =", "line 1: host: is no key that is known here; there are engines, hosts$"),
        ('"-ngl", "99"', '"-ngl", 99', "line 7: engines.llama.arguments, entry 2: is to be text, in quotes$"),
        ('roots = ["/models"]', 'roots = "/models"', "line 6: engines.llama.roots: is to be a list, in square brackets$"),
        ('roots = ["/models"]', "roots = []", "line 6: engines.llama.roots: has no entry, and needs one at least$"),
        ('server = "/opt/llama/llama-server"', "server = 7", "line 5: engines.llama.server: is to be a path, as text in quotes$"),
        ('key_from = "FAR_KEY"', 'key_from = "1-KEY"', "line 14: engines.far.key_from: is to be the name of an environment variable"),
        ('model = "target"\nplain', 'model = ""\nplain', "line 12: engines.far.model: is empty$"),
        ('model = "target"\nplain', "plain", "line 9: engines.far.model: is missing$"),
        ("[engines.llama]", '[engines."my llama"]', "line 3: engines.my llama: a name has letters"),
        ('[engines.llama]\nkind = "llama.cpp"', "[engines.vllm]\nkind = 7", "line 3: engines.vllm: has a kind that is not known"),
        ('[engines.llama]\nkind = "llama.cpp"', '[engines.vllm]\nkind = "vllm"', "line 3: engines.vllm.python: is missing$"),
        ('roots = ["/models"]', 'roots = ["/models"]\nroots = []', "line 7: what begins or stands here is given twice; give it once$"),
        ("[engines.far-plain]", "[engines.far]", "line 16: what begins or stands here is given twice; give it once$"),
        ("127.0.0.1:8001", "127.0.0.1:0", "line 18: engines.far-plain.url: a port is a number from 1 to 65535, and not 0$"),
        ("127.0.0.1:8001", "127.0.0.1:99999", "line 18: engines.far-plain.url: a port is a number from 1 to 65535, and not 99999$"),
        ("127.0.0.1:8001", "127.0.0.1:http", "line 18: engines.far-plain.url: a port is a number from 1 to 65535, and not http$"),
        ("127.0.0.1:8001", "127.0.0.1:", "line 18: engines.far-plain.url: a port is a number from 1 to 65535, and not nothing$"),
        ("127.0.0.1:8001", "[::1", "line 18: engines.far-plain.url: an address of version 6 stands in square brackets"),
        ("127.0.0.1:8001", "127.0.0.1 :8001", "line 18: engines.far-plain.url: an address has no blanks$"),
        (
            'hosts = ["gpu1.example"]',
            'hosts = ["http://gpu1.example"]',
            "line 1: hosts: http://gpu1.example is no host; write its name or address alone",
        ),
        ('hosts = ["gpu1.example"]', 'hosts = "gpu1.example"', "line 1: hosts: is to be a list, in square brackets$"),
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


@pytest.mark.parametrize("text", ["", "# nothing yet\n", 'hosts = ["gpu1.example"]\n', "[engines]\n"])
def test_a_file_without_an_engine_is_no_file_of_engines(file: Path, text: str) -> None:
    """Catches a runner that starts as if nothing had been said."""
    file.write_text(text)
    with pytest.raises(
        BadEngines, match=r"engines\.toml names no engine; each is a table that begins with \[engines.NAME\] and has a kind: llama.cpp"
    ):
        read_engines(file)


def test_hosts_are_one_host_in_any_case(file: Path) -> None:
    """Catches a host that is meant and refused, since addresses are read in small letters."""
    file.write_text(GOOD.replace('["gpu1.example"]', '["GPU1.example"]'))
    assert isinstance(read_engines(file).engines["far"], Attached)


KEYS = ("hosts", "kind", "server", "python", "roots", "arguments", "url", "model", "plain", "key_from", "other")
TEXTS = st.sampled_from(["", "/x", "x y", "llama.cpp", "vllm", "openai", "http://127.0.0.1:1", "http://h:x", "https://[", "FAR_KEY", "a" * 300])
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-9, 99999), st.floats(-9, 9), TEXTS), lambda each: st.lists(each, max_size=3), max_leaves=4
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    tables=st.dictionaries(st.sampled_from(["", "engines", "engines.a", "engines.vllm"]), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5))
)
def test_no_fault_is_told_in_the_words_of_a_library(file: Path, tables: dict[str, dict[str, object]]) -> None:
    """Catches a fault that is an error of a library, names no line of the file, or leaves its author without a hint."""
    lines = [
        line
        for name, keys in sorted(tables.items())
        for line in ([f"[{name}]"] if name else []) + [f"{k} = {json.dumps(v)}" for k, v in keys.items()]
    ]
    file.write_text("\n".join(lines) + "\n")
    try:
        read_engines(file)
    except BadEngines as error:
        said = str(error)
        found = re.match(r".*engines\.toml(, line (\d+): | names no engine; )", said)
        assert found is not None, said
        assert found[2] is None or 1 <= int(found[2]) <= max(1, len(lines))
        assert not re.search(
            r"Input should|valid (string|list|tuple|dict)|Field required|Value error|String should|pydantic|at least \d+ item", said
        ), said


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
