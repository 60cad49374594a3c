"""A sequential hybrid: three layers of gated delta-net, then one of full attention, and so again."""

from typing import Any

from runners.zoo.models.base import SHARED, Architecture


def config() -> Any:
    from transformers import Qwen3_5TextConfig

    return Qwen3_5TextConfig(
        **SHARED, num_hidden_layers=8, num_attention_heads=6, num_key_value_heads=3, head_dim=32, intermediate_size=384,
        layer_types=[*["linear_attention"] * 3, "full_attention"] * 2,
        linear_num_key_heads=3, linear_num_value_heads=6, linear_key_head_dim=32, linear_value_head_dim=32,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "mrope_section": [3, 3, 2]},
    )  # fmt: skip


MODEL = Architecture("sequential", "Qwen3.5, 8 layers, every fourth one full attention, the others gated delta-net", config)
