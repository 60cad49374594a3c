"""The second stage of a training: a model that writes by itself is taught not to say again what it has just said.

Unlikelihood over sequences (Welleck and others, 2019, Neural Text Generation with Unlikelihood Training): the model goes on greedily behind the
beginning of a row, and tokens that close a repeated n-gram of what it wrote are made less likely.
"""

from typing import Any

import torch
from torch import Tensor

GRAM = 4  # tokens of an n-gram that must not come again
BEGINNING = 32  # tokens of a row that are gone on behind
WRITTEN = 64  # tokens that are written then


def repeats(written: Tensor) -> Tensor:
    """`[B, n]` of true and false: the tokens of `written` `[B, n]` that close an n-gram which was there before in their row."""
    closing = torch.zeros_like(written, dtype=torch.bool)
    for row, ids in enumerate(written.tolist()):
        seen: set[tuple[int, ...]] = set()
        for end in range(GRAM, len(ids) + 1):
            gram = tuple(ids[end - GRAM : end])
            closing[row, end - 1] = gram in seen
            seen.add(gram)
    return closing


def written_behind(model: Any, rows: Tensor) -> Tensor:
    """`[B, BEGINNING + WRITTEN]`: the beginnings of `rows`, and what the model greedily writes behind them, its end of a document left out."""
    beginning = rows[:, :BEGINNING]
    model.eval()
    with torch.no_grad():
        made: Tensor = model.generate(
            beginning, attention_mask=torch.ones_like(beginning), min_new_tokens=WRITTEN, max_new_tokens=WRITTEN, do_sample=False, pad_token_id=0
        )
    model.train()
    return made


def unlikelihood(logits: Tensor, made: Tensor) -> Tensor:
    """Mean over written tokens of −log(1 − p) where a token repeats, 0 elsewhere. `logits` `[B, T, V]` are of `made` `[B, T]`."""
    written = made[:, BEGINNING:]
    log_p = torch.log_softmax(logits[:, BEGINNING - 1 : -1].float(), -1).gather(-1, written[:, :, None])[:, :, 0]
    against = -torch.log((1 - log_p.exp()).clamp_min(1e-5))
    return (against * repeats(written)).sum() / written.numel()
