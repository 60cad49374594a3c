"""Runs of different engines side by side: what may be contrasted, what is named, and what no plot shows without saying so."""

from typing import Any

from app.reports.axes import canonical, differences
from app.reports.build import measured
from app.reports.compare import compare
from app.reports.figures import latency, lengths, throughput
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.report import Report
from app.web.passport import full, part
from tests import factories, factories_served

LLAMA: dict[str, Any] = {"engine_version": "llama.cpp b11434", "engine_build": "b11434", "engine_command": ("llama-server", "--port", "1")}


def record(run: int, *, engine: str = "llama", language: str = "ru", **seen: Any) -> RunRecord:
    spec = {"engine": engine, "drafter": {"name": "ngram-simple", "params": {}}, "trials": 3} if engine != "transformers" else {"trials": 3}
    told = LLAMA if engine == "llama" else {}
    found = factories.record(run=run, spec=factories.run_spec(language=language, **spec))
    return found.model_copy(update={"preflight": factories.preflight_fact(**told | seen)})


def reported(found: RunRecord) -> Report:
    return measured(found).report


def test_two_engines_are_held_against_each_other_by_ratios() -> None:
    """Catches a comparison of our own n-gram with a server's that is refused because the engines differ, which is what it asks."""
    found = compare([record(1), record(2, engine="transformers")])
    assert found.comparable
    assert found.pairs[0].axis == "engine"
    assert say(found.question) == "Does ngram-simple on llama pay as well as ngram on transformers in Russian?"
    differing = {each.field: each for each in found.differences}
    assert {"engine", "engine_version", "engine_build", "engine_command", "drafter"} <= differing.keys()
    assert differing["engine_version"].values == ("llama.cpp b11434", "5.24.0")
    assert differing["controller"].values[0] == "the engine's own"
    assert not [each for each in found.differences if each.forbids]
    assert "1 (llama)" in say(found.answer)


def test_the_same_file_unpacked_or_not_is_another_engine() -> None:
    """Catches our own loop, which unpacks the weights of a GGUF file, that is not held against the server that computes with them as they are."""
    found = compare([record(1, quantisation="Q4_1"), record(2, engine="transformers", quantisation="Q4_1 (dequantised)")])
    assert found.pairs[0].axis == "engine"
    assert found.comparable
    assert "quantisation" in {each.field for each in found.differences}


def test_other_weights_are_no_other_engine() -> None:
    """Catches a quantised file on a server, taken for the model that our own loop ran."""
    found = compare([record(1, quantisation="Q4_K_M", weights_digest="0" * 64), record(2, engine="transformers")])
    assert not found.comparable


def test_an_engine_is_no_other_language() -> None:
    """Catches Russian on one engine held against English on another, as if the language alone made the difference."""
    assert not compare([record(1), record(2, engine="transformers", language="en")]).comparable


def test_what_an_operator_added_forbids_speed() -> None:
    """Catches two runs of one engine that differ in a flag of the runner's own file, and are contrasted by the clock."""
    one, other = (compare([record(1), record(2, engine_arguments=words)]) for words in ((), ("--cache-type-k", "q8_0")))
    assert one.comparable
    assert other.pairs[0].allowed is not None
    assert next(each for each in other.differences if each.field == "engine_arguments").forbids is not None


def test_a_port_is_no_difference_between_measurements() -> None:
    """Catches repeats of one run that may not be contrasted since a server was given another port."""
    a, b = (reported(found).passport for found in (record(1), record(2, engine_command=("llama-server", "--port", "2"))))
    assert a is not None
    assert b is not None
    assert canonical(a, "engine_command") != canonical(b, "engine_command")
    assert differences([a, b]).forbidden == {}


def test_speeds_of_two_engines_are_not_drawn_without_their_differences() -> None:
    """Catches tokens per second of two engines in one plot that does not say what differs beside the drafter."""
    mixed = [reported(record(1)), reported(record(2, engine="transformers"))]
    for build in (throughput.build, latency.build):
        assert "llama llama.cpp b11434; transformers 5.24.0" in build(mixed, "en").caption
        assert "engine's version" in build(mixed, "en").caption
        assert "разных движков" in build(mixed, "ru").caption
        assert "different engines" not in build(mixed[:1], "en").caption


def test_the_passport_has_the_command() -> None:
    """Catches a passport that hides how a server was started, and one that shows a server where there was none."""
    rows = {term: value for _, group in full(reported(record(1)), "en") for term, value, _ in group}
    assert rows["engine"] == "llama llama.cpp b11434"
    assert rows["command of the speculative arm"] == "llama-server --port 1"
    assert rows["forwards"] == "as the engine has them"
    assert rows["draft length"] == "the engine's own"
    own = {term for _, group in full(reported(record(2, engine="transformers")), "en") for term, *_ in group}
    assert "command of the speculative arm" not in own
    attached = {term: value for _, group in full(reported(record(1, engine_command=())), "en") for term, value, _ in group}
    assert attached["command of the speculative arm"] == "not known: it ran already"


def test_no_controller_is_said_to_decide_for_a_server() -> None:
    """Catches a plot that credits our own controller, named in every spec, with an engine's drafts."""
    captions = [lengths.build([reported(found)], "en").caption for found in (record(1), record(2, engine="transformers"))]
    assert ["the engine decides how long drafts are" in caption for caption in captions] == [True, False]
    assert ["controller constant" in caption for caption in captions] == [False, True]
    assert "ngram-simple (llama) · constant" not in str(lengths.build([reported(record(1)), reported(record(2, engine="transformers"))], "en"))


def test_a_drafter_of_a_server_is_called_with_its_engine() -> None:
    """Catches the n-gram of two engines under one name."""
    spec = factories_served.run_spec()
    assert (spec.drafter_title, factories.run_spec().drafter_title) == ("ngram-simple (llama)", "ngram")
    assert part(spec.drafter, spec.engine) == "ngram-simple (llama; size_n 2)"
