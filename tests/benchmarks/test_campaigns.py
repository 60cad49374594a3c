"""The campaigns of all drafters are ones that the service and the runner take."""

from app.campaigns.schemas import CampaignIn
from benchmarks.campaigns import PLANS, body
from runners.parts import choose, drafters

# Plain decoding stands in every run.
ELSEWHERE = {"none"}


def test_every_plan_can_be_asked_for() -> None:
    """Catches a parameter that a drafter does not take any more, hours before a campaign would say so."""
    for plan in PLANS:
        specs = CampaignIn.model_validate(body(plan)).specs
        assert [spec.language for spec in specs] == ["ru", "en"]
        for spec in specs:
            choose(spec)


def test_no_drafter_is_forgotten() -> None:
    """Catches a drafter without a line in the table."""
    assert drafters().keys() - {plan.drafter for plan in PLANS} <= ELSEWHERE
