"""How well a model knows text that it has not learnt from."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from runners.zoo.batches import tokens_of
from runners.zoo.recipe import Measured
from runners.zoo.text import Page


@torch.inference_mode()
def measure(model: Any, tokenizer: Any, pages: Sequence[Page], length: int, *, exits: bool) -> Measured:
    """Every page is read in windows of `length` tokens, in each of which all tokens but the first are guessed. In float32."""
    characters = octets = guessed = 0
    loss, agreed, compared = 0.0, torch.zeros(model.config.num_hidden_layers - 1), 0
    every = 0
    for page, ids in zip(pages, tokens_of(pages, tokenizer), strict=True):
        characters, octets, every = characters + len(page.text), octets + len(page.text.encode()), every + len(ids) - 1
        for start in range(0, len(ids) - 1, length - 1):
            window = torch.from_numpy(ids[start : start + length])[None]
            out = model(input_ids=window[:, :-1], output_hidden_states=exits, use_cache=False)
            logits = out.logits[0].float()
            loss += float(cross_entropy(logits, window[0, 1:], reduction="sum"))
            guessed += window.shape[1] - 1
            if exits:
                agreed += torch.tensor([float((early == logits.argmax(-1)).sum()) for early in _exits(model, out.hidden_states)])
                compared += window.shape[1] - 1
    # The last id of a page, its end, is guessed but is no text.
    nats = loss / guessed
    per_text = nats * (every + len(pages)) / math.log(2)
    return Measured(
        tokens=guessed, perplexity=math.exp(nats), bits_per_character=per_text / characters, bits_per_byte=per_text / octets,
        characters_per_token=characters / every, agreement=tuple((agreed / compared).tolist()) if exits else (),
    )  # fmt: skip


def _exits(model: Any, hidden: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The next token by the exit after layer 1, 2, … and the last but one."""
    return [model.lm_head(model.model.norm(state))[0].argmax(-1) for state in hidden[1:-1]]
