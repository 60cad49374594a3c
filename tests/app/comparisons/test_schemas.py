"""One comparison, one address: what is asked of it can be written down and read back."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.comparisons.schemas import PLOTTED, Asked, asked
from app.errors import InvalidInput

ASKED = st.builds(
    Asked,
    runs=st.lists(st.integers(1, 10**6), min_size=2, max_size=8, unique=True).map(tuple),
    load=st.none() | st.sampled_from(["1", "4", "open-2-s4", "open-2-b0.5-s4"]),
    position=st.sampled_from(["at", "all", "given"]),
    figures=st.lists(st.sampled_from(PLOTTED), unique=True).map(tuple),
)


@given(ASKED)
def test_an_address_is_read_back_as_it_was_written(what: Asked) -> None:
    """Catches a link that shows something else than its sender saw."""
    found = parse_qs(urlsplit(what.address()).query)
    read = asked(found["runs"], found.get("load", [None])[0], found.get("position", ["at"])[0], found.get("figure", []))  # type: ignore[arg-type]
    assert read == what


@given(ASKED, st.randoms())
def test_the_order_of_all_but_the_first_run_does_not_matter(what: Asked, chance: object) -> None:
    """Catches two links to one comparison that a cache, a log or a reader takes for two."""
    rest = list(what.runs[1:])
    chance.shuffle(rest)  # type: ignore[attr-defined]
    other = Asked((what.runs[0], *rest), what.load, what.position, tuple(reversed(what.figures)))
    assert other.canonical() == what.canonical()
    assert what.canonical().canonical() == what.canonical()
    assert what.canonical().runs[0] == what.runs[0]


def test_all_plots_are_no_choice() -> None:
    assert Asked((1, 2), figures=PLOTTED).canonical().address() == "/compare?runs=1,2"


def test_an_unknown_plot_is_named() -> None:
    with pytest.raises(InvalidInput, match=r'There is no plot "forrest"\. Did you mean forest\?'):
        asked(["1,2"], None, "at", ["forrest"])
