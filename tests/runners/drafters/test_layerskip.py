"""Early exit that ends a draft when it is told to, and draws when its loop samples."""

import torch

from runners.drafters.layerskip import LayerSkip, LayerSkipParams
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.law import Law
from runners.engine.target import Target
from tests.models import prompts, tiny

ROWS = 3


def begun(law: Law) -> tuple[Target, LayerSkip, Batch]:
    """Three prefilled slots and a drafter whose draws start anew."""
    target, chance = tiny("llama"), Chance(law)
    drafter = LayerSkip(LayerSkipParams(exit_layer=2), target, chance)
    requests = prompts(ROWS)
    for slot, request in enumerate(requests):
        target.prefill(slot, request.ids)
        chance.dice.begin(slot, request.seed, request.prompt)
    return target, drafter, Batch(tuple(range(ROWS)), tuple(list(r.ids) for r in requests))


def test_a_stopped_draft_keeps_the_token_it_was_asked_about() -> None:
    """Catches the token being dropped, a row that stops with its neighbour, and a question about the wrong token."""
    for law in (Law(), Law(0.8, 20, 0.9)):
        asked: dict[int, list[float]] = {slot: [] for slot in range(ROWS)}

        def more(slot: int, confidence: float, asked: dict[int, list[float]] = asked) -> bool:
            asked[slot].append(confidence)
            return len(asked[slot]) <= slot

        _, drafter, batch = begun(law)
        free = drafter.propose(batch, [4, 4, 2])
        _, drafter, _ = begun(law)
        stopped = drafter.propose(batch, [4, 4, 2], more)
        assert stopped.lengths == (1, 2, 2)
        assert stopped.width == 2
        assert [len(confidences) for confidences in asked.values()] == [1, 2, 2]
        for row, length in enumerate(stopped.lengths):
            assert stopped.tokens[row, :length].tolist() == free.tokens[row, :length].tolist()
        assert all(0 < c <= 1 for confidences in asked.values() for c in confidences)
        if stopped.probabilities is not None:
            first = stopped.probabilities[:, 0].gather(1, stopped.tokens[:, :1])[:, 0].tolist()
            assert [confidences[0] for confidences in asked.values()] == first


def test_rows_of_different_lengths_resume_to_the_same_logits() -> None:
    """Catches exit states of one row or depth taken for another's where rows end at different depths."""
    for law in (Law(), Law(0.8)):
        target, drafter, batch = begun(law)
        draft = drafter.propose(batch, [3, 0, 4], lambda slot, _: slot != 2)
        assert draft.lengths == (3, 0, 1)
        assert draft.resume is not None
        resumed = target.verify(batch, draft)
        target, _, _ = begun(law)
        whole = target.verify(batch, Draft.chain(draft.tokens, draft.lengths))
        for row, length in enumerate(draft.lengths):
            assert torch.allclose(resumed[row, : length + 1], whole[row, : length + 1], atol=1e-5)


def test_a_draw_comes_with_the_law_that_it_was_drawn_from() -> None:
    """Catches probabilities at another temperature or of another depth than the token's: verification would judge by a law nobody drew from."""
    law = Law(0.7, top_k=12, top_p=0.8)
    target, drafter, batch = begun(law)
    draft = drafter.propose(batch, [3, 3, 3])
    assert draft.probabilities is not None
    assert draft.probabilities.shape == (ROWS, 3, target.vocabulary)
    assert (draft.probabilities.gather(2, draft.tokens[:, :, None]) > 0).all()
    target, _, _ = begun(law)
    fed = torch.cat([torch.tensor([[ids[-1]] for ids in batch.ids]), draft.tokens], dim=1)
    for depth in range(3):
        logits, _ = target.early(batch, fed[:, depth], depth, 2)
        assert torch.allclose(draft.probabilities[:, depth], law.probabilities(logits), atol=1e-6)


def test_greedy_drafts_are_not_drawn() -> None:
    """Catches chance in a greedy run."""
    _, drafter, batch = begun(Law())
    assert drafter.propose(batch, [3, 3, 3]).probabilities is None
