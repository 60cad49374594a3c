"""One measurement is one, however it is spelt; two are two."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.domain.canonical import filled, text
from app.domain.catalogue import Part
from app.domain.spec import RunSpec
from app.domain.twins import measurement, twins
from tests import factories

OFFER = factories.offer()
scalars = st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3), max_leaves=6)
objects = st.dictionaries(st.text(min_size=1, max_size=6), values, max_size=5)


def respelt(draw: Any, value: Any) -> Any:
    """The same value as another client might write it: whole numbers as floats, keys in another order."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**53:
        return draw(st.sampled_from([value, float(value), -0.0 if value == 0 else value]))
    if isinstance(value, dict):
        return {name: respelt(draw, value[name]) for name in draw(st.permutations(list(value)))}
    return [respelt(draw, item) for item in value] if isinstance(value, list) else value


@given(st.data(), objects)
def test_spelling_and_defaults_do_not_make_another_measurement(data: st.DataObject, params: dict[str, Any]) -> None:
    """Catches a default that is written out, a float for a whole number, a −0.0 or an order of keys that is counted as one more try."""
    plain = [name for name, value in params.items() if not isinstance(value, dict | list)]
    names = data.draw(st.sets(st.sampled_from(plain))) if plain else set()
    schema = {"type": "object", "properties": {name: {"default": params[name]} for name in names}}
    offer = factories.offer(drafters=(Part(name="ngram", schema=schema),))
    left_out = {name: value for name, value in params.items() if name not in names}
    full, short = (factories.run_spec(drafter={"name": "ngram", "params": found}) for found in (params, respelt(data.draw, left_out)))
    assert measurement(full, offer) == measurement(short, offer)
    assert twins([full, short], [offer]) is not None


def alike(one: Any, other: Any) -> bool:
    """Equal as JSON means it, by another way than the canonical text."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float) and not isinstance(one, bool) and not isinstance(other, bool):
        return one == other and (type(one) is type(other) or abs(one) < 2**53)
    return type(one) is type(other) and bool(one == other)


@given(st.data(), values, values)
def test_canonical_texts_are_equal_where_values_are_and_nowhere_else(data: st.DataObject, one: Any, another: Any) -> None:
    """Catches a canonical form that loses something: true is not 1, text is not a number, a missing entry is not null."""
    for other in (another, respelt(data.draw, one), one):
        assert (text(one) == text(other)) == alike(one, other)


@pytest.mark.parametrize(("one", "other"), [(True, 1), (0, False), ("1", 1), (None, "null"), ({"a": None}, {}), ([], {}), (1, [1]), (0.5, 0)])
def test_near_values_are_not_one(one: Any, other: Any) -> None:
    assert text(one) != text(other)


@given(objects)
def test_a_spec_is_canonical_once_it_is_read(params: dict[str, Any]) -> None:
    """Catches a digest that changes when a stored spec is read again: a resumed run would be another measurement."""
    spec = factories.run_spec(drafter={"name": "ngram", "params": params})
    again = RunSpec.model_validate_json(spec.model_dump_json())
    assert (again, again.digest()) == (spec, spec.digest())


@pytest.mark.parametrize(
    "over",
    [
        {"drafter": "ngram"},
        {"drafter": {"name": "ngram", "params": {"max_ngram": 3.0}}},
        {"controller": {"name": "constant", "params": {"draft_tokens": 4}}},
        {"sampling": {"temperature": -0.0}},
        {"sampling": {"top_k": 5, "top_p": 0.5}},
        {"load": {"kind": "closed"}},
        {"engine": "transformers", "trials": 2},
    ],
)
def test_the_same_once_more(over: dict[str, Any]) -> None:
    found = twins([factories.run_spec(), factories.run_spec(language="en"), factories.run_spec(**over)], [OFFER])
    assert found is not None
    assert (found.first, found.second) == (1, 3)
    assert found.sentence.startswith("Runs 1 and 3 (ngram in ru) ask for the same measurement")


@pytest.mark.parametrize(
    "over",
    [
        {"drafter": {"name": "ngram", "params": {"max_ngram": 4}}},
        {"drafter": "layerskip"},
        {"sampling": {"seed": 2}},
        {"trials": 3},
        {"labels": {"gpu": "h200"}},
        {"suite": {"id": "everyday", "limit": 8, "profiles": ["chat"]}},
        {"stop": ["\n"]},
        {"load": {"concurrency": 2}},
    ],
)
def test_another_measurement(over: dict[str, Any]) -> None:
    """Catches a guard that refuses what a campaign is for."""
    assert twins([factories.run_spec(), factories.run_spec(**over)], [OFFER]) is None


def test_defaults_inside_of_an_object_are_filled_in() -> None:
    schema = {"properties": {"tree": {"properties": {"width": {"default": 2}, "depth": {"default": 3}}}, "length": {"default": 4}}}
    assert filled({"tree": {"width": 5}}, schema) == {"tree": {"width": 5, "depth": 3}, "length": 4}


def test_profiles_and_stop_strings_have_no_order() -> None:
    one = factories.run_spec(suite={"id": "everyday", "profiles": ["code", "chat"]}, stop=["a", "b"])
    other = factories.run_spec(suite={"id": "everyday", "profiles": ["chat", "code", "chat"]}, stop=["b", "a"])
    assert measurement(one) == measurement(other)


def test_a_margin_is_no_measurement() -> None:
    """Catches a family of one measurement that is judged until a margin suits."""
    found = twins([factories.run_spec(margin=0.02), factories.run_spec(margin=0.05)])
    assert found is not None
    assert found.sentence.startswith("Runs 1 and 2 (ngram in ru) differ in the margin of their verdict alone, 0.02 and 0.05:")


def test_deep_parameters_are_refused_in_a_sentence() -> None:
    """Catches a spec that overflows the stack of whoever reads it."""
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    with pytest.raises(ValidationError, match="nested more than 8 deep"):
        factories.run_spec(drafter={"name": "ngram", "params": {"a": deep}})
