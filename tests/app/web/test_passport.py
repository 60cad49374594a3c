"""How answers are drawn, as the passport says it."""

import pytest

from app.domain.observations import LearnedFact
from app.domain.spec import Sampling
from app.reports.build import build
from app.web.passport import compact, full, sampling
from tests.factories import record, run_spec

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


def test_what_a_drafter_learned_stands_with_its_parameters() -> None:
    """Catches blocks that are counted from another end, and costs that the drafter did not choose by."""
    learned = LearnedFact(tokens=40, left_out=(0, 0, 0.75, 0.25, 0, 1.0), attention=0.002, attention_per_entry=0.0, mlp=0.003)
    found = build(record().model_copy(update={"learned": learned}))
    rows = {term: value for _, group in full(found, "en") for term, value, _ in group}
    assert rows["blocks left out of most drafts"] == "attention 2 (75.0%), MLP 3 (100.0%)"
    assert rows["costs that they were chosen by"].replace("\u00a0", " ") == "attention 2.0 ms, MLP 3.0 ms a token"
    assert "blocks left out of most drafts" not in {term for _, group in full(build(record()), "en") for term, _, _ in group}
