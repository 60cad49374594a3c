"""Answers that part from plain's: numerics or a fault, over real trials of real loops, with broken parts that must be found out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from app.domain.facts import FACT, RequestFact, digest_of
from app.domain.observations import DivergenceFact
from runners.clock import Clock
from runners.engine.dice import Chance
from runners.engine.draft import Accepted, Batch, Draft
from runners.engine.stops import StopRules
from runners.parts import choose
from runners.protocol.bench import Bench
from runners.protocol.closed import ClosedTrials
from runners.protocol.oracle import MOST, Oracle, Parting, judged, ulp
from runners.protocol.paired import PairedTrials
from runners.protocol.trials import Told, Trials
from runners.verifiers.base import Verifier
from runners.verifiers.exact import Exact
from tests.models import SAMPLED, plain_loop, prompts, spec, tiny
from tests.runners.protocol.test_closed import Ready, Words

LIMIT = 16


class Credulous(Exact):
    """Keeps one draft more than the target's argmax agrees with: a fault that every speed figure likes."""

    def verify(self, batch: Batch, draft: Draft, logits: torch.Tensor, chance: Chance) -> Accepted:
        honest = super().verify(batch, draft, logits, chance)
        kept = [min(count + 1, length) for count, length in zip(honest.kept, draft.lengths, strict=True)]
        rows = torch.arange(len(kept))
        return Accepted(kept=kept, next=logits[rows, torch.tensor(kept)].argmax(dim=-1).tolist())


def trials_of(concurrency: int, verifier: Verifier | None = None, dtype: torch.dtype = torch.float32, **asked: Any) -> Trials:
    target: Any = tiny("llama", slots=concurrency)
    if dtype != torch.float32:
        target.model.to(dtype)
        target = type(target)(target.model, slots=concurrency, context=256, eos=frozenset())
    ready: Any = Ready(trials=1)
    load = ready.spec.load.model_copy(update={"concurrency": concurrency})
    ready.spec = spec("layerskip", {"exit_layer": 4}, **asked).model_copy(update={"trials": 1, "load": load})
    chosen = choose(ready.spec)
    bench = Bench(target, {0: chosen if verifier is None else replace(chosen, verifier=verifier)}, StopRules(LIMIT), Clock(torch.device("cpu")))
    kind: type[Trials] = PairedTrials if concurrency == 1 else ClosedTrials
    return kind({0: ready}, bench, [0], lambda _run, _fact: None)


def broken(concurrency: int) -> Trials:
    """A speculative arm that lies beside a plain arm that does not."""
    trials = trials_of(concurrency)
    trials.bench.arms[0].loop.verifier = Credulous(Exact.Params())
    return trials


def divergences(told: Sequence[Told]) -> list[DivergenceFact]:
    return [fact for _, fact in told if isinstance(fact, DivergenceFact)]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_rule_that_keeps_a_wrong_token_is_a_violation(concurrency: int) -> None:
    """The negative control: catches an oracle that excuses everything, and one that looks at the wrong place or pass."""
    trials = broken(concurrency)
    told = list(judged(trials, trials.bench.target, trials.headline()))
    found = divergences(told)
    answers = {(f.arm, f.prompt, f.trial): f for _, f in told if isinstance(f, RequestFact)}
    apart = [f for (arm, prompt, trial), f in answers.items() if arm == "speculative" and f.output_ids != answers["plain", prompt, trial].output_ids]
    assert len(found) == len(apart) > 0
    assert {fact.judgement for fact in found} == {"violation"}
    for fact in found:
        ours, own = (answers[arm, fact.prompt, fact.trial].output_ids for arm in ("plain", "speculative"))
        assert ours is not None
        assert own is not None
        assert ours[: fact.position] == own[: fact.position]
        assert (fact.plain_token, fact.speculative_token) == (ours[fact.position], own[fact.position])
        assert fact.plain_text is not None
        assert fact.plain_text.split() == Words().decode(list(ours[fact.position :])).split()
        assert fact.gap is not None
        assert fact.gap > fact.tolerance
        assert FACT.validate_json(fact.model_dump_json()) == fact


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_lossless_rule_has_nothing_to_be_judged(concurrency: int) -> None:
    """Catches answers of different passes or arms compared with each other."""
    trials = trials_of(concurrency)
    assert not divergences(list(judged(trials, trials.bench.target, trials.headline())))


def test_drawn_answers_are_not_judged() -> None:
    """Catches chance taken for a fault: sampled answers differ by right."""
    trials = trials_of(1, rule=SAMPLED)
    told = list(judged(trials, trials.bench.target, trials.headline()))
    assert len({f.output_digest for _, f in told if isinstance(f, RequestFact)}) > 8
    assert not divergences(told)


def test_facts_pass_in_their_order_and_divergences_follow() -> None:
    """Catches forwards of the oracle between trials that are timed."""
    trials = broken(1)
    kinds = [fact.kind for _, fact in judged(trials, trials.bench.target, trials.headline())]
    first = kinds.index("divergence")
    assert set(kinds[first:]) == {"divergence"}
    assert kinds[:first].count("request") == kinds.count("request") >= 2 * 8 * 2


def answer(arm: str, ids: list[int], trial: int = 0) -> RequestFact:
    """What the loop counts of plain decoding, with other ids."""
    sequence = plain_loop(tiny("toy"), StopRules(len(ids))).run(prompts(1), 1)[0]
    counted = sequence.counted() | {"output_ids": tuple(ids)}
    return RequestFact(
        arm=arm, trial=trial, order=0, prompt="p0", profile="chat", prompt_tokens=1, prompt_characters=1, prompt_words=1, longest_draft=4,
        output_digest=digest_of(ids), output_text="said", output_characters=1, output_words=1, **counted,
    )  # fmt: skip


def judge(target: Any, ours: list[int], own: list[int]) -> DivergenceFact:
    oracle = Oracle(target, {"p0": prompts(1)[0].ids}, Words().decode)
    ((run, fact),) = oracle.judge([Parting(3, answer("plain", ours), answer("speculative", own))])
    assert run == 3
    assert isinstance(fact, DivergenceFact)
    return fact


def tied(lowered: float = 0.0) -> tuple[Any, list[int], int]:
    """A target for which a twin of its greedy token 3 is worth exactly as much, less `lowered`: (target, plain's ids, the twin)."""
    target: Any = tiny("llama")
    said = plain_loop(target, StopRules(6)).run(prompts(1), 1)[0].output
    twin = next(token for token in range(target.vocabulary) if token not in {*said, *prompts(1)[0].ids})
    with torch.no_grad():
        target.model.lm_head.weight[twin] = target.model.lm_head.weight[said[3]] * (1 - lowered)
    return target, said, twin


def test_an_exact_tie_is_a_tie() -> None:
    """Catches equal logits that are called a fault."""
    target, said, twin = tied()
    fact = judge(target, said, [*said[:3], twin, *said[4:]])
    assert (fact.judgement, fact.gap, fact.position) == ("tie", 0.0, 3)
    assert (fact.plain_token, fact.speculative_token) == (said[3], twin)
    assert fact.speculative_text is not None
    assert fact.speculative_text.split()[0] == f"w{twin}"


def test_a_token_that_is_a_thousandth_worse_is_a_violation() -> None:
    """Catches a tolerance that is far wider than two units in the last place."""
    target, said, twin = tied(lowered=0.001)
    fact = judge(target, said, [*said[:3], twin, *said[4:]])
    assert fact.judgement == "violation"
    assert fact.gap is not None
    assert 0 < fact.gap < 0.1


def test_a_wrong_token_beside_two_tied_ones_is_a_violation() -> None:
    """Catches a judgement that looks at the two largest logits alone: they are equal here, and the answer took neither."""
    target, said, twin = tied()
    wrong = next(token for token in range(target.vocabulary) if token not in {*said, twin})
    assert judge(target, said, [*said[:3], wrong, *said[4:]]).judgement == "violation"


def test_an_answer_that_ends_early_is_a_violation() -> None:
    """Catches a stop that only one arm makes, which leaves no token to weigh."""
    said = plain_loop(tiny("llama"), StopRules(6)).run(prompts(1), 1)[0].output
    fact = judge(tiny("llama"), said, said[:4])
    assert (fact.judgement, fact.gap, fact.position) == ("violation", None, 4)
    assert (fact.plain_token, fact.speculative_token) == (said[4], None)


def test_no_more_are_judged_than_said() -> None:
    """Catches an oracle that goes on for hours over a run that is broken throughout."""
    said = plain_loop(tiny("llama"), StopRules(6)).run(prompts(1), 1)[0].output
    wrong = [*said[:2], (said[2] + 1) % 90]
    apart = [Parting(0, answer("plain", said, trial), answer("speculative", wrong, trial)) for trial in range(MOST + 3)]
    assert len(list(Oracle(tiny("llama"), {"p0": prompts(1)[0].ids}, Words().decode).judge(apart))) == MOST


def test_an_answer_that_is_kept_as_a_digest_is_not_told() -> None:
    """Catches the text of a private suite that leaks through its first difference."""
    said = plain_loop(tiny("llama"), StopRules(6)).run(prompts(1), 1)[0].output
    secret = answer("plain", said).model_copy(update={"output_text": None})
    oracle = Oracle(tiny("llama"), {"p0": prompts(1)[0].ids}, Words().decode)
    ((_, fact),) = oracle.judge([Parting(0, secret, answer("speculative", [*said[:2], (said[2] + 1) % 90]))])
    assert isinstance(fact, DivergenceFact)
    assert (fact.plain_text, fact.speculative_text) == (None, None)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("value", [0.3, 1.0, 1.99, 2.0, 23.5, -23.5, 1000.0])
def test_a_unit_in_the_last_place_is_the_distance_to_the_next_number(dtype: torch.dtype, value: float) -> None:
    """Catches a unit that is off by a power of two: 23.5 and 23.625 are neighbours in bfloat16."""
    here = torch.tensor(abs(value), dtype=dtype)
    onward = torch.nextafter(here, torch.tensor(torch.inf, dtype=dtype)) if dtype == torch.float32 else _next(here)
    assert ulp(value, dtype) == float(onward.double() - here.double())


def _next(number: torch.Tensor) -> torch.Tensor:
    return (number.view(torch.int16) + 1).view(number.dtype)


def test_half_precision_weighs_in_its_own_units() -> None:
    """Catches a tolerance of float32 in a trial of bfloat16, where every tie would be called a fault."""
    assert ulp(23.5, torch.bfloat16) == 0.125
    trials = trials_of(3, dtype=torch.bfloat16)
    found = divergences(list(judged(trials, trials.bench.target, trials.headline())))
    assert all(fact.judgement == "tie" for fact in found), [(f.gap, f.tolerance) for f in found]
