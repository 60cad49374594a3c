"""What comes with the board."""

from app.claims.published import BOARD
from runners.parts import drafters


def test_a_system_that_can_be_measured_names_its_drafter() -> None:
    """Catches a page that says there is no such drafter when there is, and a name that no run bears."""
    named = {entry.drafter for entry in BOARD if entry.drafter is not None}
    assert named <= drafters().keys()
    assert {"layerskip", "ngram", "draft-model", "s2moe", "specattn", "component", "knapspec", "clasp"} <= named
