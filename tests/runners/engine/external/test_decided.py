"""Which options a file of engines may add."""

import pytest

from runners.engine.external.decided import refusal


@pytest.mark.parametrize(
    "word",
    [
        "-ctk", "-ctv", "--cache-type-k", "--cache_type_v=q8_0", "--ctx_size", "--no_slots", "--max_num_seqs", "--enable-prefix-caching",
        "--kv-cache-dtype", "--kv-cache-d", "--quantization", "-q", "-sc", "--speculative_config", "--speculative-config.method", "-hf", "-hft",
        "-Cr", "--cpu-strict", "--tensor-parallel-size", "-tp", "--config", "--chat-template", "--lora-modules", "--enable-lora",
        "--no-enforce-eager",
        "--max-model-l", "--tokenizer-mode", "--model-draft", "--api-key", "--hf-token=abc", "--ssl-keyfile", "", " -c", "-c ",
        "--api-k=sk-1", "--dty", "--see", "-qawq", "-pc", "--", "--n-gpu-layers-draft", "-ngld", "--poll-draft", "--fim-qwen-14b-spec",
        "--gpt-oss-20b-default", "--reasoning-budget", "-rea",
    ],
)  # fmt: skip
def test_what_a_passport_states_is_refused(word: str) -> None:
    """Catches an option that makes a passport wrong, under another spelling that the engine takes too."""
    assert refusal(word)


@pytest.mark.parametrize(
    "word",
    [
        "-ngl", "99", "--flash-attn", "off", "-fa", "-b", "--batch-size", "-ub", "--no-mmap", "--mlock", "--numa", "--prio", "--poll", "-fit",
        "--gpu-memory-utilization", "0.8", "--max-num-batched-tokens", "--block-size", "--swap-space", "--async-scheduling", "--log-file",
        "--verbose", "--n-gpu-layers", "--device", "-O0", "--compilation-config", "--no-warmup", "--truth",
    ],
)  # fmt: skip
def test_what_a_machine_needs_is_let_through(word: str) -> None:
    """Catches a list that refuses what no passport states otherwise."""
    assert refusal(word) is None


def test_a_secret_is_not_repeated() -> None:
    """Catches the key of an engine in the sentence that refuses it."""
    assert "abc" not in str(refusal("--api-key=abc"))
