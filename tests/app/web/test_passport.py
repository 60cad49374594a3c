"""How answers are drawn, as the passport says it."""

import pytest

from app.domain.observations import LearnedFact
from app.domain.spec import Choice, Sampling
from app.reports.axes import canonical, shown
from app.reports.build import build
from app.web.passport import compact, full, part, sampling
from tests import factories_served
from tests.factories import preflight_fact, record, run_spec

DRAWN = Sampling(temperature=0.7, top_k=50, top_p=0.95, seed=12345)


@pytest.mark.parametrize(
    ("found", "locale", "said"),
    [
        (DRAWN, "en", "temperature 0.7, top-k 50, top-p 0.95, seed 12345"),
        (DRAWN, "ru", "температура 0,7, top-k 50, top-p 0,95, зерно 12345"),
        (Sampling(temperature=1.0), "en", "temperature 1, seed 1"),
        (Sampling(top_k=50), "en", "greedy"),
        (Sampling(), "ru", "жадное декодирование"),
    ],
)
def test_sampling_in_words(found: Sampling, locale: str, said: str) -> None:
    """Catches a cut that was in force and is not named, and one that is named although greedy decoding draws nothing."""
    assert sampling(found, locale) == said


def test_the_line_names_the_temperature_of_drawn_answers_alone() -> None:
    """Catches acceptance at a temperature shown as if it were greedy."""
    drawn = build(record(spec=run_spec(sampling=DRAWN, verifier={"name": "rejection"})))
    assert compact(drawn, "en")[-1] == ("sampling", sampling(DRAWN, "en"))
    assert [term for term, _ in compact(build(record()), "en")] == ["target", "drafter", "language", "tokenizer", "load"]
    rows = {term: value for _, group in full(drawn, "en") for term, value, _ in group}
    assert rows["sampling"] == sampling(DRAWN, "en")
    assert rows["verification"] == "rejection, lossless"


@pytest.mark.parametrize(
    ("locale", "term", "said"),
    [
        ("en", "dtype", "float32 between operations; the weights stay Q4_1"),
        ("ru", "тип чисел", "float32 между операциями, веса остаются в Q4_1"),
    ],
)
def test_weights_that_stay_quantised_are_named_with_the_type(locale: str, term: str, said: str) -> None:
    """Catches "float32" of a run whose weights have four bits: beside one in float32 it would look like the same arithmetic."""
    found = record(spec=factories_served.run_spec())
    seen = preflight_fact(dtype="float32", quantisation="Q4_1", cache_dtype="float16", engine_version="llama.cpp b11434")
    report = build(found.model_copy(update={"preflight": seen}))
    rows = {term: value for _, group in full(report, locale) for term, value, _ in group}
    assert rows[term] == said
    assert {each.dtype for each in report.losslessness} == {"Q4_1"}
    assert report.passport is not None
    assert shown(report.passport, "dtype") == "Q4_1, float32"
    assert canonical(report.passport, "dtype") == '"float32"'


def test_weights_that_are_made_into_floats_are_of_their_type() -> None:
    """Catches our own loop, which computes with what it made of a GGUF file, told as if it computed with the file."""
    seen = preflight_fact(dtype="float32", quantisation="Q4_1 (dequantised)")
    report = build(record().model_copy(update={"preflight": seen}))
    rows = {term: value for _, group in full(report, "en") for term, value, _ in group}
    assert (rows["dtype"], rows["quantisation"]) == ("float32", "Q4_1 (dequantised)")
    assert {each.dtype for each in report.losslessness} == {"float32"}


@pytest.mark.parametrize("params", [{"model": "package:m", "rates": None}, {"rates": None, "model": "package:m", "window": None}])
def test_a_parameter_that_is_left_to_its_part_says_nothing(params: dict[str, object]) -> None:
    """Catches "rates None" behind a drafter, in any language."""
    asked = Choice(name="draft-model", params=params)
    assert part(asked, "llama") == "draft-model (llama; model package:m)"
    assert part(Choice(name="draft-model", params={"rates": None})) == "draft-model"


def test_what_a_drafter_learned_stands_with_its_parameters() -> None:
    """Catches blocks that are counted from another end, and costs that the drafter did not choose by."""
    learned = LearnedFact(tokens=40, left_out=(0, 0, 0.75, 0.25, 0, 1.0), attention=0.002, attention_per_entry=0.0, mlp=0.003)
    found = build(record().model_copy(update={"learned": learned}))
    rows = {term: value for _, group in full(found, "en") for term, value, _ in group}
    assert rows["blocks left out of most drafts"] == "attention 2 (75.0%), MLP 3 (100.0%)"
    assert rows["costs that they were chosen by"].replace("\u00a0", " ") == "attention 2.0 ms, MLP 3.0 ms a token"
    assert "blocks left out of most drafts" not in {term for _, group in full(build(record()), "en") for term, _, _ in group}
