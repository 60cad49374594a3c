"""Which offers can answer a spec."""

import pytest

from app.domain.catalogue import OfferedModel
from app.runners_registry.fitting import labelled, problems, serves
from tests import factories

OTHER = OfferedModel(source="hub", name="org/other", tokenizer="org/other")


def test_two_halves_are_not_one_runner() -> None:
    """Catches a run that is accepted although its model and its drafter are on different machines."""
    model_only = factories.offer(drafters=(factories.offer().drafters[1],))
    drafter_only = factories.offer(models=(OTHER,))
    found = problems(factories.run_spec(drafter="ngram"), [model_only, drafter_only])
    assert [(field["pointer"], "together" in field["detail"]) for field in found] == [("", True)]
    assert problems(factories.run_spec(drafter="ngram"), [model_only, drafter_only, factories.offer()]) == []


def test_one_runner_that_takes_the_parameters_is_enough() -> None:
    """Catches a refusal because some older runner does not know a parameter."""
    old = factories.offer()
    newer = factories.offer(
        drafters=(old.drafters[0].model_copy(update={"schema_": {"type": "object", "properties": {"fresh": {"type": "integer"}}}}),)
    )
    spec = factories.run_spec(drafter={"name": "ngram", "params": {"fresh": 1}})
    assert problems(spec, [old, newer]) == []
    assert (serves(spec, old), serves(spec, newer)) == (False, True)


@pytest.mark.parametrize(
    ("asked", "offered", "fits"), [({}, {"gpu": "a"}, True), ({"gpu": "a"}, {"gpu": "a", "b": "c"}, True), ({"gpu": "a"}, {}, False)]
)
def test_labels(asked: dict[str, str], offered: dict[str, str], fits: bool) -> None:
    """Catches a run that asked for one machine and went to another."""
    assert labelled(factories.run_spec(labels=asked), factories.offer(labels=offered)) is fits


def test_a_regional_tag_finds_its_language() -> None:
    """Catches a suite in pt that refuses pt-BR."""
    assert problems(factories.run_spec(language="ru-RU"), [factories.offer()]) == []


def test_a_hub_model_fits_at_its_own_revision_alone() -> None:
    """Catches a hub model that nobody can ask for, and one that is accepted at a revision no runner may load."""
    revision = "a" * 40
    offer = factories.offer(models=(OTHER.model_copy(update={"revision": revision}),))
    asked = {"source": "hub", "repository": "org/other", "revision": revision}
    assert problems(factories.run_spec(model=asked), [offer]) == []
    (found,) = problems(factories.run_spec(model=asked | {"revision": "b" * 40}), [offer])
    assert found["pointer"] == "/model/revision"
    assert revision in found["detail"]
    assert problems(factories.run_spec(model={"source": "hub", "repository": "org/other"}), [offer])


def test_a_model_of_the_zoo_is_offered_by_its_name() -> None:
    """Catches a source that the offers are not searched by, and a package of the same name taken for it."""
    offer = factories.offer(models=(OfferedModel(source="zoo", name="dense", tokenizer="zoo:dense", chat_template=False),))
    assert problems(factories.run_spec(model={"source": "zoo", "package": "dense"}), [offer]) == []
    (found,) = problems(factories.run_spec(model={"source": "zoo", "package": "dens"}), [offer])
    assert (found["pointer"], "Did you mean dense?" in found["detail"]) == ("/model/package", True)
    assert problems(factories.run_spec(model={"source": "package", "package": "dense"}), [offer])


def test_compiled_forwards_need_a_runner_that_can() -> None:
    """Catches a run that waits for ever, or fails on a machine that could have said no before."""
    spec = factories.run_spec(compile=True)
    (found,) = problems(spec, [factories.offer()])
    assert (found["pointer"], "C++ compiler" in found["detail"]) == ("/compile", True)
    assert problems(spec, [factories.offer(), factories.offer(compiles=True)]) == []
    assert not serves(spec, factories.offer())
