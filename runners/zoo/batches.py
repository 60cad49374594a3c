"""Rows of token ids to learn from, as many of one language as of the other."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from runners.zoo.models.base import END
from runners.zoo.text import Page


def tokens_of(pages: Sequence[Page], tokenizer: Any) -> list[np.ndarray]:
    """The ids of each page, closed by the id that ends a document."""
    found = tokenizer([page.text for page in pages], add_special_tokens=False)["input_ids"]
    return [np.array([*ids, END], dtype=np.int64) for ids in found]


def rows(pages: Sequence[np.ndarray], length: int, seed: int) -> Iterator[np.ndarray]:
    """Rows `[length]` without end: the pages one behind another, shuffled anew each time round."""
    dice = np.random.default_rng(seed)
    left = np.empty(0, dtype=np.int64)
    while True:
        for number in dice.permutation(len(pages)):
            left = np.concatenate([left, pages[number]])
            while len(left) >= length:
                yield left[:length]
                left = left[length:]


def batches(pages: Sequence[Page], tokenizer: Any, batch: int, length: int, seed: int) -> Iterator[Tensor]:
    """Batches `[batch, length]` whose rows take turns between the languages. Held-out pages are left out."""
    languages = sorted({page.language for page in pages})
    own = {name: tokens_of([page for page in pages if page.language == name and not page.held_out], tokenizer) for name in languages}
    streams = [rows(own[name], length, seed + number) for number, name in enumerate(languages)]
    while True:
        yield torch.from_numpy(np.stack([next(streams[row % len(streams)]) for row in range(batch)]))
