"""What is asked of a run: nothing that decides a number has a silent default, nothing unknown passes."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.domain.spec import ModelSource, RunSpec
from tests.factories import run_spec, spec_body


def locations(body: dict[str, Any]) -> list[tuple[tuple[int | str, ...], str]]:
    with pytest.raises(ValidationError) as error:
        RunSpec.model_validate(body)
    return [(item["loc"], item["type"]) for item in error.value.errors()]


@pytest.mark.parametrize("field", ["model", "drafter", "language", "tokenizer", "suite"])
def test_a_missing_field_is_named(field: str) -> None:
    """Catches a default language or tokenizer, the one thing this service refuses to guess."""
    body = spec_body()
    del body[field]
    assert locations(body) == [((field,), "missing")]


def test_an_empty_spec_names_everything_that_it_needs() -> None:
    assert {place for place, _ in locations({})} == {("model",), ("drafter",), ("language",), ("tokenizer",), ("suite",)}


@pytest.mark.parametrize("field", ["language", "tokenizer"])
@pytest.mark.parametrize("value", ["", None])
def test_an_empty_value_is_no_value(field: str, value: object) -> None:
    assert [place for place, _ in locations(spec_body(**{field: value}))] == [(field,)]


@pytest.mark.parametrize(
    ("place", "body"),
    [
        (("lang",), spec_body(lang="ru")),
        (("model", "trust_remote_code"), spec_body(model={"source": "hub", "repository": "a/b", "trust_remote_code": True})),
        (("drafter", "param"), spec_body(drafter={"name": "ngram", "param": {}})),
        (("suite", "path"), spec_body(suite={"id": "parallel-v1", "path": "/etc/passwd"})),
        (("sampling", "temprature"), spec_body(sampling={"temprature": 1})),
        (("load", "speed"), spec_body(load={"kind": "closed", "speed": 4})),
    ],
)
def test_an_unknown_field_is_refused_at_its_place(place: tuple[str, ...], body: dict[str, Any]) -> None:
    """Catches a misspelt field that would silently measure something else, and remote code."""
    assert locations(body) == [(place, "extra_forbidden")]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"source": "hub"}, "a model of source hub is named by repository, which is missing"),
        ({"source": "path", "repository": "a/b"}, "a model of source path is named by path, which is missing"),
        ({"source": "package", "package": "x", "path": "/x"}, "a model of source package is named by package alone; leave path out"),
        ({"source": "zoo"}, "a model of source zoo is named by package, which is missing"),
        ({"source": "zoo", "package": "dense", "repository": "a/b"}, "a model of source zoo is named by package alone; leave repository out"),
        ({"source": "hub", "repository": "a/b", "path": "/x", "package": "x"}, "leave path, package out"),
        ({"source": "url", "repository": "a/b"}, "Input should be 'hub', 'path', 'package' or 'zoo'"),
    ],
)
def test_a_model_names_exactly_its_source(model: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        ModelSource.model_validate(model)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_new_tokens", 1),
        ("max_new_tokens", 8193),
        ("trials", 0),
        ("trials", 51),
        ("margin", -0.01),
        ("margin", float("nan")),
        ("stop", ["a"] * 5),
        ("stop", [""]),
        ("labels", {f"k{number}": "v" for number in range(9)}),
        ("load", {"concurrency": 0}),
        ("load", {"kind": "open"}),
        ("sampling", {"temperature": float("inf")}),
        ("sampling", {"top_p": 0}),
        ("sampling", {"seed": -1}),
        ("suite", {"id": "../x"}),
        ("suite", {"id": "x", "limit": 0}),
        ("drafter", {"name": "ngram", "params": {"x": "y" * 5000}}),
        ("drafter", {"name": "ngram", "params": {"x": float("nan")}}),
        ("drafter", "two words"),
        ("chat_template", "auto"),
        ("tokenizer", "x" * 257),
    ],
)
def test_values_are_bounded(field: str, value: object) -> None:
    """Catches a run that takes a week, a number that is none, and a name that is a path."""
    assert {place[0] for place, _ in locations(spec_body(**{field: value}))} == {field}


def test_compiling_is_an_option_of_our_own_engine() -> None:
    """Catches an engine that is started without what was asked of it, and is compared as if it had it."""
    assert run_spec(compile=True).compile
    with pytest.raises(ValueError, match="compile is an option of the engine transformers"):
        run_spec(compile=True, engine="llama_cpp")


def test_a_part_may_be_named_alone() -> None:
    assert run_spec(drafter="none").drafter == run_spec(drafter={"name": "none", "params": {}}).drafter


def test_defaults_are_those_of_the_definitions() -> None:
    """Catches a changed default of definitions § 3, which would change every verdict."""
    spec = RunSpec.model_validate({key: value for key, value in spec_body().items() if key not in {"max_new_tokens", "trials"}})
    assert (spec.trials, spec.margin, spec.sampling.temperature, spec.load.concurrency, spec.verifier.name) == (3, 0.02, 0.0, 1, "exact")


def test_equal_specs_have_equal_digests_whatever_the_spelling() -> None:
    """Catches a digest over the request body: order of keys, case of the tag and defaults written out are one measurement."""
    body = spec_body()
    spelled = dict(reversed(list(body.items()))) | {"language": "RU", "margin": 0.02, "engine": "transformers"}
    assert RunSpec.model_validate(spelled).digest() == RunSpec.model_validate(body).digest()


@pytest.mark.parametrize(
    "change",
    [{"language": "en"}, {"tokenizer": "other"}, {"trials": 4}, {"stop": ["\n"]}, {"ignore_eos": True}, {"drafter": "none"}],
)
def test_different_specs_have_different_digests(change: dict[str, Any]) -> None:
    """Catches a field that the digest leaves out."""
    assert run_spec(**change).digest() != run_spec().digest()


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        run_spec().language = "en"  # type: ignore[misc]


@pytest.mark.parametrize(
    "over",
    [
        {"sampling": {"temperature": 1e-300}, "verifier": "rejection"},
        {"sampling": {"temperature": 1.0, "top_p": 1e-300}, "verifier": "rejection"},
        {"load": {"kind": "open", "rate": 1e-6}},
        {"load": {"kind": "open", "rate": 5, "burstiness": 0.001}},
    ],
)
def test_what_no_number_can_carry_is_refused(over: dict[str, Any]) -> None:
    """Catches a temperature whose quotients are infinite, a nucleus of nothing, arrivals in weeks, and a burst called a rate."""
    with pytest.raises(ValidationError):
        RunSpec.model_validate(spec_body(**over))
