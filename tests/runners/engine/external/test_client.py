"""Requests to servers that behave and to such that do not: whole answers with their times, or a fault; never a part taken for the whole."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from runners.engine.external.answer import Answer, Ask
from runners.engine.external.client import Client, Limits
from runners.engine.external.engines.base import Engine
from runners.engine.external.engines.llama_cpp import LlamaCpp
from runners.engine.external.engines.openai import OpenAI
from runners.engine.external.engines.vllm import Vllm
from runners.engine.external.faults import EngineFault
from runners.engine.external.ports import free_port
from runners.engine.external.process import Command, Process
from tests.runners.engine.external import servers
from tests.runners.engine.external.servers import Handler, events, served, streamed

QUICK = Limits(connect=2, first=1.0, between=0.4)


class Wall:
    def __init__(self) -> None:
        self.origin = time.perf_counter()

    def now(self) -> float:
        return time.perf_counter() - self.origin


def answer(engine: Engine, url: str, ask: Ask | None = None, limits: Limits | None = None, **over: Any) -> Answer:
    async def one() -> Answer:
        async with Client(engine.name, url, Wall(), limits=limits, **over) as client:
            return await engine.ask(client, ask or Ask("Начало", 8))

    return asyncio.run(one())


def fault(engine: Engine, routes: dict[str, Callable[[Handler], None]], **over: Any) -> EngineFault:
    with served(routes) as url, pytest.raises(EngineFault) as found:
        answer(engine, url, **over)
    return found.value


def partial(text: str, token: int) -> dict[str, Any]:
    return {"index": 0, "content": text, "tokens": [token], "stop": False, "id_slot": 0, "tokens_predicted": token, "tokens_evaluated": 3}


FINAL = {
    "index": 0, "content": "", "tokens": [], "stop": True, "model": "m", "tokens_predicted": 3, "tokens_evaluated": 3, "stop_type": "eos",
    "stopping_word": "", "timings": {"cache_n": 0, "prompt_n": 3, "predicted_n": 3, "draft_n": 4, "draft_n_accepted": 1},
}  # fmt: skip
LLAMA = events(partial("Маяк", 1), partial(" ё", 2), partial("!", 3), FINAL, done=False)


def chunk(text: str, ids: list[int] | None, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish, "stop_reason": None, "token_ids": ids}
    return {"id": "cmpl-1", "object": "text_completion", "model": "m", "choices": [choice]}


USAGE = {"id": "cmpl-1", "object": "text_completion", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 6, "total_tokens": 9}}
VLLM = events(chunk("The", [504]), chunk(" red boat left.", [1, 2, 3, 4]), chunk("", [5], "stop"), USAGE)


def test_an_answer_is_whole_with_ids_counts_and_times() -> None:
    with served({"/completion": streamed(LLAMA)}) as url:
        found = answer(LlamaCpp("m"), url)
    assert (found.text, found.ids, found.emitted, found.finish) == ("Маяк ё!", (1, 2, 3), 3, "eos")
    assert [delivery.tokens for delivery in found.deliveries] == [1, 1, 1]
    assert found.first_at is not None
    assert found.last_at is not None
    assert 0 <= found.sent_at < found.first_at <= found.last_at <= found.ended_at


def test_tokens_are_counted_by_ids_and_never_by_pieces() -> None:
    """Catches 3 tokens out of 3 pieces, where the answer has 6: a speculative arm would look half as fast as it is."""
    with served({"/v1/completions": streamed(VLLM)}) as url:
        found = answer(Vllm("m"), url)
    assert (found.emitted, found.ids, found.finish) == (6, (504, 1, 2, 3, 4, 5), "eos")
    assert [delivery.tokens for delivery in found.deliveries] == [1, 4, 1]


def test_a_count_that_nobody_told_is_none() -> None:
    without = events(
        {"choices": [{"index": 0, "text": "The red boat", "finish_reason": None}]},
        {"choices": [{"index": 0, "text": ".", "finish_reason": "length"}]},
    )
    with served({"/v1/completions": streamed(without)}) as url:
        found = answer(OpenAI("m"), url)
    assert (found.emitted, found.ids, found.without_ids, found.finish) == (None, None, "openai told no token ids", "length")


def test_ids_that_lack_some_tokens_are_none() -> None:
    """Catches two answers that seem equal, or unequal, because a stream leaves out the ids of tokens that end within a character."""
    with served({"/completion": streamed(events(partial("Маяк", 1), partial("!", 3), FINAL, done=False))}) as url:
        found = answer(LlamaCpp("m"), url)
    assert (found.emitted, found.ids, found.without_ids) == (3, None, "llama.cpp told the ids of 2 of 3 tokens")


@pytest.mark.parametrize("cut", [i for i, byte in enumerate(LLAMA) if byte >= 0x80][1::3])
def test_a_stream_that_is_cut_within_a_letter_and_goes_on_is_whole(cut: int) -> None:
    with served({"/completion": streamed(LLAMA, cut=cut)}) as url:
        assert answer(LlamaCpp("m"), url).text == "Маяк ё!"


def broken_off(data: bytes) -> Callable[[Handler], None]:
    def hang_up(handler: Handler) -> None:
        handler.begin_stream()
        handler.piece(data)
        handler.hang_up()

    return hang_up


def test_a_stream_that_breaks_within_a_letter_is_no_answer() -> None:
    """Catches a short answer taken as complete, which would be a fast one."""
    found = fault(LlamaCpp("m"), {"/completion": broken_off(LLAMA[: LLAMA.index("ё".encode()) + 1])})
    assert found.code == "engine_gone"
    assert "the connection to llama.cpp broke after 1 events of an answer" in str(found)


@pytest.mark.parametrize(
    ("engine", "path", "data"),
    [
        (LlamaCpp("m"), "/completion", events(partial("Маяк", 1), done=False)),
        (LlamaCpp("m"), "/completion", events(partial("Маяк", 1))),
        (LlamaCpp("m"), "/completion", b""),
        (Vllm("m"), "/v1/completions", VLLM.removesuffix(b"data: [DONE]\n\n")),
        (Vllm("m"), "/v1/completions", events(chunk("The", [504]), USAGE)),
    ],
)
def test_a_stream_that_ends_too_early_is_no_answer(engine: Engine, path: str, data: bytes) -> None:
    """Catches an end of the connection, or of the stream, that is taken for the end of the answer."""
    found = fault(engine, {path: streamed(data)})
    assert found.code == "engine_cut"
    assert "cut off after" in str(found)


def test_a_stalled_stream_is_given_up_although_the_connection_is_kept_open() -> None:
    """Catches comments, sent to keep the connection, that count as life."""

    def stall(handler: Handler) -> None:
        handler.begin_stream()
        handler.piece(events(partial("Маяк", 1), done=False))
        for _ in range(20):
            time.sleep(0.1)
            handler.piece(b":\n\n")

    found = fault(LlamaCpp("m"), {"/completion": stall}, limits=QUICK)
    assert (found.code, str(found)) == ("engine_stalled", "the answer of llama.cpp stalled: nothing came for 0.4 seconds after event 1")


def test_a_server_that_takes_a_request_and_says_nothing_is_given_up() -> None:
    found = fault(OpenAI("m"), {"/v1/completions": lambda handler: time.sleep(1.6)}, limits=QUICK)
    assert (found.code, str(found)) == ("engine_stalled", "openai sent nothing for 1 seconds")


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (
            {"error": {"code": 500, "message": "failed to open /home/a/m.gguf\n", "type": "server_error"}},
            500,
            "answered 500 to /completion: failed to open m.gguf",
        ),
        (
            {"object": "error", "message": "The model `x` does not exist.", "code": 404},
            404,
            "answered 404 to /completion: The model `x` does not exist.",
        ),
        ({"detail": "Not Found"}, 404, "answered 404 to /completion: Not Found"),
        (b"<html>" + b"x" * 9000, 502, "answered 502 to /completion: <html>" + "x" * 293 + "…"),
        (b"", 307, "answered 307 to /completion and said nothing"),
    ],
)
def test_a_refusal_is_told_in_the_servers_words_at_their_length(body: Any, status: int, said: str) -> None:
    tries: list[int] = []

    def refuse(handler: Handler) -> None:
        tries.append(1)
        handler.reply(body, status)

    found = fault(LlamaCpp("m"), {"/completion": refuse})
    assert (found.code, str(found)) == ("engine_refused", f"llama.cpp {said}")
    assert len(tries) == 1, "a refused request was sent again"


def test_an_error_in_the_middle_of_a_stream_is_no_answer() -> None:
    found = fault(LlamaCpp("m"), {"/completion": streamed(events(partial("Маяк", 1), {"error": {"message": "context is full"}}, done=False))})
    assert (found.code, str(found)) == ("engine_refused", "llama.cpp broke off with an error: context is full")


@pytest.mark.parametrize(
    "data", [b"data: {nonsense\n\n", b'data: {"tokens_predicted": NaN}\n\n', b"data: [1]\n\n", b'data: {"content": 3}\n\n', b"data: \xd0\n\n"]
)
def test_what_is_no_event_is_a_fault_with_a_sentence(data: bytes) -> None:
    assert fault(LlamaCpp("m"), {"/completion": streamed(data)}).code == "engine_unreadable"


def test_an_answer_in_one_piece_where_a_stream_was_asked_for_is_no_answer() -> None:
    """Catches a whole answer as one delivery: time to first token and time per token would be made up."""
    whole = {**chunk("The", [504], "length"), "usage": {"completion_tokens": 1}}
    assert fault(OpenAI("m"), {"/v1/completions": lambda handler: handler.reply(whole)}).code == "engine_unreadable"
    with served({"/v1/completions": lambda handler: handler.reply(whole)}) as url:
        assert answer(OpenAI("m"), url, Ask("x", 1, stream=False)).emitted == 1


def test_a_server_that_is_not_there_is_a_fault() -> None:
    with pytest.raises(EngineFault, match="openai could not be reached"):
        answer(OpenAI("m"), f"http://127.0.0.1:{free_port()}")


def test_an_engine_that_dies_in_the_middle_of_an_answer_tells_its_last_words(tmp_path: Any) -> None:
    port = free_port()
    process = Process("llama.cpp", Command((sys.executable, servers.__file__, "dies", str(port))), port, tmp_path / "log")
    try:
        process.await_ready("/health", 30)
        with pytest.raises(EngineFault) as found:
            answer(LlamaCpp("m"), process.url, ended=process.ended)
    finally:
        process.stop(0)
    assert found.value.again
    assert (found.value.code, str(found.value)) == (
        "engine_exited",
        "llama.cpp was ended by SIGKILL; its last words:\nloading model.gguf as dies\nout of memory",
    )


def test_no_request_waits_for_another_one() -> None:
    """Catches a pool of connections smaller than the load: the server answers when all of them are there, and so never."""
    together = threading.Barrier(120)

    def meet(handler: Handler) -> None:
        together.wait(20)
        streamed(LLAMA)(handler)

    async def all_at_once(url: str) -> list[Answer]:
        engine = LlamaCpp("m")
        async with Client("llama.cpp", url, Wall()) as client:
            return await asyncio.gather(*(engine.ask(client, Ask("x", 8)) for _ in range(120)))

    with served({"/completion": meet}) as url:
        found = asyncio.run(all_at_once(url))
    assert [each.emitted for each in found] == [3] * 120


def test_a_request_is_sent_at_its_planned_arrival_and_not_before() -> None:
    with served({"/completion": streamed(LLAMA)}) as url:
        found = answer(LlamaCpp("m"), url, Ask("x", 8, planned_at=0.3))
    assert found.planned_at == 0.3
    assert found.sent_at >= 0.3
