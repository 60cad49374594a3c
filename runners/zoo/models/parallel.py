"""A parallel hybrid: every layer adds what Mamba-2 and attention make of the same input."""

from typing import Any

from runners.zoo.models.base import SHARED, Architecture


def config() -> Any:
    from transformers import FalconH1Config

    return FalconH1Config(
        **SHARED, num_hidden_layers=6, num_attention_heads=6, num_key_value_heads=3, intermediate_size=384,
        mamba_d_ssm=192, mamba_n_heads=6, mamba_d_head=32, mamba_d_state=32, mamba_n_groups=1, mamba_chunk_size=64,
    )  # fmt: skip


MODEL = Architecture("parallel", "Falcon-H1, 6 layers, Mamba-2 beside attention in each", config)
