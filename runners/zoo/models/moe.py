"""A mixture of experts in every layer."""

from typing import Any

from runners.zoo.models.base import SHARED, Architecture


def config() -> Any:
    from transformers import Qwen3MoeConfig

    return Qwen3MoeConfig(
        **SHARED, num_hidden_layers=4, num_attention_heads=6, num_key_value_heads=3, intermediate_size=512,
        num_experts=8, num_experts_per_tok=4, moe_intermediate_size=128, norm_topk_prob=True, router_aux_loss_coef=0.01,
    )  # fmt: skip


MODEL = Architecture("moe", "Qwen3-MoE, 4 layers, 8 experts of which 4 see a token", config, asks={"output_router_logits": True})
