"""What the form says a run will not be able to tell."""

import pytest

from app.web.order_words import lacking_for_speed
from tests.factories import run_spec


@pytest.mark.parametrize(
    ("load", "trials", "prompts", "words"),
    [
        (1, 1, 8, None),
        (1, 3, 7, "fewer than 8 prompts"),
        (4, 2, 12, None),
        (4, 2, None, None),
        (4, 3, 11, "three prompts for each request"),
        (4, 1, 24, "fewer than 4 trial pairs"),
    ],
)
def test_what_a_verdict_on_speed_would_lack(load: int, trials: int, prompts: int | None, words: str | None) -> None:
    """Catches a form that promises a verdict which the measurement cannot give, or withholds one that it can: under load trial pairs decide."""
    found = lacking_for_speed(run_spec(load={"concurrency": load}, trials=trials), prompts)
    assert found is None if words is None else words in str(found)
