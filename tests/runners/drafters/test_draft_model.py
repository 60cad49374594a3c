"""A drafter with a model and a cache of its own, on the target's tokenizer and on another one."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from runners.drafters.base import UnfitDrafter
from runners.drafters.draft_model import FEW, PIECE, DraftModel, DraftModelParams
from runners.engine.companion import Companion
from runners.engine.dice import Chance
from runners.engine.draft import Batch
from runners.engine.law import Law
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.engine.transformers_target import TransformersTarget
from runners.engine.translation import Translation
from runners.verifiers.base import NoParams
from runners.verifiers.rejection import Rejection
from tests.chance import law_of
from tests.contracts.test_verifiers import CASES, DEPTH, error, expected, finished, one_step, plain_law
from tests.cutters import letters
from tests.models import ChainTarget, companion_of, loop_of, plain_loop, prompts, rolled, spec, tiny

PARAMS = DraftModelParams(model="package:tiny")
ROWS = 3


def twin(target: Target) -> Companion:
    """The target's own weights as the drafter's, over a cache of their own."""
    assert isinstance(target, TransformersTarget)
    return Companion(TransformersTarget(target.model, slots=target.slots, context=target.context + 32, eos=frozenset()), twin=True)


def drafting(target: Target, made: type[DraftModel] = DraftModel, companion: Companion | None = None) -> Any:
    """A loop whose drafter uses this companion, the target's twin unless said otherwise."""
    loop = loop_of(target, spec("draft-model", length=4), StopRules(40))
    loop.drafter = made(PARAMS, target, loop.chance, companion or twin(target))
    return loop


@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3"])
def test_the_target_as_its_own_drafter_is_always_right(family: str) -> None:
    """Known truth: in float32 every draft is kept. Catches a cache that is one token behind, or holds a rejected one, in any row of a batch."""
    for concurrency in (1, 3):
        done = drafting(tiny(family)).run(prompts(5), concurrency)
        assert len(done) == 5
        for sequence in done:
            assert sequence.drafted > 20
            assert sequence.verified == sequence.drafted


class Forgets(DraftModel):
    """Broken: takes the last draft for fed, as if proposing a token put it into the cache."""

    def propose(self, batch: Batch, limits: Any, more: Any = None) -> Any:
        draft = super().propose(batch, limits, more)
        for row, slot in enumerate(batch.slots):
            if draft.lengths[row]:
                self._known[slot].append(int(draft.tokens[row, draft.lengths[row] - 1]))
        return draft


def test_a_cache_without_the_last_draft_is_seen() -> None:
    """Negative control of the test before."""
    done = drafting(tiny("llama"), Forgets).run(prompts(5), 1)
    assert sum(s.verified for s in done) < sum(s.drafted for s in done)


def test_acceptance_lies_between_none_and_all() -> None:
    """Catches a battery that passes because its drafter is never, or always, right."""
    for family in ("toy", "llama", "gemma3"):
        done = loop_of(tiny(family), spec("draft-model"), StopRules(40)).run(prompts(5), 2)
        assert 0 < sum(s.verified for s in done) < sum(s.drafted for s in done)


def test_layers_of_another_model_are_not_counted_as_the_targets() -> None:
    """Catches layer passes of a drafter of another size added to the target's, or counted as none."""
    sequence = loop_of(tiny("llama"), spec("draft-model"), StopRules(20)).run(prompts(1), 1)[0]
    assert sequence.counted()["draft_layer_passes"] is None
    assert sequence.counted()["verify_layer_passes"] > 0
    assert plain_loop(tiny("llama"), StopRules(20)).run(prompts(1), 1)[0].counted()["draft_layer_passes"] == 0


def test_that_the_target_drafts_for_itself_is_said() -> None:
    target = tiny("llama")
    assert "the target itself" in str(DraftModel(PARAMS, target, Chance(), twin(target)).forced())
    assert DraftModel(PARAMS, target, Chance(), companion_of(target)).forced() is None


@pytest.mark.parametrize("gap", [0, 1, FEW, FEW + 1, PIECE + FEW + 3, 100])
def test_any_number_of_missing_tokens_is_caught_up(gap: int) -> None:
    """Catches a row that pads over another's cache, or a piece that is fed at the wrong place, after steps in which nothing was drafted."""
    target = tiny("llama")
    drafter = DraftModel(PARAMS, target, Chance(), companion_of(target))
    texts = [list(request.ids) for request in prompts(ROWS)]
    for slot, ids in enumerate(texts):
        target.prefill(slot, ids)
        drafter.begin(slot, ids)
    torch.manual_seed(3)
    grown = [[*ids, *torch.randint(97, (gap if row == 1 else row,)).tolist()] for row, ids in enumerate(texts)]
    logits = drafter._catch_up(Batch((0, 1, 2), tuple(grown)))
    for row, ids in enumerate(grown):
        fresh = companion_of(target).model.prefill(0, ids)
        assert fresh is not None
        assert (logits[row] - fresh).abs().max().item() < 1e-4


def test_the_drafters_vocabulary_may_end_earlier_or_later() -> None:
    """Catches a drafted id that the target does not have, and probabilities of another width: padding rows differ between models of one tokenizer."""
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests.models import SIZES

    for rows in (80, 120):
        torch.manual_seed(2)
        model = LlamaForCausalLM(LlamaConfig(**SIZES | {"vocab_size": rows})).eval()
        target, chance = tiny("llama"), Chance(Law(1.5))
        own = Companion(TransformersTarget(model, slots=4, context=300, eos=frozenset()))
        drafter = DraftModel(PARAMS, target, chance, own)
        ids = [i % 80 for i in prompts(1)[0].ids]
        target.prefill(0, ids)
        chance.dice.begin(0, 1, "p")
        drafter.begin(0, ids)
        draft = drafter.propose(Batch((0,), (ids,)), [6])
        assert draft.probabilities is not None
        assert draft.probabilities.shape == (1, 6, target.vocabulary)
        assert torch.allclose(draft.probabilities.sum(dim=-1), torch.ones(1, 6), atol=1e-5)
        assert int(draft.tokens.max()) < min(rows, target.vocabulary)


def test_without_its_model_it_is_refused() -> None:
    with pytest.raises(UnfitDrafter, match="was not loaded"):
        DraftModel(PARAMS, tiny("llama"), Chance())


# The drafter's vocabulary is the target's in another order, without its last letter and with one that the target does not have.
OWN = "gxfedcba"


def crossing(case: str, chance: Chance) -> tuple[ChainTarget, DraftModel]:
    """A chain over the letters a to h, and a drafter over OWN whose law is that of the case's drafter on the letters that both have."""
    after, early = (rolled(weights) for weights in CASES[case])
    target = ChainTarget(after, early)
    translation = Translation(letters("abcdefgh"), letters(OWN), (8, len(OWN)))
    place = [OWN.index(letter) if letter in OWN else None for letter in "abcdefgh"]
    strange = torch.full((len(OWN), len(OWN)), 0.05, dtype=torch.float64)
    for x, mine in enumerate(place):
        for y, other in enumerate(place):
            if mine is not None and other is not None:
                strange[mine, other] = early[x, y]
    params = DraftModelParams(model="package:tiny", cross_tokenizer=True)
    drafter = DraftModel(params, target, chance, Companion(ChainTarget(strange, strange), translation))
    return target, drafter


@pytest.mark.parametrize("law", [Law(1.0), Law(0.7, top_k=4, top_p=0.9)])
@pytest.mark.parametrize("case", ["close", "zeros", "disjoint"])
def test_what_is_drawn_from_shared_tokens_leaves_the_law_alone(case: str, law: Law) -> None:
    """Catches a law that is not renormalised to what both vocabularies have, or is handed on over other tokens than were drawn."""
    after = plain_law(crossing(case, Chance(law))[0], law)

    def play(dice: Any) -> tuple[int, ...]:
        chance = Chance(law, dice)
        target, drafter = crossing(case, chance)
        drafter.begin(0, [3])
        return one_step(target, drafter, Rejection(NoParams()), chance)

    played = law_of(play)
    assert error(finished(played, after), expected(after)) < 1e-6
    assert case == "disjoint" or max(map(len, played)) == DEPTH + 1


def test_a_wrong_place_among_shared_tokens_is_seen() -> None:
    """Negative control: tokens handed on under their neighbours' ids, as drawn from the law of their own."""
    law = Law(1.0)
    after = plain_law(crossing("close", Chance(law))[0], law)

    def play(dice: Any) -> tuple[int, ...]:
        chance = Chance(law, dice)
        target, drafter = crossing("close", chance)
        true = drafter._spread
        drafter._spread = lambda laws: true(laws).roll(1, dims=-1)
        drafter.begin(0, [3])
        return one_step(target, drafter, Unchecked(NoParams()), chance)

    assert error(finished(law_of(play), after), expected(after)) > 1e-3


class Unchecked(Rejection):
    """Judges by whatever law it is given: a small floor keeps it from refusing what could not have been drawn."""

    def verify(self, batch: Batch, draft: Any, logits: Any, chance: Chance) -> Any:
        floored = None if draft.probabilities is None else (draft.probabilities + 1e-6)
        return super().verify(batch, replace(draft, probabilities=floored), logits, chance)


def test_greedy_drafts_of_another_tokenizer_are_the_targets_tokens() -> None:
    """Catches ids that are handed on untranslated: over letters the drafter's text is known, and so is what it is in the target's ids."""
    _, drafter = crossing("close", Chance())
    drafter.begin(0, [3])
    draft = drafter.propose(Batch((0,), ([3],)), [3])
    law, wanted = rolled(CASES["close"][1]), [3]
    for _ in range(3):
        wanted.append(int(law[wanted[-1], :7].argmax()))
    assert draft.tokens.tolist() == [wanted[1:]]
