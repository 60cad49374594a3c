"""Whatever a server says, it is counted, absent or not understood, and a count never comes out of nothing."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.outside import llama_cpp, lm_studio, openai, sglang, tensorrt_llm, vllm
from app.domain.outside.prometheus import difference, parse
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import NotUnderstood
from app.domain.outside.versions import shapes
from tests.app.domain.outside.answers import EN2, llama, llama_metrics, vllm_metrics
from tests.app.domain.outside.answers import vllm as vllm_answer
from tests.app.domain.outside.test_lm_studio import body as lm_studio_answer
from tests.app.domain.outside.test_sglang import answer as sglang_answer
from tests.app.domain.outside.test_tensorrt_llm import scrape as tensorrt_scrape

Read = Callable[[Mapping[str, object]], Reading]
ANSWERS: dict[str, tuple[Read, dict[str, object]]] = {
    "llama.cpp": (llama_cpp.timings, llama(64, 9, 36)),
    "vllm": (vllm.speculative_decoding, vllm_answer(64, EN2)),
    "sglang": (sglang.meta_info, sglang_answer("≥ 0.5.12")),
    "lmstudio": (lm_studio.stats, lm_studio_answer()),
    "openai": (openai.usage, {"usage": {"completion_tokens": 64}}),
}
SCRAPES: dict[str, tuple[str, Callable[..., Reading], dict[str, Any], str]] = {
    "llama.cpp": (llama_cpp.PREFIX, llama_cpp.counters, {"requests": 1, "prompt_calls": 1}, llama_metrics(64, 5, 9, 36, 55, (5, 4))),
    "vllm": (vllm.PREFIX, vllm.counters, {"prompt_steps": 1}, vllm_metrics(64, 11, 21, 42, 46, 1, (8, 7, 6, 0))),
    "tensorrt-llm": (tensorrt_llm.PREFIX, tensorrt_llm.counters, {}, tensorrt_scrape(1)),
}
CORE = ("emitted", "rounds", "drafted", "verified")

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3), max_leaves=6)


def leaves(value: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(value, dict):
        return [path]
    return [path, *(found for key, each in value.items() for found in leaves(each, (*path, key)))][bool(not path) :]


def changed(value: object, path: tuple[str, ...], new: object, *, name: str | None = None) -> Any:
    """`value` with what lies at `path` replaced, or renamed where there is a `name`."""
    if not path:
        return new
    assert isinstance(value, dict)
    key, *rest = path
    if not rest and name is not None:
        return {name if own == key else own: each for own, each in value.items()}
    return value | {key: changed(value[key], tuple(rest), new, name=name)}


def consistent(reading: Reading) -> None:
    """Each of the four counts is a number or is named as absent, with what was looked for."""
    missing = {each.count for each in reading.absent}
    for name in CORE:
        value = getattr(reading.counts, name)
        assert value is None or (type(value) is int and value >= 0)
        assert (value is None) == (name in missing)
    assert (reading.drafted_source == "absent") == (reading.counts.drafted is None)
    assert isinstance(reading.counts.broken(), list)
    assert str(reading.closure)


@pytest.mark.parametrize("engine", ANSWERS)
@settings(max_examples=150)
@given(data=st.data())
def test_an_answer_with_anything_in_it(engine: str, data: st.DataObject) -> None:
    """Catches an error of Python's own, and a reading that is neither a count nor absent, out of an answer that was changed at any place."""
    read, true = ANSWERS[engine]
    body = changed(true, data.draw(st.sampled_from(leaves(true))), data.draw(anything))
    with contextlib.suppress(NotUnderstood):
        consistent(read(body))


@pytest.mark.parametrize("engine", ANSWERS)
@given(body=st.dictionaries(st.sampled_from(["timings", "usage", "metrics", "meta_info", "stats"]) | st.text(max_size=4), anything, max_size=4))
def test_any_object(engine: str, body: dict[str, object]) -> None:
    """Catches an error of Python's own, and any count out of an object that has none."""
    with contextlib.suppress(NotUnderstood):
        reading = ANSWERS[engine][0](body)
        consistent(reading)
        assert (reading.counts.rounds, reading.counts.drafted, reading.counts.verified) == (None, None, None)


@pytest.mark.parametrize("engine", ANSWERS)
def test_each_renamed_key(engine: str) -> None:
    """Catches 0 for a count whose key was renamed, or which lies under another object."""
    read, true = ANSWERS[engine]
    before = read(true).counts
    for path in leaves(true):
        after = read(changed(true, path, None, name=f"{path[-1]}_v2")).counts
        assert all(getattr(after, name) in (None, getattr(before, name)) for name in CORE), path


@pytest.mark.parametrize("engine", SCRAPES)
def test_each_renamed_counter(engine: str) -> None:
    """Catches 0 for a counter that was renamed."""
    prefix, read, options, text = SCRAPES[engine]
    zero = "\n".join(f"{line.rpartition(' ')[0]} 0" if line.startswith(prefix) else line for line in text.splitlines())
    before = read(difference(parse(zero, prefix), parse(text, prefix)), **options).counts
    assert before.verified
    for name in {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line.startswith(prefix)}:
        renamed = [each.replace(name, f"{prefix}v2_{name.removeprefix(prefix)}") for each in (zero, text)]
        with contextlib.suppress(NotUnderstood):
            after = read(difference(*(parse(each, prefix) for each in renamed)), **options).counts
            differ = [each for each in CORE if getattr(after, each) not in (None, getattr(before, each))]
            # Where drafts by position are gone, those of iterations are what there is.
            assert differ == [] or (engine == "tensorrt-llm" and "accepted" not in name), (name, differ)


@pytest.mark.parametrize("engine", SCRAPES)
@settings(max_examples=150)
@given(data=st.data())
def test_a_scrape_with_anything_in_it(engine: str, data: st.DataObject) -> None:
    """Catches an error of Python's own out of a text that was changed at any place."""
    prefix, read, options, text = SCRAPES[engine]
    start = data.draw(st.integers(0, len(text)))
    other = text[:start] + data.draw(st.text(max_size=8) | st.sampled_from(['"', "{", "}", "\n", " 1e999", " NaN", "\\", " -1"]))
    other += text[start + data.draw(st.integers(0, 8)) :]
    with contextlib.suppress(NotUnderstood):
        first, last = parse(text, prefix), parse(other, prefix)
        consistent(read(difference(first, last), **options))


@given(text=st.text(max_size=200) | st.text(alphabet='e:_total{}"\\= 1.#,\n', max_size=60).map(lambda rest: "e:a_total" + rest))
def test_any_text(text: str) -> None:
    """Catches an error of the parser's own."""
    with contextlib.suppress(NotUnderstood):
        difference(parse(text, "e:"), parse(text, "e:")).total("e:a_total")


@given(slots=anything, config=st.dictionaries(st.text(max_size=3), anything))
def test_what_else_is_asked(slots: object, config: dict[str, object]) -> None:
    """Catches an error of Python's own out of slots, properties and configurations."""
    for asked in (lambda: llama_cpp.speculates(slots), lambda: llama_cpp.build(config), lambda: sglang.server_info(config)):
        with contextlib.suppress(NotUnderstood):
            asked()
    assert vllm.forced(config) is None


def test_what_was_run_and_what_was_not() -> None:
    """Catches a shape without its version, and an engine that nobody ran called run."""
    run = {shape.engine: shape.run for shape in shapes()}
    assert {engine for engine, version in run.items() if version} == {"llama.cpp", "vllm", "openai"}
    assert set(run) == {"llama.cpp", "vllm", "openai", "sglang", "tensorrt-llm", "lmstudio"}
    assert all(shape.read_from for shape in shapes())
    read = {ANSWERS[engine][0](ANSWERS[engine][1]).shape for engine in ANSWERS}
    assert read <= {shape.name for shape in shapes()}
