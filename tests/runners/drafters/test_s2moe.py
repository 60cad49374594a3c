"""Drafts with a part of the experts: what they are, where they end, and that the verification knows nothing of it."""

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import pytest
import torch

from runners.clock import Clock
from runners.controllers.constant import Constant, ConstantParams
from runners.drafters.base import UnfitDrafter
from runners.drafters.s2moe import S2MoE, S2MoEParams
from runners.engine.dice import Chance, Dice
from runners.engine.draft import Batch, Draft
from runners.engine.experts import Experts, Steering
from runners.engine.law import Law
from runners.engine.loop import Loop
from runners.engine.sequence import Request
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget
from runners.parts import UnknownPart, choose
from runners.verifiers.base import NoParams
from runners.verifiers.rejection import Rejection
from tests.chance import law_of
from tests.models import ChainTarget, loop_of, plain_loop, prompts, rolled, spec, tiny, tiny_model

SPARSE = ["qwen3_moe", "olmoe"]
LIMIT = 40
FREE: dict[str, Any] = {"step_cost": 0, "position_cost": 0, "expert_cost": 0}


def done(family: str, params: dict[str, Any], *, concurrency: int = 3, count: int = 5, length: int = 5) -> list[Any]:
    return loop_of(tiny(family), spec("s2moe", params, length=length), StopRules(LIMIT)).run(prompts(count), concurrency)


def kept(family: str, params: dict[str, Any], **more: Any) -> float:
    """The share of drafts that were kept."""
    sequences = done(family, params, **more)
    return sum(s.verified for s in sequences) / sum(s.drafted for s in sequences)


@pytest.mark.parametrize("family", SPARSE)
@pytest.mark.parametrize("concurrency", [1, 3])
def test_with_all_experts_and_no_bonus_everything_is_accepted(family: str, concurrency: int) -> None:
    """Known truth. Catches a draft that chooses or mixes otherwise than the target, or that lacks an earlier draft."""
    assert kept(family, {"experts": 4, "reuse": 0, **FREE}, concurrency=concurrency) == 1
    assert "own token" in (S2MoE(S2MoEParams(experts=4, reuse=0), tiny(family)).forced() or "")
    assert S2MoE(S2MoEParams(experts=4, reuse=1), tiny(family)).forced() is None


@pytest.mark.parametrize("family", SPARSE)
def test_what_is_said_is_what_the_library_says(family: str) -> None:
    """Catches drafts that reach the answer, for several ways of choosing: three texts of different lengths at a time, and the library's generate."""
    model: Any = tiny_model(family)
    wanted = {}
    for request in prompts(4):
        ids = torch.tensor([request.ids])
        made = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=LIMIT, do_sample=False, eos_token_id=None, pad_token_id=0)
        wanted[request.prompt] = made[0, ids.shape[1] :].tolist()
    assert len({tuple(said) for said in wanted.values()}) == len(wanted)
    for experts, reuse, costs in ((1, 0, FREE), (1, 1000, {}), (2, 1, FREE), (4, 5, FREE)):
        said = {s.request.prompt: s.output for s in done(family, {"experts": experts, "reuse": reuse, **costs}, count=4)}
        assert said == wanted, (experts, reuse)


@pytest.mark.parametrize("family", SPARSE)
def test_more_experts_are_accepted_more(family: str) -> None:
    """Catches a draft that takes other than the most important experts: each one more is worth something."""
    shares = [kept(family, {"experts": experts, "reuse": 0, **FREE}) for experts in (1, 2, 3, 4)]
    assert shares == sorted(set(shares))


@pytest.mark.parametrize("family", SPARSE)
def test_dearer_experts_are_drafted_for_less(family: str) -> None:
    """Catches costs that do not reach the draft: verifications read fewer experts as experts grow dearer, down to drafts whose second token is the
    last. The model is made sure of itself, as trained ones are."""
    read, lengths = [], []
    for cost in (0, 0.5, 2, 100):
        target: Any = tiny(family)
        target.model.lm_head.weight.data.mul_(20)
        params = {"experts": 3, "step_cost": 0, "position_cost": 0.05, "expert_cost": cost}
        sequences = loop_of(target, spec("s2moe", params, length=8), StopRules(LIMIT)).run(prompts(3), 3)
        rounds = sum(s.rounds for s in sequences)
        read.append(sum(s.passes.experts_read for s in sequences) / rounds)
        lengths.append(sum(s.drafted for s in sequences) / rounds)
    assert all(before > after for before, after in pairwise(read)), (read, lengths)
    assert lengths[-1] < 2.5 < 4 < lengths[0]


class Sent(ChainTarget):
    """Tokens follow a Markov chain, and each token is sent to one expert of one layer, which changes nothing of what it says."""

    def __init__(self, after: torch.Tensor, early_after: torch.Tensor, to: Sequence[int], *, slots: int = 4) -> None:
        super().__init__(after, early_after, slots=slots)
        self.to = torch.tensor(to)
        self.experts = Experts(1, max(to) + 1, 1)

    def routed(self, batch: Batch) -> torch.Tensor:
        assert self.experts is not None
        return torch.zeros((1, len(batch), self.experts.count), dtype=torch.bool)

    def steered(self, batch: Batch, tokens: torch.Tensor, depth: int, steering: Steering) -> torch.Tensor:
        own = self.to[tokens][:, None]
        logits = torch.zeros((len(batch), steering.held.shape[-1])).scatter(1, own, 9.0)
        steering.route(logits, torch.ones_like(own, dtype=torch.float), own, whole=True)
        return self.early(batch, tokens, depth, 1)[0]


def counting_up(doubtful: int, sure: float) -> torch.Tensor:
    """A chain over 12 tokens in which each is followed by the next with 0.99, but `doubtful` with `sure`."""
    after = torch.full((12, 12), 0.01 / 11)
    for token in range(12):
        after[token, (token + 1) % 12] = 0.99
    after[doubtful] = (1 - sure) / 11
    after[doubtful, (doubtful + 1) % 12] = sure
    return after


@pytest.mark.parametrize(("new", "sure", "length"), [(True, 0.4, 4), (True, 0.99, 8), (False, 0.4, 8), (False, 0.99, 8)])
def test_a_draft_ends_where_its_position_needs_a_new_expert_for_little(new: bool, sure: float, length: int) -> None:
    """Known truth: token 3 needs a new expert and is not sure of the one behind it. That one is the last: it stays, and nothing follows. A new
    expert for a sure draft is worth it, and an unsure draft of known experts too. Catches costs of a wrong position, and a neighbour's."""
    params = S2MoEParams(step_cost=0.05, position_cost=0.05, expert_cost=0.15)
    chain = counting_up(3, sure)
    drafter = S2MoE(params, Sent(chain, chain, [0, 0, 0, int(new), *[0] * 8]))
    for slot in (0, 1):
        drafter.begin(slot, [0])
    draft = drafter.propose(Batch((0, 1), ([0], [4])), [8, 8])
    assert draft.lengths == (length, 8)
    assert draft.tokens[0, :length].tolist() == list(range(1, length + 1))


def test_an_expert_is_new_once() -> None:
    """Catches an expert that is charged at every position, and one of the last committed token, which a plain step needs as well."""
    chain = counting_up(0, 0.99)
    for to, length in (([5] * 12, 8), ([0, *[1] * 11], 8), ([*range(11), 0], 5)):
        drafter = S2MoE(S2MoEParams(step_cost=0, position_cost=0, expert_cost=0.47), Sent(chain, chain, to))
        drafter.begin(0, [0])
        assert drafter.propose(Batch((0,), ([0],)), [8]).lengths == (length,), to


def test_acceptance_is_learnt_and_not_believed() -> None:
    """Catches a draft whose own probability is taken at its word for ever, drafts that count although nobody judged them, and lessons of another
    request: sure drafts that are never kept end a draft at once, unsure ones that always are go on."""
    for sure, kept, lengths in ((0.99, 0, (8, 1)), (0.25, 8, (1, 8))):
        chain = counting_up(0, 0.99) if sure == 0.99 else torch.full((12, 12), 0.75 / 11).fill_diagonal_(0.25).roll(1, 1)
        drafter = S2MoE(S2MoEParams(step_cost=0.3, position_cost=0.1, expert_cost=0), Sent(chain, chain, [0] * 12))
        batch = Batch((0,), ([0],))
        drafter.begin(0, [0])
        first = drafter.propose(batch, [8]).lengths
        for _ in range(40):
            drafter.observe(batch, [min(kept, drafter.propose(batch, [8]).lengths[0])])
        assert (first, drafter.propose(batch, [8]).lengths) == ((lengths[0],), (lengths[1],))
        drafter.begin(0, [0])
        assert drafter.propose(batch, [8]).lengths == first


OWN, EARLY = (0.6, 0.3, 0.1), (0.2, 0.5, 0.3)


class Drops(S2MoE):
    """Broken: a last draft that did not pay is left out again."""

    def propose(self, batch: Batch, limits: Sequence[int], more: Any = None) -> Draft:
        draft = super().propose(batch, limits, more)
        lengths = tuple(length - (length < limit) for length, limit in zip(draft.lengths, limits, strict=True))
        width = max(lengths)
        laws = None if draft.probabilities is None else draft.probabilities[:, :width]
        return Draft.chain(draft.tokens[:, :width], lengths, probabilities=laws)


def law(kind: type[S2MoE]) -> dict[tuple[int, ...], float]:
    """The law of three tokens behind token 0 that the whole loop gives, over all outcomes of its dice."""

    def play(dice: Dice) -> tuple[int, ...]:
        target, chance = Sent(rolled(OWN), rolled(EARLY), [0, 1, 2]), Chance(Law(1.0), dice)
        drafter = kind(S2MoEParams(step_cost=0.1, position_cost=0.1, expert_cost=0.1), target, chance)
        loop = Loop(target, drafter, Constant(ConstantParams(length=2)), Rejection(NoParams()), StopRules(3), Clock(target.device), chance=chance)
        return tuple(loop.run([Request("p", (0,))], 1)[0].output)

    return law_of(play)


def test_ending_a_draft_leaves_the_law_alone() -> None:
    """Catches a draft that ends before a token that was drawn, which the law of what is said would show: the broken drafter must differ."""
    after = rolled(OWN).tolist()
    wanted = {(a, b, c): after[0][a] * after[a][b] * after[b][c] for a, b, c in product(range(3), repeat=3)}
    found, broken = law(S2MoE), law(Drops)
    assert max(abs(found.get(key, 0) - wanted[key]) for key in wanted) < 1e-6
    assert max(abs(broken.get(key, 0) - wanted[key]) for key in wanted) > 1e-2


class Biased(TransformersTarget):
    """Broken: the verification prefers the experts in use as well."""

    def verify(self, batch: Batch, draft: Draft) -> torch.Tensor:
        assert self.experts is not None
        tallied, self.needs = self.needs, frozenset()
        with self.switch.to(Steering(self.experts.chosen, 2.0, self.routed(batch))):
            logits = super().verify(batch, draft)
        self.needs = tallied
        return logits


@pytest.mark.parametrize("family", SPARSE)
def test_a_verification_with_a_bonus_would_be_seen(family: str) -> None:
    """Negative control of losslessness: its answers are others."""
    plain = plain_loop(tiny(family), StopRules(LIMIT)).run(prompts(1), 1)[0].output
    for kind, same in ((TransformersTarget, True), (Biased, False)):
        target = kind(tiny_model(family), slots=1, context=256, eos=frozenset())
        said = loop_of(target, spec("s2moe", {"experts": 3, "reuse": 1, **FREE}), StopRules(LIMIT)).run(prompts(1), 1)[0].output
        assert (said == plain) is same


def test_a_draft_takes_in_use_what_the_last_verification_and_itself_used() -> None:
    """Catches a draft that forgets what its earlier steps used, or what the verification did: with an endless bonus it keeps to what it has."""
    target: Any = tiny("qwen3_moe")
    loop = loop_of(target, spec("s2moe", {"experts": 2, "reuse": 1000, **FREE}, length=5), StopRules(LIMIT))
    stepped, steps = target.steered, []

    def noted(batch: Batch, tokens: torch.Tensor, depth: int, steering: Steering) -> torch.Tensor:
        held = steering.held.clone()
        logits = stepped(batch, tokens, depth, steering)
        steps.append((depth, held, steering.used))
        return logits

    target.steered = noted
    loop.run(prompts(1), 1)
    assert len(steps) > 20
    for (_, held, used), (depth, later, _) in pairwise(steps):
        assert bool((held | ~used).all())
        if depth:
            assert torch.equal(later, held | used)


def test_layer_passes_are_those_of_all_layers() -> None:
    """Catches a draft step that is charged for less than it runs: all layers run, with fewer experts."""
    for sequence in done("qwen3_moe", {"experts": 2}):
        assert sequence.passes.draft == 6 * sequence.drafted
        assert sequence.passes.verify == 6 * (sequence.drafted + sequence.rounds + sequence.undrafted)


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(UnfitDrafter, match="has none; choose a model that has experts"):
        S2MoE(S2MoEParams(), tiny("qwen3"))
    with pytest.raises(UnfitDrafter, match="experts 5 is more than the 4"):
        S2MoE(S2MoEParams(experts=5), tiny("qwen3_moe"))
    with pytest.raises(UnknownPart, match="leave compile out"):
        choose(spec("s2moe", rule={"compile": True}))
