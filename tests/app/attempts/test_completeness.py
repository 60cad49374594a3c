"""What a run lacks before it may be called a success."""

from dataclasses import replace

import pytest

from app.attempts.completeness import Block, Kind, Pass, Seen, lacking
from app.domain.prompt import Prompt
from tests import factories, factories_served

SPEC = factories.run_spec(trials=1)
ASKED = tuple(Prompt(id=f"ru-0{n}", language="ru", profile="chat", text="Что такое безмен?", answer="prompt") for n in (1, 2))
KINDS: frozenset[Kind] = frozenset((prompt.id, prompt.profile, prompt.answer) for prompt in ASKED)


def seen(kinds: frozenset[Kind] = KINDS) -> Seen:
    prompts = frozenset(id for id, *_ in kinds)
    passes: list[Pass] = [("headline", arm, trial) for arm in ("plain", "speculative", "control") for trial in (0, 1)]
    passes += [("losslessness", arm, 0) for arm in ("plain", "speculative")]
    return Seen(
        environment=True, preflight=factories.preflight_fact(profiles={"chat": len(prompts)}), warmup=True,
        requests=dict.fromkeys(passes, prompts), trials=frozenset(passes), drafted=9, always_drafts=True, kinds=kinds,
    )  # fmt: skip


def test_the_prompts_are_those_of_the_suite() -> None:
    """Catches a verdict over prompts that somebody chose: invented ones, the best half of the suite, one that is judged as if it were code."""
    assert lacking(seen(), SPEC, ASKED) == []
    invented = frozenset({("zz-01", "chat", "prompt"), ("zz-02", "chat", "prompt")})
    assert [text.split("(")[1] for text in lacking(seen(invented), SPEC, ASKED)] == [
        "ru-01, ru-02 are not here as the suite has them)",
        "zz-01, zz-02 are not among those that the run asks for)",
    ]
    half = frozenset(kind for kind in KINDS if kind[0] == "ru-01")
    assert any("ru-02 are not here" in text for text in lacking(seen(half), SPEC, ASKED))
    as_code = half | {("ru-02", "chat", "code")}
    assert any("ru-02 are not here as" in text for text in lacking(seen(as_code), SPEC, ASKED))


def test_what_runners_alone_know_is_not_compared() -> None:
    """Catches a suite of a runner's own that no run of it could ever finish."""
    assert lacking(seen(), SPEC, None) == []


def test_the_librarys_own_decoding_stands_beside_one_request_at_a_time() -> None:
    """Catches a run that leaves its control out, in whole or on some prompts, and so escapes the check for a slow plain arm."""
    whole = seen()
    without = replace(whole, requests={key: prompts for key, prompts in whole.requests.items() if key[1] != "control"})
    assert lacking(without, SPEC, ASKED) == ["headline requests of the control arm"]
    once = replace(whole, requests={key: prompts for key, prompts in whole.requests.items() if key != ("headline", "control", 1)})
    assert lacking(once, SPEC, ASKED) == ["2 headline passes of the control arm (1 are here)"]
    some = replace(whole, requests=dict(whole.requests) | {("headline", "control", 0): frozenset({"ru-01"})})
    assert lacking(some, SPEC, ASKED) == ["the 2 prompts of pre-flight in headline control 0 (1 are here)"]
    batched = factories.run_spec(trials=1, load={"concurrency": 2})
    assert lacking(without, batched, ASKED) == []


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ({0: Block(2, False)}, ""),
        ({0: Block(2, True), 1: Block(2, False)}, ""),
        ({0: Block(2, True), 1: Block(2, True)}, ""),
        ({0: Block(2, False), 1: Block(2, False)}, "1 blocks of trials that the run asks for alone (2 undisturbed ones are here)"),
        ({0: Block(2, True), 1: Block(2, True), 2: Block(2, False)}, "blocks of trials that are repeated once at most (3 are here for 1)"),
        ({0: Block(12, False)}, "blocks of 2 passes of each arm alone (12 are here in one)"),
    ],
)
def test_trials_added_after_looking_are_no_trials_of_this_run(blocks: dict[int, Block], said: str) -> None:
    """Catches a run that goes on until its interval says what was wished for; a block that others disturbed is repeated once."""
    found = lacking(replace(seen(), blocks=blocks), SPEC, ASKED)
    assert found == [] if not said else found[0].endswith(said)


def test_losslessness_is_looked_at_once() -> None:
    """Catches the pass that came out equal, picked from several."""
    whole = seen()
    again = {("losslessness", arm, 1): frozenset({"ru-01", "ru-02"}) for arm in ("plain", "speculative")}
    found = lacking(replace(whole, requests=dict(whole.requests) | again, trials=whole.trials | again.keys()), SPEC, ASKED)
    assert found == [f"one losslessness pass of the {arm} arm alone (2 are here)" for arm in ("plain", "speculative")]


@pytest.mark.parametrize(
    ("drafter", "shares", "passes", "said"),
    [
        ("layerskip", True, (0, 4), "the draft layer passes of layerskip, which drafts with the target's layers (4 requests drafted without any)"),
        ("layerskip", True, (4, 0), ""),
        ("ngram", False, (4, 0), "drafts of ngram alone, which runs no layer of the target (4 requests tell of draft layer passes)"),
        ("ngram", False, (0, 4), ""),
        ("layerskip", None, (0, 4), ""),
    ],
)
def test_layers_draft_where_the_drafter_has_them(drafter: str, shares: bool | None, passes: tuple[int, int], said: str) -> None:
    """Catches the acceptance of an n-gram table under the name of a drafter that runs layers, and the other way round."""
    spec = factories.run_spec(trials=1, drafter=drafter)
    found = lacking(replace(seen(), shares_cache=shares, with_layers=passes[0], without_layers=passes[1]), spec, ASKED)
    assert found == [said] * bool(said)


def test_an_engine_without_a_plain_arm_is_complete_with_its_own() -> None:
    """Catches a run on such an engine that can never end well, and one on another that leaves its plain arm out."""
    own = {key: prompts for key, prompts in seen().requests.items() if key[:2] == ("headline", "speculative")}
    spec = factories_served.run_spec(trials=1, engine="sg", drafter="as-served")
    for plain_arm, missing in ((False, []), (True, ["headline requests of the plain arm"])):
        fact = factories.preflight_fact(profiles={"chat": 2}, plain_arm=plain_arm)
        assert lacking(replace(seen(), requests=own, preflight=fact), spec, ASKED) == missing


def test_a_served_engine_owes_no_trial_in_float32() -> None:
    """Catches a run that can never end well because it has no logits to judge by, and one of ours that leaves its trial out."""
    own = {key: prompts for key, prompts in seen().requests.items() if key[0] == "headline" and key[1] != "control"}
    without = replace(seen(), requests=own)
    assert lacking(without, factories_served.run_spec(trials=1), ASKED) == []
    assert any("losslessness" in text for text in lacking(without, SPEC, ASKED))


def test_drafts_that_nobody_counted_are_not_none() -> None:
    """Catches a run that is told that speculation was not active, because its engine does not say how much it drafted."""
    assert lacking(replace(seen(), drafted=None), SPEC, ASKED) == []
    assert any("speculation was not active" in text for text in lacking(replace(seen(), drafted=0), SPEC, ASKED))
