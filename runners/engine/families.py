"""Model families that run over a slot cache, what each needs of its masks and angles, and why the others are refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"


class UnsupportedModel(ValueError):
    """This model cannot be run over a slot cache. The message says why, and what can be run."""


@dataclass(frozen=True)
class Family:
    """`kinds` reads each layer's kind of attention from the configuration of transformers; `angles_by_kind` says that each kind has rotary angles of
    its own; `sparse` that tokens are sent to experts, each to its own whoever stands beside it; `state` counts from config.json the numbers that
    mixers beside or between attention remember of a text, where there are such, and `left` what part of a plain step is left of these without their
    attention: equal shares of a layer for each of its mixers and its MLP."""

    kinds: Callable[[Any], list[str]]
    angles_by_kind: bool = False
    sparse: bool = False
    state: Callable[[Mapping[str, Any]], int] | None = None
    left: Callable[[Mapping[str, Any]], float] | None = None


def _full(config: Any) -> list[str]:
    return [FULL] * int(config.num_hidden_layers)


def _one(config: Any) -> list[str]:
    return [SLIDING if config.sliding_window else FULL] * int(config.num_hidden_layers)


def _listed(config: Any) -> list[str]:
    return list(config.layer_types)


def _mamba_state(config: Mapping[str, Any]) -> int:
    inner = int(config["mamba_d_ssm"] or config["mamba_expand"] * config["hidden_size"])
    window = (inner + 2 * config["mamba_n_groups"] * config["mamba_d_state"]) * config["mamba_d_conv"]
    return int(config["num_hidden_layers"] * (window + inner * config["mamba_d_state"]))


def _delta_state(config: Mapping[str, Any]) -> int:
    keys, values = (int(config[f"linear_num_{of}_heads"] * config[f"linear_{of}_head_dim"]) for of in ("key", "value"))
    window = (2 * keys + values) * config["linear_conv_kernel_dim"]
    return int(config["layer_types"].count(LINEAR) * (window + values * config["linear_key_head_dim"]))


def _mamba_left(_: Mapping[str, Any]) -> float:
    return 2 / 3


def _delta_left(config: Mapping[str, Any]) -> float:
    return 1 - list(config["layer_types"]).count(FULL) / (2 * int(config["num_hidden_layers"]))


FAMILIES: dict[str, Family] = {
    "falcon_h1": Family(_full, state=_mamba_state, left=_mamba_left),
    "gemma3_text": Family(_listed, angles_by_kind=True),
    "llama": Family(_full),
    "mistral": Family(_one),
    "olmoe": Family(_full, sparse=True),
    "qwen2": Family(_listed),
    "qwen3": Family(_listed),
    "qwen3_5_text": Family(_listed, state=_delta_state, left=_delta_left),
    "qwen3_moe": Family(_one, sparse=True),
}

# Reasons by what a configuration says of itself; the first that holds is given.
ABSOLUTE = frozenset({"gpt2", "gpt_neo", "gpt_bigcode", "imagegpt", "opt", "openai-gpt", "biogpt", "xglm", "codegen", "ctrl"})
ALIBI = frozenset({"bloom", "mpt", "falcon"})
RECURRENT = frozenset({
    "bailing_hybrid", "bamba", "falcon_mamba", "granitemoehybrid", "jamba", "kimi_linear", "lfm2", "lfm2_moe", "mamba", "mamba2",
    "nemotron_h", "olmo_hybrid", "qwen3_5", "qwen3_5_moe", "qwen3_next", "recurrent_gemma", "rwkv", "xlstm", "zamba", "zamba2",
})  # fmt: skip
# The library's mixers hold to a limit of time steps over several tokens, and pass it over for one. A folder spells infinity in its own way.
UNLIMITED: tuple[Any, ...] = (None, [0.0, inf], (0.0, inf), [0.0, {"__float__": "Infinity"}])
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
OTHER_INPUTS = ("vision_config", "audio_config", "text_config", "speech_config")


def check_family(config: Mapping[str, Any]) -> None:
    """Raises UnsupportedModel unless the model of this configuration (the content of its config.json) can be run."""
    name = str(config.get("model_type") or "a model without a model_type")
    reason = _reason(name, config)
    if reason:
        raise UnsupportedModel(f"{name} {reason}. This runner runs the families {', '.join(sorted(FAMILIES))}.")


def is_recurrent(config: Mapping[str, Any]) -> bool:
    """Whether the model of this configuration is of a family that runs here and keeps a recurrent state."""
    family = FAMILIES.get(str(config.get("model_type")))
    return family is not None and family.state is not None


def _reason(name: str, config: Mapping[str, Any]) -> str | None:
    kinds = set(config.get("layer_types") or ())
    if config.get("quantization_config"):
        return "is stored in a quantised layout that this runner does not run (a GGUF file is dequantised instead)"
    if config.get("is_encoder_decoder"):
        return "has an encoder, and this runner decodes behind a prompt in one stack"
    if any(isinstance(config.get(field), Mapping) for field in OTHER_INPUTS):
        return "takes images or sound beside text, and this runner runs text models alone"
    if name in RECURRENT or not kinds <= ({FULL, LINEAR} if is_recurrent(config) else {FULL, SLIDING}):
        return "keeps a recurrent state that this runner does not know how to take back when a draft is rejected"
    if any((config.get(field) or 0) > 1 for field in EXPERTS) and not (name in FAMILIES and FAMILIES[name].sparse):
        return "routes tokens to experts in a way that this runner does not know"
    if name in ABSOLUTE:
        return "adds absolute positions to its embeddings, and this runner's slots give positions to rotary attention alone"
    if name in ALIBI:
        return "may bias attention by distance, and this runner's slots give positions to rotary attention alone"
    if name not in FAMILIES:
        return "is a family whose masks and angles this runner does not know"
    return _variant(config)


def _variant(config: Mapping[str, Any]) -> str | None:
    """Why a known family cannot be run as this model has it."""
    if config.get("use_bidirectional_attention"):
        return "attends to later tokens in this model, so that it cannot be decoded token by token"
    scaling = config.get("rope_parameters") or config.get("rope_scaling") or {}
    for kind in ("longrope", "dynamic"):
        if f"'{kind}'" in str(scaling):
            return f"has rotary angles that change with the longest text of a batch ({kind}), so that a neighbour would change an answer"
    if config.get("time_step_limit") not in UNLIMITED:
        return "limits its time steps where it reads a text and not where it goes on token by token, so that a draft would change an answer"
    return None
