"""Which arm goes first, decided by a seed and balanced, so that drift and order cancel instead of choosing a side."""

import random


def plain_first(prompts: int, seed: int, block: int, second_pass: bool) -> list[bool]:
    """Per prompt, whether plain runs before speculative in this pass of a block.

    Half of the prompts (seeded) begin with plain in the first pass, the other half with speculative, and the second pass swaps every pair:
    over a block each arm has each place once for each prompt (definitions § 3, load 1).
    """
    coins = [index % 2 == 0 for index in range(prompts)]
    random.Random(f"{seed}:{block}").shuffle(coins)
    return [coin != second_pass for coin in coins]
