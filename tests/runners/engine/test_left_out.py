"""What drafters that choose as they go came to."""

from typing import Any

import pytest

from app.domain.observations import LearnedFact
from app.domain.spec import Choice
from runners.engine.blocks import BlockCosts
from runners.engine.left_out import LeftOut
from runners.engine.loop import Loop
from runners.engine.stops import StopRules
from tests import models


def test_shares_are_of_draft_tokens() -> None:
    """Catches shares of rounds, of layers in the place of blocks, and costs that nobody measured."""
    seen = LeftOut(3)
    assert seen.fact() is None
    for skips in ([frozenset({2, 3})], [frozenset({2}), frozenset()], [frozenset({2})]):
        seen.note(skips)
    assert seen.fact() == LearnedFact(tokens=4, left_out=(0, 0, 0.75, 0.25, 0, 0))
    assert seen.fact(BlockCosts(0.2, 0.001, 0.3)) == LearnedFact(
        tokens=4, left_out=(0, 0, 0.75, 0.25, 0, 0), attention=0.2, attention_per_entry=0.001, mlp=0.3
    )
    seen.clear()
    assert seen.fact() is None


def ran(name: str, params: dict[str, Any]) -> tuple[Loop, int]:
    asked = models.spec(name, params).model_copy(update={"controller": Choice(name="constant", params={"length": 2})})
    loop = models.loop_of(models.tiny("llama"), asked, StopRules(24, frozenset(), (), str))
    return loop, sum(done.drafted for done in loop.run(models.prompts(3), 2))


@pytest.mark.parametrize(
    ("name", "params", "weight"),
    [("swift", {"ratio": 0.5}, 4), ("clasp", {"skipped": 2}, 4), ("knapspec", {"attention": 2.0}, None), ("knapspec", {}, None)],
)
def test_each_of_them_tells_what_it_left_out(name: str, params: dict[str, Any], weight: int | None) -> None:
    """Catches a drafter that tells nothing, or of another number of tokens than it drafted, and sets of another size than it was asked for."""
    loop, drafted = ran(name, params)
    found = loop.drafter.learned()
    assert found is not None
    assert found.tokens == drafted
    assert len(found.left_out) == 2 * models.tiny("llama").layers
    assert weight is None or sum(found.left_out) == pytest.approx(weight)
    assert (found.mlp is not None) == (name == "knapspec" and not params)
    loop.drafter.reset()
    assert loop.drafter.learned() is None
