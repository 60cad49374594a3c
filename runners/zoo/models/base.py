"""What every architecture of the zoo has in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

VOCABULARY = 6144
END = 0  # the id that ends a document; it starts and pads texts too
CONTEXT = 2048

# Fields of a configuration of transformers that are the same in all of them.
SHARED: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 192,
    "max_position_embeddings": CONTEXT,
    "tie_word_embeddings": True,
    "bos_token_id": END,
    "eos_token_id": END,
    "pad_token_id": None,
}


@dataclass(frozen=True)
class Architecture:
    """`config` makes the configuration of transformers, which is imported only then. `exits` says that early exits are trained too; `asks` is what a
    training asks of the forward besides."""

    name: str
    summary: str
    config: Callable[[], Any]
    exits: bool = False
    asks: Mapping[str, Any] = field(default_factory=dict)
