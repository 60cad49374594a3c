"""A dense decoder, trained so that its early layers speak too."""

from typing import Any

from runners.zoo.models.base import SHARED, Architecture


def config() -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(**SHARED, num_hidden_layers=6, num_attention_heads=6, num_key_value_heads=3, intermediate_size=512)


MODEL = Architecture("dense", "Llama, 6 layers, trained with an early-exit loss", config, exits=True)
