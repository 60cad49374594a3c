"""What every draft-length controller must hold, over everything discovered: a new controller gets these tests by existing."""

import random
from typing import Any

import pytest

from app.domain.drafting import longest_draft
from runners.controllers.base import Controller
from runners.engine.draft import Batch
from runners.engine.stops import StopRules
from runners.parts import UnknownPart, choose, controllers, drafters
from tests.models import GREEDY, SAMPLED, by_prompt, counts, loop_of, plain_loop, prompts, spec, target_of, targets_of, tiny

NAMES = sorted(controllers())
DRAFTERS = sorted(name for name in drafters() if name != "none")
LIMIT = 40
RULES: dict[str, dict[str, Any]] = {"exact": {}, "rejection": GREEDY, "sampled": SAMPLED}


def fits(controller: str, drafter: str) -> bool:
    return drafters()[drafter].knows_confidence or not controllers()[controller].stops_drafts


PAIRS = [(controller, drafter) for controller in NAMES for drafter in DRAFTERS if fits(controller, drafter)]
# The toy vocabulary is nothing to draft with for drafters that need layers.
PLACES = [(*pair, toy) for pair in PAIRS for toy in (True, False) if not toy or "toy" in targets_of(pair[1])]


@pytest.fixture(params=NAMES)
def made(request: pytest.FixtureRequest) -> Controller:
    found = controllers()[str(request.param)]
    return found(found.Params())


def drive(controller: Controller, seed: int, *, steps: int = 150, rows: int = 3) -> list[list[int]]:
    """Rounds of chance over up to `rows` rows that come and go, with times of chance: the wishes, step by step."""
    chance, wishes = random.Random(seed), []
    for step in range(steps):
        slots = list(range(1 + chance.randrange(rows)))
        for slot in range(rows) if step % 20 == 0 else ():
            controller.begin(slot)
        wished = controller.lengths(slots)
        drafted = [chance.choice([wish, min(wish, 1), 0]) for wish in wished]
        for slot, made in zip(slots, drafted, strict=True):
            if made:
                controller.observe(slot, made, chance.randint(0, made))
        controller.stepped(drafted, 0.5 + chance.random())
        wishes.append(wished)
    return wishes


@pytest.mark.parametrize("seed", range(3))
def test_wishes_stay_within_the_longest(made: Controller, seed: int) -> None:
    """Catches a wish beyond what slots, context and facts were laid out for, and a negative one; settled or not."""
    made.reset()
    before = drive(made, seed)
    made.settle()
    made.reset()
    for wished in before + drive(made, seed + 100):
        assert all(0 <= wish <= made.longest for wish in wished)


def test_an_empty_step_teaches_nothing_wrong(made: Controller) -> None:
    """Catches a division by the drafts of a step that has none, and a wish that a run of such steps drives out of bounds."""
    made.reset()
    made.begin(0)
    for _ in range(200):
        assert 0 <= made.lengths([0])[0] <= made.longest
        made.stepped([0], 1.0)


def test_a_trial_starts_as_the_one_before_it_did(made: Controller) -> None:
    """Catches state that leaks from one trial into the next: after a reset the same outcomes and times give the same wishes."""
    made.reset()
    drive(made, 1)
    made.settle()
    trials = []
    for _ in range(2):
        made.reset()
        trials.append(drive(made, 2))
    assert trials[0] == trials[1]


def test_acceptance_of_the_warm_up_is_forgotten(made: Controller) -> None:
    """Catches a controller that enters the trial knowing how the measured prompts are accepted: warm-ups that differ in nothing but what was kept
    give the same trial."""
    trials = []
    for keeps_all in (True, False):
        fresh = type(made)(made.params)
        fresh.reset()
        fresh.begin(0)
        for _ in range(200):
            wish = fresh.lengths([0])[0]
            if wish:
                fresh.observe(0, wish, wish if keeps_all else 0)
            fresh.stepped([wish], 1.0 + wish / 10)
        # Which lengths the warm-up tried may follow what was kept; what a length costs does not.
        fresh.settle()
        fresh.reset()
        trials.append(drive(fresh, 5, rows=1))
    assert trials[0] == trials[1]


@pytest.mark.parametrize(("controller", "drafter", "toy"), PLACES)
@pytest.mark.parametrize("rule", ["exact", "rejection"])
def test_greedy_output_equals_plain(controller: str, drafter: str, toy: bool, rule: str) -> None:
    """Catches a draft length that changes what is said, with rows of a batch that ask differently."""
    target_name = "toy" if toy else target_of(drafter)
    plain = by_prompt(plain_loop(tiny(target_name), StopRules(LIMIT)).run(prompts(4), 1))
    loop = loop_of(tiny(target_name), spec(drafter, controller=controller, rule=RULES[rule]), StopRules(LIMIT))
    found = by_prompt(loop.run(prompts(4), 3))
    assert {name: s.output for name, s in found.items()} == {name: s.output for name, s in plain.items()}
    # Of a tree the draft is its nodes, and what a controller bounds is its depth.
    assert all(depth <= loop.controller.longest for s in found.values() for depth in s.round_depth)


@pytest.mark.parametrize(("controller", "drafter"), PAIRS)
@pytest.mark.parametrize("rule", ["exact", "sampled"])
def test_same_seed_same_counts(controller: str, drafter: str, rule: str) -> None:
    """Catches counts that hang on the clock although the controller says that they do not: then one trial could not stand for all."""
    loop = loop_of(tiny(target_of(drafter)), spec(drafter, controller=controller, rule=RULES[rule]), StopRules(LIMIT))
    loop.run(prompts(4), 2)
    loop.controller.settle()
    trials = []
    for _ in range(2):
        loop.drafter.reset()
        loop.controller.reset()
        trials.append([counts(s) for s in loop.run(prompts(4), 2)])
    if not loop.controller.timed:
        assert trials[0] == trials[1]
    # What is said hangs on the clock in no case of greedy decoding.
    if rule == "exact":
        assert sorted(c[0] for c in trials[0]) == sorted(c[0] for c in trials[1])


@pytest.mark.parametrize(("controller", "drafter"), [(c, d) for c in NAMES for d in DRAFTERS if not fits(c, d)])
def test_a_drafter_without_confidence_is_refused_where_it_is_needed(controller: str, drafter: str) -> None:
    """Catches a run that is labelled with a controller which never acts."""
    with pytest.raises(UnknownPart, match="probability"):
        choose(spec(drafter, controller=controller))


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_a_drafter_asks_exactly_where_it_says_so(drafter: str) -> None:
    """Catches `knows_confidence` that is set on a drafter which never asks, and the other way round."""
    asked: list[float] = []

    def more(slot: int, confidence: float) -> bool:
        asked.append(confidence)
        return True

    target, requests = tiny(target_of(drafter)), prompts(1)
    loop = loop_of(target, spec(drafter), StopRules(LIMIT))
    with target.supplying(loop.drafter.needs):
        target.prefill(0, requests[0].ids[:-1])
    loop.drafter.begin(0, requests[0].ids)
    draft = loop.drafter.propose(Batch((0,), (list(requests[0].ids),)), [4], more)
    assert draft.lengths[0] > 0
    assert bool(asked) == drafters()[drafter].knows_confidence


def test_the_service_knows_how_far_it_reaches(made: Controller) -> None:
    """Catches a controller whose longest draft stands under a name that the service does not read: it could not tell longer drafts from those."""
    asked = spec(controller=made.name, **made.params.model_dump())
    assert longest_draft(asked) == made.longest
