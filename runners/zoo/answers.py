"""Whether a model of the zoo writes: its plain greedy answers to a suite's prompts, judged by the same gates as those of a run."""

from typing import Any

import torch

from app.domain.degenerate import is_degenerate
from runners.workloads import suite as suites
from runners.workloads.language import agrees, measure
from runners.zoo.recipe import Answers

SUITE = "parallel-v1"
TOKENS = 64  # of an answer at most


def judge(model: Any, tokenizer: Any, language: str) -> Answers:
    """Answers in float32, to the bare prompts: the zoo has no chat template."""
    prompts = [prompt for prompt in suites.load(SUITE).prompts if prompt.language == language and prompt.answer == "prompt"]
    said = [answer(model, tokenizer, prompt.text) for prompt in prompts]
    spoken = [measure(text, declared=language, quoted=prompt.text).language for prompt, text in zip(prompts, said, strict=True)]
    return Answers(
        suite=SUITE,
        tokens=TOKENS,
        prompts=len(prompts),
        empty=sum(not text.strip() for text in said),
        looping=sum(map(is_degenerate, said)),
        other_language=sum(tag is not None and not agrees(tag, language) for tag in spoken),
    )


@torch.inference_mode()
def answer(model: Any, tokenizer: Any, prompt: str) -> str:
    """What is written behind the prompt, greedily."""
    ids = torch.tensor([tokenizer(prompt)["input_ids"]])
    made = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=TOKENS, do_sample=False, pad_token_id=tokenizer.eos_token_id)
    return str(tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=True))
