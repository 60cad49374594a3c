"""Answers of a real model through the library's own plain decoding, for calibration only: no facts come from here."""

from typing import cast

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BatchEncoding


def greedy_answers(path: str, file: str | None, prompts: list[str], tokens: int) -> list[str]:
    """One greedy float32 answer of at most `tokens` tokens to each prompt, under the model's chat template; `file` is a GGUF inside `path`."""
    tokenizer = AutoTokenizer.from_pretrained(path, gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(path, gguf_file=file, dtype=torch.float32)
    answers = []
    for prompt in prompts:
        turns = [{"role": "user", "content": prompt}]
        inputs = cast(BatchEncoding, tokenizer.apply_chat_template(turns, add_generation_prompt=True, return_tensors="pt", return_dict=True))
        with torch.inference_mode():
            output = model.generate(**inputs, max_new_tokens=tokens, do_sample=False)
        answers.append(cast(str, tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)))
    return answers
