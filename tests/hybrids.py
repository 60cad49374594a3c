"""Tiny random hybrids whose recurrent states matter."""

from typing import Any

import torch
from transformers import FalconH1Config, FalconH1ForCausalLM, Qwen3_5ForCausalLM, Qwen3_5TextConfig

from runners.engine.hybrid_target import HybridTarget

VOCABULARY = 97
SHARED: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
}
HYBRIDS: dict[str, Any] = {
    "falcon_h1": lambda: FalconH1ForCausalLM(
        FalconH1Config(
            **SHARED, num_hidden_layers=2, mamba_d_ssm=32, mamba_n_heads=4, mamba_d_head=8, mamba_d_state=8, mamba_n_groups=2, mamba_chunk_size=8,
            embedding_multiplier=1.5, lm_head_multiplier=0.7, attention_in_multiplier=0.9, attention_out_multiplier=1.2, ssm_in_multiplier=1.1,
            ssm_out_multiplier=0.8, key_multiplier=1.3, mlp_multipliers=[0.9, 1.2], ssm_multipliers=[1.1, 0.9, 1.2, 0.8, 1.05], mamba_rms_norm=False,
        )
    ),
    "qwen3_5": lambda: Qwen3_5ForCausalLM(
        Qwen3_5TextConfig(
            **SHARED, num_hidden_layers=4, head_dim=8, layer_types=["linear_attention", "full_attention"] * 2, linear_num_key_heads=2,
            linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "mrope_section": [1, 1, 0]},
        )
    ),
}  # fmt: skip


def hybrid_model(name: str) -> Any:
    """A random float32 model of a hybrid family, the same one every time. States decay slowly, so that what is wrong in one stays visible."""
    torch.manual_seed(1)
    model = HYBRIDS[name]()
    model.family = name
    with torch.no_grad():
        for which, weights in model.named_parameters():
            if which.endswith("A_log"):
                weights.copy_(torch.linspace(-2.5, -0.5, len(weights)))
            elif weights.ndim == 1:
                weights.mul_(1.5).add_(torch.randn(weights.shape) * 0.1)
            else:
                weights.mul_(4.0)
    return model.eval()


def hybrid(name: str, *, slots: int = 4, context: int = 256, eos: frozenset[int] = frozenset()) -> HybridTarget:
    return HybridTarget(hybrid_model(name), slots=slots, context=context, eos=eos)
