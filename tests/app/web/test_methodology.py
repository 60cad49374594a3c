"""What the methodology page tells of the toy and of the gates."""

import pytest

from app.reports.shown import Shown
from app.reports.translate import gettext
from app.toy.kept import PRINTED, rows
from app.toy.table import row_of
from app.web import gate_rates
from app.web.toy_lesson import lesson
from runners.toy_experiment import ROWS, run

TIMED = {"wall_clock_ratio"}


def test_the_kept_toy_is_the_toy() -> None:
    """Catches a table that the experiment no longer gives; the clock alone may differ."""
    measured = {row.name: row_of(run(row).model_dump(mode="json")) for row in ROWS}
    assert [kept.run for kept in rows()] == list(measured)
    for kept in rows():
        assert kept.model_dump(exclude=TIMED) == measured[kept.run].model_dump(exclude=TIMED)


def test_the_three_acceptances_stand_apart() -> None:
    """Catches a row under the wrong definition: the source's shares come out of V ÷ E, the field's out of V ÷ D."""
    table = lesson("en").table
    assert [row[1:] for row in table.rows[:4]] == [
        ("77.4%", "75.0%", "82.9%"),
        ("77.4%", "75.0%", "82.9%"),
        ("85.5%", "75.0%", "78.9%"),
        ("77.4%", "75.0%", "81.7%"),
    ]
    assert {row.run: round(row.kept_per_new, 3) for row in rows() if row.run in PRINTED} == {name: share for name, (share, _) in PRINTED.items()}


def test_every_rate_has_its_interval_and_n() -> None:
    """Catches a share of wrong refusals without its interval, and a gate that was not judged shown as never wrong."""
    wrong, caught = gate_rates.wrong("en"), gate_rates.caught("en")
    cells = [cell for row in (*wrong.rows, *caught.rows) for cell in row[1:] if isinstance(cell, Shown)]
    assert len(cells) > 60
    for cell in cells:
        assert cell.why if cell.state == "absent" else (cell.value and cell.interval and " of " in cell.n)
    short = next(row for row in wrong.rows if "40 characters" in str(row[0]))
    assert [cell.state for cell in short[1:] if isinstance(cell, Shown)] == ["value", "value", "absent", "absent"]


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_every_simulated_rate_is_worded_with_interval_and_n(locale: str) -> None:
    """Catches a simulated case without words, a rate without interval or n, and one that stands under the wrong heading."""
    wrong, caught = gate_rates.simulated("none", locale), gate_rates.simulated("all", locale)
    gates = {gettext(name, locale) for name in gate_rates.GATES.values()}
    for table in (wrong, caught):
        assert {str(row[0]).partition(":")[0] for row in table.rows} == gates
    for case, cell in (*wrong.rows, *caught.rows):
        assert isinstance(cell, Shown)
        assert all((cell.value, cell.interval, cell.n)), case
        assert "%(" not in str(case)
    assert all("%" in text for text in gate_rates.noise(locale).values())
