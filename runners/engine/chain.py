"""A chain of drafts, token by token, for drafters that step through the target itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from runners.engine.dice import Chance
from runners.engine.draft import Batch

# Logits `[A, V]` behind tokens `[A]` at a depth behind the last committed token, and the states `[A, H]` of an exit where there are any.
Step = Callable[[Batch, Tensor, int], tuple[Tensor, Tensor | None]]
# Whether to draft on behind a token of a slot, by its probability.
Proceeds = Callable[[int, float], bool]


@dataclass(frozen=True)
class Chain:
    """`tokens` `[B, n]`, of which row r drafted `lengths[r]`; `laws` `[B, n, V]` if they were drawn, `states` `[B, n, H]` if steps gave them."""

    tokens: Tensor
    lengths: tuple[int, ...]
    laws: Tensor | None = None
    states: Tensor | None = None


def grow(batch: Batch, limits: Sequence[int], step: Step, chance: Chance, device: torch.device, more: Proceeds | None = None) -> Chain:
    """At most `limits[r]` tokens for row r. Where `more` is given it is asked behind each token, which stays whatever the answer is."""
    rows = len(batch)
    current = torch.tensor([ids[-1] for ids in batch.ids], dtype=torch.long, device=device)
    lengths, active = [0] * rows, [r for r in range(rows) if limits[r] > 0]
    drafted: list[Tensor] = []
    laws: list[Tensor] = []
    states: list[Tensor] = []
    while active:
        open_rows = batch.rows(active)
        logits, hidden = step(open_rows, current[active], len(drafted))
        chosen, law = _draw(chance, open_rows, logits)
        drafted.append(_spread(chosen, active, rows))
        if law is not None:
            laws.append(_spread(law, active, rows))
        if hidden is not None:
            states.append(_spread(hidden, active, rows))
        for r in active:
            lengths[r] = len(drafted)
        going = [True] * len(active) if more is None else _asked(more, open_rows, chosen, logits.float().softmax(dim=-1) if law is None else law)
        active = [r for r, goes in zip(active, going, strict=True) if goes and limits[r] > len(drafted)]
        current = drafted[-1]
    tokens = torch.stack(drafted, dim=1) if drafted else torch.zeros((rows, 0), dtype=torch.long, device=device)
    return Chain(tokens, tuple(lengths), torch.stack(laws, dim=1) if laws else None, torch.stack(states, dim=1) if states else None)


def _draw(chance: Chance, batch: Batch, logits: Tensor) -> tuple[Tensor, Tensor | None]:
    """A token `[A]` per row, and the probabilities `[A, V]` that it was drawn from; None where it was not drawn."""
    if chance.law.greedy:
        return logits.argmax(dim=-1), None
    law = chance.law.probabilities(logits)
    return chance.dice.pick(batch.slots, law), law


def _asked(more: Proceeds, batch: Batch, chosen: Tensor, law: Tensor) -> list[bool]:
    """Per row, whether to draft on behind `chosen` `[A]`, by its probability in `law` `[A, V]`."""
    sure = law.gather(1, chosen[:, None])[:, 0].tolist()
    return [more(slot, probability) for slot, probability in zip(batch.slots, sure, strict=True)]


def _spread(values: Tensor, active: list[int], rows: int) -> Tensor:
    """`values` `[A, …]` of the active rows, placed into `[B, …]`."""
    if len(active) == rows:
        return values
    placed = values.new_zeros((rows, *values.shape[1:]))
    placed[active] = values
    return placed
