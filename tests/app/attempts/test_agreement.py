"""What a runner found against what was asked."""

from app.attempts.agreement import disagreements
from tests import factories


def test_a_hub_run_is_of_the_revision_that_was_asked() -> None:
    """Catches figures of other weights under the revision in the spec."""
    spec = factories.run_spec(model={"source": "hub", "repository": "org/a", "revision": "a" * 40})
    offer = factories.offer()
    found = dict(disagreements(factories.preflight_fact(target="org/a", revision="b" * 40), spec, offer))
    assert "a" * 40 in found["revision"]
    assert "revision" in dict(disagreements(factories.preflight_fact(target="org/a", revision=None), spec, offer))
    assert "revision" not in dict(disagreements(factories.preflight_fact(target="org/a", revision="a" * 40), spec, offer))
