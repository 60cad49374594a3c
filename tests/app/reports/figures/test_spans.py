"""The strip of windows: the largest is a dot among others and nowhere a figure."""

from collections.abc import Sequence
from typing import Any

import pytest

from app.domain.facts import RequestFact
from app.reports.build import build
from app.reports.figures import spans
from app.reports.report import Report
from tests import factories
from tests.app.metrics.test_places import answer, plain

WINDOW: list[tuple[int, int] | None] = [(4, 4)] * 7
SLOW: list[tuple[int, int] | None] = [(4, 1)] * 16


def measured(prompts: int = 8, **over: Any) -> list[RequestFact]:
    """Four passes; per prompt a window of 7 rounds for 35 tokens and one of 16 rounds for 32, plain a second a token and a round two."""
    found = []
    for number in range(1, prompts + 1):
        prompt = f"ru-{number:02}"
        for trial in range(4):
            same: dict[str, Any] = {"prompt": prompt, "trial": trial, "seed": number} | over
            found += [plain(68, order=trial % 2, **same), answer([*WINDOW, *SLOW], step=2.0, order=1 - trial % 2, **same)]
    return found


def report(facts: Sequence[RequestFact]) -> Report:
    record = factories.record(language="ru")
    return build(record.model_copy(update={"requests": tuple(facts), "trials": tuple(factories.trials(list(facts)))}))


def test_the_largest_is_named_after_how_many_it_was_chosen_from() -> None:
    """Catches a best window that is quoted like a speed-up: 2.5 of 16 windows, whose middle is 1.75."""
    found = report(measured())
    assert found.peak is not None
    assert found.peak.speedup == pytest.approx(35 / 14)
    assert (found.peak.n, found.peak.first, found.peak.last) == (16, 2, 36)
    assert not [cell for cell in found.cells if "max" in str(cell.part)]
    plot = spans.build([found], "en")
    assert plot.figure is not None
    assert [note["text"].replace("\u00a0", " ") for note in plot.figure["layout"]["annotations"]] == ["maximum of 16 windows"]
    middle = [trace for trace in plot.figure["data"] if trace["marker"]["size"] == 13]
    assert [trace["x"] for trace in middle] == [[pytest.approx((35 / 14 + 1.0) / 2)]]


def test_without_windows_there_is_no_dot_but_a_reason() -> None:
    """Catches a largest that stands alone, and an empty box."""
    found = report([fact for i in range(1, 9) for fact in (plain(16, prompt=f"ru-{i:02}"), answer([(4, 2)] * 5, prompt=f"ru-{i:02}"))])
    assert found.peak is None
    plot = spans.build([found], "en")
    assert (plot.figure, "long enough" in plot.empty) == (None, True)


def test_a_refused_run_has_no_largest() -> None:
    """Catches a dot that tells the speed of a run whose speed is refused."""
    found = report(measured(degenerate=True))
    assert found.peak is None
    plot = spans.build([found], "en")
    assert plot.figure is None
    assert plot.empty
