"""Which arm goes first, decided by a seed and balanced, so that drift and order cancel instead of choosing a side."""

import random


def williams(arms: int) -> list[list[int]]:
    """Rows of a square balanced for what one arm leaves to the next: every arm stands equally often in every place and equally often right behind
    every other one (Williams 1949). An even number of arms takes as many rows, an odd one twice as many."""
    first = [0]
    for step in range(1, arms):
        first.append((first[-1] + (step if step % 2 else -step)) % arms)
    rows = [[(arm + shift) % arms for arm in first] for shift in range(arms)]
    return rows + [row[::-1] for row in rows] if arms % 2 and arms > 1 else rows


def orders(prompts: int, arms: int, seed: int, block: int, second_pass: bool) -> list[list[int]]:
    """Per prompt, the order of the arms in this pass of a block.

    Rows of the balanced square are dealt out evenly over the prompts (seeded), and the second pass turns every prompt's order round: over a block
    each pair of arms stands once either way for each prompt (definitions § 3, load 1).
    """
    rows = williams(arms)
    dealt = [rows[index % len(rows)] for index in range(prompts)]
    random.Random(f"{seed}:{block}").shuffle(dealt)
    return [row[::-1] if second_pass else row for row in dealt]
