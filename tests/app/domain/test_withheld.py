"""What is told of a private suite."""

import pytest

from app.domain.facts import FACT
from app.domain.observations import DivergenceFact
from app.domain.withheld import REASON, revealed, withhold
from tests import factories

PARTED = DivergenceFact(
    purpose="headline", trial=0, prompt="p", seed=1, position=3, judgement="violation", gap=2.0, tolerance=0.5, plain_token=4, speculative_token=5,
    plain_text="heron", speculative_text="stork",
)  # fmt: skip


def test_an_answer_leaves_as_a_digest() -> None:
    """Catches ids or text that stay, and counts or the digest that go with them."""
    fact = factories.request_fact()
    assert list(revealed(fact)) == ["output_ids", "output_text"]
    kept = FACT.validate_json(withhold(fact).model_dump_json())
    assert list(revealed(kept)) == []
    assert kept.model_dump(exclude={"output_ids", "output_text"}) == fact.model_dump(exclude={"output_ids", "output_text"})


@pytest.mark.parametrize("fact", [PARTED, PARTED.model_copy(update={"gap": None, "speculative_token": None, "speculative_text": None})])
def test_a_divergence_is_judged_but_not_shown(fact: DivergenceFact) -> None:
    """Catches the first words at which answers part, and a fact that is refused for lacking them."""
    kept = FACT.validate_json(withhold(fact).model_dump_json())
    assert isinstance(kept, DivergenceFact)
    assert list(revealed(kept)) == []
    assert (kept.judgement, kept.position, kept.gap) == (fact.judgement, fact.position, fact.gap)


def test_withheld_is_not_told() -> None:
    """Catches a fact that says both."""
    with pytest.raises(ValueError, match="what is withheld is not told"):
        DivergenceFact.model_validate(PARTED.model_dump() | {"withheld": True})


@pytest.mark.parametrize(("outcome", "reason"), [("failed", REASON), ("cancelled", ""), ("succeeded", "")])
def test_an_end_keeps_its_code_alone(outcome: str, reason: str) -> None:
    """Catches an error's words that quote a prompt, and a code or the advice to retry that go with them."""
    kept = withhold(factories.finish_fact(outcome=outcome, code="killed", reason="heron", retry_makes_sense=True))
    assert (kept.outcome, kept.code, kept.retry_makes_sense, kept.reason) == (outcome, "killed", True, reason)


def test_other_facts_are_as_they_were() -> None:
    trial = factories.trial_fact()
    assert withhold(trial) is trial
