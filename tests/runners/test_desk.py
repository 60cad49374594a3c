"""What a child writes down of how a run ended."""

from pathlib import Path

import pytest

from app.domain.withheld import REASON
from runners.desk import Desk
from runners.job import folder_of
from tests import factories


@pytest.mark.parametrize(("private", "reason"), [(True, REASON), (False, "too long: a heron")])
def test_the_words_of_an_error_stay_with_a_private_suite(tmp_path: Path, private: bool, reason: str) -> None:
    """Catches a prompt that an error quotes, on its way to the service and the runner's log."""
    desk = Desk(tmp_path, 1, lambda: False, private=private)
    desk.end(0, factories.finish_fact(outcome="failed", code="suite_refused", reason="too long: a heron"))
    written = "".join(path.read_text() for path in folder_of(tmp_path, 0).iterdir())
    assert ("heron" in written, reason in written, "suite_refused" in written) == (not private, True, True)
