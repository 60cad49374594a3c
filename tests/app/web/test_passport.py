"""How answers are drawn, as the passport says it."""

import pytest

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
