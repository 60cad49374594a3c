"""What every drafter must hold, over everything discovered: a new drafter gets these tests by existing."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from runners.engine.draft import Batch
from runners.engine.stops import StopRules
from runners.parts import drafters
from tests.models import GREEDY, SAMPLED, TARGETS, by_prompt, counts, loop_of, plain_loop, prompts, spec, target_of, targets_of, tiny

NAMES = sorted(drafters())
LIMIT = 40
RULES: dict[str, dict[str, Any]] = {"exact": {}, "rejection": GREEDY, "sampled": SAMPLED}


@pytest.fixture(params=NAMES)
def drafter(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every drafter, on every target that it can draft on where a test asks for one; the others refuse it."""
    if "target_name" in metafunc.fixturenames:
        metafunc.parametrize(("drafter", "target_name"), [(name, target) for name in NAMES for target in TARGETS if target in targets_of(name)])


@pytest.mark.parametrize(("controller", "rule"), [("constant", "exact"), ("window", "exact"), ("constant", "rejection")])
def test_greedy_output_equals_plain(target_name: str, drafter: str, controller: str, rule: str) -> None:
    """Catches any way in which a draft changes what the target says."""
    plain = by_prompt(plain_loop(tiny(target_name), StopRules(LIMIT)).run(prompts(4), 1))
    drafted = by_prompt(loop_of(tiny(target_name), spec(drafter, controller=controller, rule=RULES[rule]), StopRules(LIMIT)).run(prompts(4), 1))
    assert {name: s.output for name, s in drafted.items()} == {name: s.output for name, s in plain.items()}
    assert all(len(s.output) == LIMIT for s in plain.values())


@pytest.mark.parametrize("rule", ["exact", "sampled"])
def test_slots_equal_single_runs(target_name: str, drafter: str, rule: str) -> None:
    """Catches leaks between slots and requests, also of chance: eight requests over three slots with refill count as eight runs alone do."""
    rules = StopRules(LIMIT)
    together = by_prompt(loop_of(tiny(target_name, slots=3), spec(drafter, rule=RULES[rule]), rules).run(prompts(8), 3))
    for request in prompts(8):
        alone = loop_of(tiny(target_name, slots=1), spec(drafter, rule=RULES[rule]), rules).run([request], 1)[0]
        assert counts(together[request.prompt]) == counts(alone), request.prompt


@pytest.mark.parametrize("rule", ["exact", "sampled"])
def test_same_seed_same_counts(target_name: str, drafter: str, rule: str) -> None:
    """Catches hidden state and unseeded chance: a second pass over the same loop counts the same."""
    loop = loop_of(tiny(target_name), spec(drafter, rule=RULES[rule]), StopRules(LIMIT))
    first = [counts(s) for s in loop.run(prompts(4), 2)]
    loop.drafter.reset()
    assert [counts(s) for s in loop.run(prompts(4), 2)] == first


def test_another_seed_says_something_else(target_name: str, drafter: str) -> None:
    """Catches a seed that is not used: passes of a sampled run would all be the same answer."""
    loop = loop_of(tiny(target_name), spec(drafter, rule=SAMPLED), StopRules(LIMIT))
    first = by_prompt(loop.run(prompts(2), 1))
    other = by_prompt(loop.run([replace(request, seed=request.seed + 1) for request in prompts(2)], 1))
    assert all(first[name].output != other[name].output for name in first)


@pytest.mark.parametrize("rule", ["exact", "sampled"])
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_token_limit_is_kept_and_counts_close(target_name: str, drafter: str, limit: int, rule: str) -> None:
    """Catches overshoot past the limit, and a last step that is miscounted."""
    loop = loop_of(tiny(target_name), spec(drafter, rule=RULES[rule], length=5), StopRules(limit))
    for sequence in loop.run(prompts(3), 1):
        assert len(sequence.output) == limit
        assert sequence.emitted == sequence.prefill_tokens + sequence.accepted + sequence.rounds + sequence.undrafted - sequence.discarded_bonus
        rounds = zip(sequence.round_depth, sequence.round_drafted, strict=True)
        assert all(deep <= min(5, made) and made <= loop.drafter.most(5) for deep, made in rounds)
        assert sum(sequence.step_tokens) == sequence.emitted


def test_limits_of_zero_and_one_are_obeyed(target_name: str, drafter: str) -> None:
    """Catches a proposal longer than asked for, also when rows of one batch ask differently."""
    target = tiny(target_name)
    made = loop_of(target, spec(drafter), StopRules(LIMIT)).drafter
    requests = prompts(3)
    with target.supplying(made.needs):
        for slot, request in enumerate(requests):
            target.prefill(slot, request.ids[:-1])
            made.begin(slot, request.ids)
    draft = made.propose(Batch((0, 1, 2), tuple(list(r.ids) for r in requests)), [0, 1, 3])
    assert all(depth <= asked and length <= made.most(asked) for depth, length, asked in zip(draft.depths, draft.lengths, [0, 1, 3], strict=True))
    assert draft.width == max(draft.lengths, default=0)


def freely(target_name: str, drafter: str, rule: str) -> list[int]:
    """What is said where nothing stops it: greedy text is plain's, sampled text is the same arm's with the same seed."""
    if rule == "sampled":
        return loop_of(tiny(target_name), spec(drafter, rule=SAMPLED, length=6), StopRules(LIMIT)).run(prompts(1), 1)[0].output
    return plain_loop(tiny(target_name), StopRules(LIMIT)).run(prompts(1), 1)[0].output


@pytest.mark.parametrize("rule", ["exact", "sampled"])
@pytest.mark.parametrize("place", [1, 4, 6, 9])
def test_eos_inside_a_draft_ends_the_text_there(target_name: str, drafter: str, place: int, rule: str) -> None:
    """Catches tokens delivered past EOS, and an EOS that is not delivered itself."""
    free = freely(target_name, drafter, rule)
    eos = frozenset({free[place]})
    expected = free[: free.index(free[place]) + 1]
    target = tiny(target_name, eos=eos)
    sequence = loop_of(target, spec(drafter, rule=RULES[rule], length=6), StopRules(LIMIT, eos)).run(prompts(1), 1)[0]
    assert (sequence.output, sequence.finish) == (expected, "eos")
    assert sequence.emitted == sequence.prefill_tokens + sequence.accepted + sequence.rounds + sequence.undrafted - sequence.discarded_bonus


@pytest.mark.parametrize("rule", ["exact", "sampled"])
def test_stop_string_inside_a_draft(target_name: str, drafter: str, rule: str) -> None:
    """Catches a stop string that is only looked for at the ends of steps: the token that completes it is the last one delivered."""
    free = freely(target_name, drafter, rule)
    decode = lambda ids: "".join(f"<{i}>" for i in ids)  # noqa: E731
    wanted = decode(free[10:12])
    place = next(i for i in range(len(free)) if decode(free[: i + 1]).endswith(wanted))
    rules = StopRules(LIMIT, strings=(wanted[2:-1],), decode=decode)
    cut = next(i for i in range(len(free)) if wanted[2:-1] in decode(free[: i + 1]))
    sequence = loop_of(tiny(target_name), spec(drafter, rule=RULES[rule], length=6), rules).run(prompts(1), 1)[0]
    assert (sequence.output, sequence.finish) == (free[: cut + 1], "stop")
    assert cut <= place


def test_rollback_leaves_the_target_as_if_never_drafted(drafter: str) -> None:
    """Catches keys and values of rejected drafts that stay visible: logits after any history equal a fresh prefill's."""
    for name in targets_of(drafter):
        if name in {"toy", "qwen2"}:
            continue
        target = tiny(name)
        sequence = loop_of(target, spec(drafter, length=5), StopRules(30)).run(prompts(1), 1)[0]
        after = target.verify(Batch((sequence.slot,), (sequence.ids,)), loop_of(target, spec("none", {}), StopRules(1)).drafter.propose(
            Batch((sequence.slot,), (sequence.ids,)), [0]))[0, 0]  # fmt: skip
        fresh = tiny(name).prefill(0, sequence.ids)
        assert fresh is not None
        assert (after - fresh).abs().max().item() < 1e-4


def test_a_proposal_depends_on_the_text_alone(target_name: str, drafter: str) -> None:
    """Catches drafts that remember rejected tokens: after any history the next proposal equals a fresh drafter's on the same text."""
    if drafters()[drafter].learns:
        pytest.skip("it says that it depends on the rounds before")
    target = tiny(target_name)
    loop = loop_of(target, spec(drafter), StopRules(25))
    sequence = loop.run(prompts(2), 1)[1]
    used = loop.drafter.propose(Batch((sequence.slot,), (sequence.ids,)), [4])
    other = tiny(target_name)
    fresh = loop_of(other, spec(drafter), StopRules(25)).drafter
    other.prefill(0, sequence.ids[:-1])
    fresh.begin(0, sequence.ids)
    again = fresh.propose(Batch((0,), (sequence.ids,)), [4])
    assert (used.tokens.tolist(), used.lengths) == (again.tokens.tolist(), again.lengths)


@pytest.mark.parametrize("drafter", [name for name, kind in drafters().items() if kind.opens or kind.routes or kind.hybrid])
def test_the_law_handed_on_is_the_one_drawn_from(drafter: str) -> None:
    """Catches a law that is not the token's: the same dice over the laws that were handed on give the same drafts, round after round."""
    loop = loop_of(tiny(target_of(drafter)), spec(drafter, rule=SAMPLED), StopRules(LIMIT))
    drafted: list[Any] = []
    propose = loop.drafter.propose

    def noted(batch: Batch, limits: Any, more: Any = None) -> Any:
        again = copy.deepcopy(loop.chance.dice)
        draft = propose(batch, limits, more)
        for depth in range(draft.width):
            drawn = again.pick(batch.slots, draft.probabilities[:, depth])
            assert drawn.tolist() == draft.tokens[:, depth].tolist()
        drafted.append(draft)
        return draft

    loop.drafter.propose = noted
    loop.run(prompts(1), 1)
    assert sum(draft.width for draft in drafted) > 10


def test_what_a_learner_learns_ends_with_its_request(drafter: str) -> None:
    """Catches lessons of one request that reach into the next one in its slot, or into its neighbour's."""
    rules, name = StopRules(LIMIT), target_of(drafter)
    alone = [counts(loop_of(tiny(name, slots=1), spec(drafter), rules).run([request], 1)[0]) for request in prompts(3)]
    loop = loop_of(tiny(name, slots=1), spec(drafter), rules)
    assert [counts(s) for s in loop.run([*prompts(3), *prompts(3)], 1)] == [*alone, *alone]


def test_unknown_parameters_are_refused(drafter: str) -> None:
    """Catches a misspelt parameter that silently measures something else."""
    from runners.parts import UnknownPart, choose

    with pytest.raises(UnknownPart, match="lenght"):
        choose(spec(drafter, {"lenght": 3}))
