"""Answers and scrapes of llama-server b11434 and vLLM 0.32.0 as they were, without texts and times; the numbers are of single requests."""

from collections.abc import Mapping

# Name: E, R, V, D, decode calls. P is 1, and what is left over of the calls after it and R carried no draft.
LLAMA = {
    "en1": (27, 0, 0, 0, 27),
    "en2": (64, 5, 9, 36, 55),
    "en3": (22, 2, 16, 16, 6),
    "ru1": (64, 6, 45, 48, 19),
    "ru2": (64, 2, 1, 12, 63),
    "ru3": (64, 7, 39, 55, 25),
    "chat_en": (64, 5, 16, 32, 48),
    "chat_ru": (64, 8, 51, 59, 13),
}
# The two that end on a stop string inside a draft, with what was kept and never delivered.
LLAMA_STOPPED = {"stop": (19, 2, 16, 16, 6, 3), "stop2": (5, 1, 8, 8, 5, 8)}

# Name: E, R, V, D, engine steps, kept and never delivered.
VLLM = {
    "en1": (34, 2, 0, 8, 34, 0),
    "en2": (64, 11, 21, 42, 46, 3),
    "en3": (22, 5, 16, 20, 8, 2),
    "ru1": (64, 12, 41, 48, 23, 0),
    "ru2": (64, 7, 12, 28, 53, 1),
    "ru3": (64, 11, 35, 44, 30, 1),
    "chat_en": (64, 12, 18, 48, 49, 3),
    "chat_ru": (48, 10, 39, 40, 11, 2),
}


def llama(emitted: int, verified: int, drafted: int) -> dict[str, object]:
    timings: dict[str, object] = {"cache_n": 0, "prompt_n": 43, "prompt_ms": 170.63, "predicted_n": emitted, "predicted_ms": 591.488}
    return {"timings": timings | ({"draft_n": drafted, "draft_n_accepted": verified} if drafted else {}), "tokens_predicted": emitted}


def llama_metrics(emitted: int, rounds: int, verified: int, drafted: int, calls: int, kept_at: tuple[int, ...] = ()) -> str:
    lines = [
        "# HELP llamacpp:n_decode_total Total number of llama_decode() calls, excluding speculative decoding and multimodal decoding",
        "# TYPE llamacpp:n_decode_total counter",
        f"llamacpp:n_decode_total {calls}",
        f"llamacpp:tokens_predicted_total {emitted}",
        "# TYPE llamacpp:n_tokens_max counter",
        "llamacpp:n_tokens_max 184",
        f"llamacpp:spec_decode_num_draft_tokens_total {drafted}",
        f"llamacpp:spec_decode_num_accepted_tokens_total {verified}",
        f"llamacpp:spec_decode_num_drafts_total {rounds}",
        "# TYPE llamacpp:predicted_tokens_seconds gauge",
        "llamacpp:predicted_tokens_seconds 132.847",
    ]
    lines += [f'llamacpp:spec_decode_num_accepted_tokens_per_pos_total{{position="{i}"}} {kept}' for i, kept in enumerate(kept_at)]
    return "\n".join(lines) + "\n"


def vllm(emitted: int, speculative: Mapping[str, object] | None) -> dict[str, object]:
    return {
        "usage": {"prompt_tokens": 43, "total_tokens": 43 + emitted, "completion_tokens": emitted, "prompt_tokens_details": None},
        "metrics": {"time_to_first_token_ms": 64.8, "mean_itl_ms": 18.006217174612203, "speculative_decoding": speculative},
    }


# Of `en2` of VLLM.
EN2 = {
    "mean_acceptance_length": 2.909090909090909,
    "draft_acceptance_rate": 0.5,
    "acceptance_histogram": [3, 1, 1, 6, 0],
    "num_spec_steps": 11,
    "num_accepted_draft_tokens": 21,
    "num_draft_tokens": 42,
    "num_spec_tokens": 4,
    "per_step_accepted": [2, 3, 0, 1, 0, 0, 3, 3, 3, 3, 3],
    "per_step_drafted": [4, 4, 4, 2, 4, 4, 4, 4, 4, 4, 4],
}  # fmt: skip


def vllm_metrics(
    emitted: int, rounds: int | None, verified: int, drafted: int, steps: int,
    requests: int, kept_at: tuple[int, ...] = (0, 0, 0, 0), engine: str = "0", model: str = "smollm2",
) -> str:  # fmt: skip
    own = f'engine="{engine}",model_name="{model}"'
    lines = [
        'python_info{implementation="CPython",major="3",minor="11",patchlevel="7",version="3.11.7"} 1.0',
        "process_start_time_seconds 1.79600117137e+09",
        f"vllm:num_requests_running{{{own}}} 0.0",
        f"vllm:num_preemptions_total{{{own}}} 0.0",
        f"vllm:generation_tokens_total{{{own}}} {float(emitted)}",
        f"vllm:generation_tokens_created{{{own}}} 1.7960012073905e+09",
        f'vllm:request_success_total{{engine="{engine}",finished_reason="stop",model_name="{model}"}} {float(requests)}',
        f'vllm:request_success_total{{engine="{engine}",finished_reason="length",model_name="{model}"}} 0.0',
        f'vllm:request_success_total{{engine="{engine}",finished_reason="abort",model_name="{model}"}} 0.0',
        f'vllm:iteration_tokens_total_bucket{{engine="{engine}",le="1.0",model_name="{model}"}} 193.0',
        f"vllm:iteration_tokens_total_count{{{own}}} {float(steps)}",
        f"vllm:iteration_tokens_total_sum{{{own}}} 960.0",
    ]
    if rounds is not None:
        lines += [
            f"vllm:spec_decode_num_drafts_total{{{own}}} {float(rounds)}",
            f"vllm:spec_decode_num_drafts_created{{{own}}} 1.7960012073899026e+09",
            f"vllm:spec_decode_num_draft_tokens_total{{{own}}} {float(drafted)}",
            f"vllm:spec_decode_num_accepted_tokens_total{{{own}}} {float(verified)}",
        ]
        lines += [f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{own},position="{i}"}} {float(kept)}' for i, kept in enumerate(kept_at)]
    return "\n".join(lines) + "\n"
