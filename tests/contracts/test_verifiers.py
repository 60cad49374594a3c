"""What every sampling verifier must hold: the exact law of plain decoding, over 8 tokens and 2 drafted positions, by enumeration.

The distributions are written out and never drawn: a broken rule is invisible for some of them.
"""

from collections import defaultdict
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from runners.drafters.base import Drafter
from runners.drafters.layerskip import LayerSkip, LayerSkipParams
from runners.engine.dice import Chance, Dice
from runners.engine.draft import Accepted, Batch, Draft
from runners.engine.law import Law
from runners.engine.target import Target
from runners.parts import drafters, verifiers
from runners.verifiers import block
from runners.verifiers.base import NoParams, Verifier
from runners.verifiers.block import Block
from runners.verifiers.rejection import ImpossibleDraft, Rejection
from tests.chance import law_of
from tests.models import ChainTarget, made_of, rolled

DEPTH = 2
# Target's and drafter's law behind token 0; behind token x both are rolled by x places.
CASES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "close": ((0.30, 0.20, 0.15, 0.12, 0.10, 0.07, 0.04, 0.02), (0.25, 0.05, 0.30, 0.10, 0.02, 0.15, 0.03, 0.10)),
    "zeros": ((0.5, 0.0, 0.25, 0.0, 0.125, 0.125, 0.0, 0.0), (0.2, 0.3, 0.0, 0.1, 0.4, 0.0, 0.0, 0.0)),
    "equal": ((0.30, 0.20, 0.15, 0.12, 0.10, 0.07, 0.04, 0.02), (0.30, 0.20, 0.15, 0.12, 0.10, 0.07, 0.04, 0.02)),
    "disjoint": ((0.4, 0.3, 0.2, 0.1, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.4)),
}
LAWS = {"as it is": Law(1.0), "cut": Law(0.7, top_k=5, top_p=0.9)}
SAMPLING = sorted(name for name, found in verifiers().items() if not found.greedy and found.lossless)
LOSSY = sorted(name for name, found in verifiers().items() if not found.lossless)
BATCH = Batch((0,), ([3],))
Joint = dict[tuple[int, ...], float]


def chain(case: str) -> ChainTarget:
    own, early = CASES[case]
    return ChainTarget(rolled(own), rolled(early))


def plain_law(target: ChainTarget, law: Law) -> Tensor:
    """`[V, V]`: what plain decoding draws from behind each token."""
    tokens = torch.arange(target.vocabulary)
    logits = target.verify(Batch(tuple(range(len(tokens))), tuple([x] for x in tokens.tolist())), Draft.empty(len(tokens), target.device))
    return law.probabilities(logits[:, 0]).double()


def expected(after: Tensor) -> Joint:
    """The joint law of the next three tokens of plain decoding."""
    size = range(len(after))
    return {(a, b, c): float(after[3, a] * after[a, b] * after[b, c]) for a, b, c in product(size, size, size)}


def finished(delivered: Joint, after: Tensor) -> Joint:
    """A step delivers one to three tokens; plain decoding goes on from there to three."""
    joint: Joint = defaultdict(float)
    for tokens, probability in delivered.items():
        if len(tokens) > DEPTH:
            joint[tokens] += probability
        else:
            for token, onward in enumerate(after[tokens[-1]].tolist()):
                if onward > 0:
                    for whole, mass in finished({(*tokens, token): probability * onward}, after).items():
                        joint[whole] += mass
    return joint


def error(found: Joint, wanted: Joint) -> float:
    return max(abs(found.get(key, 0.0) - wanted.get(key, 0.0)) for key in found.keys() | wanted.keys())


def one_step(target: Target, drafter: Drafter, verifier: Verifier, chance: Chance, more: Any = None, batch: Batch = BATCH) -> tuple[int, ...]:
    draft = drafter.propose(batch, [DEPTH], more)
    accepted = verifier.verify(batch, draft, target.verify(batch, draft), chance)
    return (*draft.tokens[0, accepted.path(0)].tolist(), accepted.next[0])


def drawn_error(case: str, law: Law, verifier: Verifier, more: Any = None, drafter: type[LayerSkip] = LayerSkip) -> float:
    """How far the law of three tokens is from plain's, where the draft is drawn from the drafter's own law."""
    target = chain(case)
    after = plain_law(target, law)

    def play(dice: Dice) -> tuple[int, ...]:
        chance = Chance(law, dice)
        return one_step(target, drafter(LayerSkipParams(exit_layer=1), target, chance), verifier, chance, more)

    return error(finished(law_of(play), after), expected(after))


def error_of_drafter(name: str, case: str, law: Law, verifier: Verifier, more: Any = None) -> float:
    """The same for a drafter by its name, behind a text that repeats itself."""
    target = chain(case)
    after, batch = plain_law(target, law), Batch((0,), ([4, 3, 4, 3],))
    target.prefill(0, batch.ids[0])

    def play(dice: Dice) -> tuple[int, ...]:
        chance = Chance(law, dice)
        drafter = made_of(name, target, chance)
        drafter.begin(0, batch.ids[0])
        return one_step(target, drafter, verifier, chance, more, batch)

    return error(finished(law_of(play), after), expected(after))


def given_error(case: str, law: Law, verifier: Verifier, tokens: tuple[int, ...]) -> float:
    """The same where the draft is these tokens, proposed with certainty."""
    target = chain(case)
    after = plain_law(target, law)
    draft = Draft.from_lists([list(tokens)], target.device)

    def play(dice: Dice) -> tuple[int, ...]:
        accepted = verifier.verify(BATCH, draft, target.verify(BATCH, draft), Chance(law, dice))
        return (*tokens[: accepted.kept[0]], accepted.next[0])

    return error(finished(law_of(play), after), expected(after))


def unsure(slot: int, confidence: float) -> bool:
    return confidence >= 0.2


@pytest.fixture(params=SAMPLING)
def verifier(request: pytest.FixtureRequest) -> Verifier:
    found = verifiers()[str(request.param)]
    return found(found.Params())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", CASES)
def test_drafts_that_are_drawn_leave_the_law_alone(verifier: Verifier, case: str, law: str) -> None:
    """Catches any rule of keeping or of recovery that changes what is said, through the drafter that draws."""
    assert drawn_error(case, LAWS[law], verifier) < 1e-6


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tokens", [(), (0,), (3, 4), (4, 4), (1, 7)])
def test_drafts_that_are_certain_leave_the_law_alone(verifier: Verifier, case: str, law: str, tokens: tuple[int, ...]) -> None:
    """Catches the same where a draft has no probabilities, also for tokens that the target never says, and without any draft."""
    assert given_error(case, LAWS[law], verifier, tokens) < 1e-6


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", sorted(name for name, d in drafters().items() if not (d.trees or d.opens or d.routes or d.hybrid)))
def test_every_drafter_leaves_the_law_alone(verifier: Verifier, name: str, case: str, stops: bool) -> None:
    """Catches a drafter that draws from another law than the one it hands on, or that looks at what the target drew. One that looks between layers
    or needs parts of a model cannot draft for a chain; what it draws from is compared in test_drafters."""
    assert error_of_drafter(name, case, LAWS["cut"], verifier, unsure if stops else None) < 1e-6


@pytest.mark.parametrize("case", CASES)
def test_a_draft_that_stops_behind_an_unsure_token_leaves_the_law_alone(verifier: Verifier, case: str) -> None:
    assert drawn_error(case, Law(1.0), verifier, unsure) < 1e-6


class Drops(LayerSkip):
    """Broken: the token that made it stop is left out, although it was drawn."""

    def propose(self, batch: Batch, limits: Any, more: Any = None) -> Draft:
        answers: list[bool] = []

        def noted(slot: int, confidence: float) -> bool:
            answers.append(more(slot, confidence))
            return answers[-1]

        draft = super().propose(batch, limits, noted)
        if answers[-1]:
            return draft
        assert draft.probabilities is not None
        return Draft.chain(draft.tokens[:, :-1], (draft.lengths[0] - 1,), probabilities=draft.probabilities[:, :-1])


class Misreports(LayerSkip):
    """Broken: draws by the law that was asked for, and hands on the whole distribution."""

    def propose(self, batch: Batch, limits: Any, more: Any = None) -> Draft:
        draft = super().propose(batch, limits, more)
        assert draft.probabilities is not None
        fed = [batch.ids[0][-1], *draft.tokens[0, :-1].tolist()]
        whole = [self.target.early(batch, torch.tensor([token]), depth, 1)[0].softmax(dim=-1) for depth, token in enumerate(fed)]
        return Draft.chain(draft.tokens, draft.lengths, probabilities=torch.stack(whole, dim=1))


class Keeps(Rejection):
    """Broken: every draft is kept."""

    def verify(self, batch: Batch, draft: Draft, logits: Tensor, chance: Chance) -> Accepted:
        own = chance.law.probabilities(logits)
        return Accepted(list(draft.lengths), chance.dice.pick(batch.slots, own[:, draft.width]).tolist())


class DrawsAgain(Rejection):
    """Broken: behind a rejected draft stands a draw from p, not from what q left of it."""

    def verify(self, batch: Batch, draft: Draft, logits: Tensor, chance: Chance) -> Accepted:
        true = super().verify(batch, draft, logits, replace(chance, dice=_NoPick(chance.dice)))
        own = chance.law.probabilities(logits)
        return Accepted(true.kept, chance.dice.pick(batch.slots, own[torch.arange(len(batch)), true.kept]).tolist())


class BonusFromDrafter(Rejection):
    """Broken: behind a draft kept whole stands a draw from the drafter's law."""

    def verify(self, batch: Batch, draft: Draft, logits: Tensor, chance: Chance) -> Accepted:
        assert draft.probabilities is not None
        logits = logits.clone()
        logits[:, draft.width] = draft.probabilities[:, -1].log()
        return super().verify(batch, draft, logits, chance)


class _NoPick(Dice):
    """Draws of another dice, but no token."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice

    def begin(self, slot: int, seed: int, prompt: str) -> None:
        pass

    def below(self, slots: Any, thresholds: Any) -> list[list[bool]]:
        return self._dice.below(slots, thresholds)

    def pick(self, slots: Any, weights: Tensor) -> Tensor:
        return torch.zeros(len(slots), dtype=torch.long)


@pytest.mark.parametrize("broken", [Keeps, DrawsAgain, BonusFromDrafter])
def test_a_broken_rule_is_seen(broken: type[Rejection]) -> None:
    """Negative control: if a broken rule passed, the enumeration would prove nothing."""
    assert drawn_error("close", Law(1.0), broken(NoParams())) > 1e-3


@pytest.mark.parametrize("broken", [Keeps, DrawsAgain])
def test_a_broken_rule_is_seen_without_probabilities(broken: type[Rejection]) -> None:
    assert given_error("close", Law(1.0), broken(NoParams()), (3, 4)) > 1e-3


class StopsAtTheFirst(Block):
    """Broken: a prefix is kept only where all shorter ones are, as a rule that judges token by token does."""

    def verify(self, batch: Batch, draft: Draft, logits: Tensor, chance: Chance) -> Accepted:
        return super().verify(batch, draft, logits, replace(chance, dice=_Prefixes(chance.dice)))


class _Prefixes(Dice):
    def __init__(self, dice: Dice) -> None:
        self._dice = dice

    def begin(self, slot: int, seed: int, prompt: str) -> None:
        pass

    def below(self, slots: Any, thresholds: Any) -> list[list[bool]]:
        return [[all(row[: place + 1]) for place in range(len(row))] for row in self._dice.below(slots, thresholds)]

    def pick(self, slots: Any, weights: Tensor) -> Tensor:
        return self._dice.pick(slots, weights)


@pytest.mark.parametrize("certain", [False, True])
def test_a_broken_block_rule_is_seen(monkeypatch: pytest.MonkeyPatch, certain: bool) -> None:
    """Negative controls of the block rule: keeping as token by token, weights that do not carry over, and draws from norm(relu(p − q)) behind it."""

    def found(rule: Verifier) -> float:
        return given_error("close", Law(1.0), rule, (3, 4)) if certain else drawn_error("close", Law(1.0), rule)

    assert found(Block(NoParams())) < 1e-6
    assert found(StopsAtTheFirst(NoParams())) > 1e-3
    monkeypatch.setattr(block, "_keeping", lambda draft, own, weights: weights[:, 1:].tolist())
    assert found(Block(NoParams())) > 1e-3
    monkeypatch.undo()
    if not certain:
        # Of a certain draft p without its token is left over, whatever weight it has.
        true = block._behind
        monkeypatch.setattr(block, "_behind", lambda draft, own, weights, kept: true(draft, own, torch.ones_like(weights), kept))
        assert found(Block(NoParams())) > 1e-3


def kept_on_average(case: str, law: Law, verifier: Verifier) -> float:
    """Drafts kept of a drawn one, in expectation."""
    target = chain(case)

    def play(dice: Dice) -> int:
        chance = Chance(law, dice)
        return len(one_step(target, LayerSkip(LayerSkipParams(exit_layer=1), target, chance), verifier, chance)) - 1

    return sum(kept * probability for kept, probability in law_of(play).items())


def test_a_block_keeps_more_than_token_by_token() -> None:
    """Catches a block rule that is exact and pointless."""
    for case in CASES:
        both = [kept_on_average(case, Law(1.0), rule(NoParams())) for rule in (Block, Rejection)]
        assert both[0] >= both[1] - 1e-9, case
        if case == "close":
            assert both[0] > both[1] + 0.01


@pytest.mark.parametrize("name", LOSSY)
def test_a_lossy_rule_is_called_so_with_reason(name: str) -> None:
    """Catches a rule that is labelled lossy and keeps the law, and one that says something else than plain at temperature 0."""
    found = verifiers()[name]
    assert drawn_error("close", Law(1.0), found(found.Params())) > 1e-3
    test_at_temperature_0_it_is_the_greedy_rule(found(found.Params()))


def test_typical_keeps_by_probability_and_entropy() -> None:
    """Catches a threshold on the wrong side, an entropy in bits, and a draft that goes on behind the first implausible token."""
    rule = verifiers()["typical"]
    target, dice = chain("close"), Chance().dice
    dice.begin(0, 1, "p")
    entropy = -sum(p * torch.tensor(p).log().item() for p in CASES["close"][0])
    least = 0.3 * torch.tensor(-entropy).exp().item()
    assert 0.04 < least < 0.07 < 0.09
    for proposed, kept in (([1, 2], 0), ([2, 2], 0), ([0, 0], 2), ([3, 2], 1), ([3, 3], 2), ([1, 1], 0)):
        draft = Draft.from_lists([proposed], target.device)
        found = rule(rule.Params()).verify(BATCH, draft, target.verify(BATCH, draft), Chance(Law(1.0), dice))
        assert found.kept == [kept], proposed
    for strict, kept in (({"threshold": 0.09, "alpha": 1.0}, 1), ({"threshold": 1.0, "alpha": 1.0}, 0)):
        draft = Draft.from_lists([[7]], target.device)
        found = rule(rule.Params(**strict)).verify(BATCH, draft, target.verify(BATCH, draft), Chance(Law(1.0), dice))
        assert found.kept == [kept], strict


def test_a_draft_that_drops_its_unsure_token_is_seen() -> None:
    """Negative control of the stop: what is left out because it was improbable biases what is said."""
    assert drawn_error("close", Law(1.0), Rejection(NoParams()), unsure, Drops) > 1e-3


def test_probabilities_of_another_law_are_seen() -> None:
    """Negative control of the drafter's law: verification must judge by what was drawn from."""
    assert drawn_error("close", LAWS["cut"], Rejection(NoParams()), None, Misreports) > 1e-3


def test_plain_decoding_has_the_law_as_it_is_written() -> None:
    """Catches an expectation that is computed by the code under test: at temperature 1 the law is the written one, and an empty draft draws it."""
    target = chain("close")
    assert torch.allclose(plain_law(target, Law(1.0)), rolled(CASES["close"][0]), atol=1e-7)

    def play(dice: Dice) -> int:
        empty = Draft.empty(1, target.device)
        return Rejection(NoParams()).verify(BATCH, empty, target.verify(BATCH, empty), Chance(Law(1.0), dice)).next[0]

    found = law_of(play)
    assert all(abs(found[token] - CASES["close"][0][(token - 3) % 8]) < 1e-7 for token in range(8))


def test_each_draft_token_is_decided_by_one_draw_of_its_own(verifier: Verifier) -> None:
    """Catches draws that depend on outcomes or on other rows' lengths: a batch would then differ from single runs."""
    asked: list[list[int]] = []

    class Noting(_NoPick):
        def below(self, slots: Any, thresholds: Any) -> list[list[bool]]:
            asked.append([len(row) for row in thresholds])
            return [[False] * len(row) for row in thresholds]

        def pick(self, slots: Any, weights: Tensor) -> Tensor:
            assert (weights.sum(dim=1) > 0).all()
            return weights.argmax(dim=1)

    target, batch = chain("close"), Batch((0, 1, 2), ([0], [1], [2]))
    for law in (Law(1.0), Law()):
        chance = Chance(law, Noting(Chance().dice))
        draft = Draft.from_lists([[1, 2], [], [4]], target.device)
        accepted = verifier.verify(batch, draft, target.verify(batch, draft), chance)
        assert accepted.kept == [0, 0, 0]
    assert asked == [[2, 0, 1]] * 2


def test_at_temperature_0_it_is_the_greedy_rule(verifier: Verifier) -> None:
    """Catches a sampling rule that is not exact in its limit: argmax kept, anything else replaced by the argmax."""
    target = chain("close")
    dice = Chance().dice
    dice.begin(0, 1, "p")
    for proposed, kept, behind in (([3, 3], 2, 3), ([3, 4], 1, 3), ([0], 0, 3), ([], 0, 3)):
        draft = Draft.from_lists([proposed], target.device)
        found = verifier.verify(BATCH, draft, target.verify(BATCH, draft), Chance(Law(), dice))
        assert (found.kept, found.next) == ([kept], [behind])


def test_a_draft_that_its_drafter_could_not_draw_is_refused() -> None:
    """Catches probabilities of another law than the one drawn from: such a draft would be kept always."""
    target = chain("close")
    law = torch.zeros((1, 1, 8))
    law[0, 0, 5] = 1.0
    draft = Draft.chain(torch.tensor([[4]]), (1,), probabilities=law)
    with pytest.raises(ImpossibleDraft):
        Rejection(NoParams()).verify(BATCH, draft, target.verify(BATCH, draft), Chance(Law(1.0)))


def test_a_refusal_by_rounding_still_draws_a_token() -> None:
    """Catches a crash where p equals q and nothing is left over to draw from."""

    class Refuses(_NoPick):
        def below(self, slots: Any, thresholds: Any) -> list[list[bool]]:
            return [[False] * len(row) for row in thresholds]

        def pick(self, slots: Any, weights: Tensor) -> Tensor:
            return self._dice.pick(slots, weights)

    target, law = chain("equal"), Law(1.0)
    dice = Chance().dice
    dice.begin(0, 1, "p")
    own = law.probabilities(target.verify(BATCH, Draft.empty(1, target.device)))
    draft = Draft.chain(torch.tensor([[4]]), (1,), probabilities=own)
    found = Rejection(NoParams()).verify(BATCH, draft, target.verify(BATCH, draft), Chance(law, Refuses(dice)))
    assert found.kept == [0]
    assert 0 <= found.next[0] < 8
