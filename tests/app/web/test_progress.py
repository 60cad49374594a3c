"""What a run's page says while the run goes."""

import re
from datetime import UTC, datetime

import pytest

from app.domain.facts import ProgressFact
from app.domain.status import RunState
from app.runs.schemas import RunSummary
from app.web.progress import show
from app.web.render import fragment
from tests import factories


def running() -> RunSummary:
    fact = ProgressFact(stage="trial", done=5, total=8, remaining=60.0)
    return RunSummary(
        id=1, state=RunState.RUNNING, spec=factories.run_spec(), created_at=datetime(2026, 1, 1, tzinfo=UTC), attempt=2, runner="local", progress=fact
    )


def detail(locale: str, half_width: float | None, repeated: int = 0) -> str:
    fact = ProgressFact(stage="trial", done=5, total=8, remaining=60.0, half_width=half_width, repeated=repeated)
    summary = RunSummary(
        id=1, state=RunState.RUNNING, spec=factories.run_spec(), created_at=datetime(2026, 1, 1, tzinfo=UTC), attempt=1, progress=fact
    )
    return show(summary, locale).detail


@pytest.mark.parametrize(("locale", "half_width", "said"), [("en", 0.0412, "± 4.1%."), ("en", 0.204, "± 20%."), ("ru", 0.0412, "± 4,1\u00a0%.")])
def test_the_width_to_come_is_said(locale: str, half_width: float, said: str) -> None:
    """Catches a share printed as a ratio, and digits that a forecast does not have."""
    assert detail(locale, half_width).endswith(said)


def test_nothing_is_said_of_a_width_that_is_not_known() -> None:
    """Catches ± 0 before the second block is over."""
    assert "±" not in detail("en", None)
    assert "measured once more" in detail("en", 0.04, repeated=1)


@pytest.mark.parametrize(("locale", "said"), [("en", "attempt 2 of 3 on local"), ("ru", "попытка 2 из 3 на local")])
def test_attempt_and_runner_are_two_words(locale: str, said: str) -> None:
    """Catches "attempt 2 of 3on local"."""
    html = fragment("_progress.html", locale, run=running(), progress=show(running(), locale))
    assert said in " ".join(re.sub("<[^>]+>", "", html).split())


@pytest.mark.parametrize(
    ("engine", "steps"),
    [
        ("own", ["trials", "timing draft and verification", "comparing outputs", "computing"]),
        ("llama", ["trials", "computing"]),
    ],
)
def test_a_run_lists_the_stages_that_it_has(engine: str, steps: list[str]) -> None:
    """Catches stages on the page of a served run that no such run ever reaches."""
    summary = running()
    summary = summary.model_copy(update={"spec": summary.spec.model_copy(update={"engine": engine} if engine != "own" else {})})
    assert [name for name, _, _ in show(summary, "en").steps][-len(steps) - 1 :] == ["warming up", *steps]


def test_the_tiles_follow_the_progress() -> None:
    """Catches a tile that waits for a step which is long over, and the words for the tiles printed on the page itself."""
    told = {"run": running(), "progress": show(running(), "en")}
    assert 'hx-swap-oob="innerHTML:.tile .pending">waits for step 6 of 8</span>' in fragment("_progress.html", "en", live=True, **told)
    assert "waits for step" not in fragment("_progress.html", "en", **told)
