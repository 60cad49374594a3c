"""The passport's fields in words: their names, and what those of them say that have words of ours."""

import re

from app.reports.translate import gettext
from app.reports.words import mark

NAMES: dict[str, str] = {
    "definition": mark("definitions of figures"), "target": mark("target"), "revision": mark("revision"), "weights_digest": mark("weights"),
    "dtype": mark("dtype"), "quantisation": mark("quantisation"), "parallel_layout": mark("parallel layout"), "drafter": mark("drafter"),
    "drafter_checkpoint": mark("drafter checkpoint"), "drafter_memory": mark("drafter memory"), "controller": mark("draft length"),
    "language": mark("language"), "answer_language": mark("answer language"), "tokenizer": mark("tokenizer"),
    "drafter_tokenizer": mark("drafter's tokenizer"), "suite": mark("prompts"), "suite_version": mark("prompts' version"),
    "suite_digest": mark("prompts' digest"), "profiles": mark("profiles"), "chat_template_digest": mark("chat template"),
    "thinking": mark("thinking"), "sampling": mark("sampling"), "verifier": mark("verification rule"), "lossless": mark("lossless"),
    "stop": mark("stop strings"), "ignore_eos": mark("ignores end of text"), "max_new_tokens": mark("token limit"),
    "context_length": mark("context length"), "load": mark("load"), "prefix_cache": mark("prefix cache"), "cache_dtype": mark("cache dtype"),
    "shared_cache": mark("cache shared by draft and verification"), "batched_verification": mark("verification in one batched forward"),
    "engine": mark("engine"), "engine_version": mark("engine's version"), "engine_build": mark("engine's build"),
    "engine_command": mark("command of the speculative arm"), "engine_arguments": mark("arguments of the runner's own"),
    "compile": mark("compiled forwards"), "hardware": mark("hardware"),
    "hardware_digest": mark("hardware digest"), "passport": mark("passport"), "model": mark("model"),
    "drafter_revision": mark("revision of the drafter's model"), "drafter_weights_digest": mark("weights of the drafter's model"),
    "drafter_dtype": mark("dtype of the drafter's model"), "drafter_quantisation": mark("quantisation of the drafter's model"),
}  # fmt: skip
# Words of fields whose values are ours; names, digests and versions are somebody else's.
_WORDS: dict[str, str] = {
    "none": mark("none"), "true": mark("yes"), "false": mark("no"), "one device": mark("one device"), "observed": mark("observed"),
    "declared": mark("declared"), "unknown": mark("unknown"), "no draft cache": mark("no draft cache"), "request": mark("of a request"),
    "process": mark("of the process"), "closed": mark("closed"), "open": mark("open"), "burstiness": mark("burstiness"), "slots": mark("slots"),
    "greedy": mark("greedy"), "temperature": mark("temperature"), "seed": mark("seed"), "present": mark("present"),
    "missing": mark("missing"), "the engine's own": mark("the engine's own"),
}  # fmt: skip
_SPOKEN = {
    "parallel_layout", "drafter_memory", "sampling", "lossless", "ignore_eos", "load", "prefix_cache", "shared_cache", "batched_verification",
    "compile", "passport", "context_length",
}  # fmt: skip
_WORD = re.compile(r"\b(" + "|".join(sorted(_WORDS, key=len, reverse=True)) + r")\b")


def field_name(field: str, locale: str) -> str:
    """The name of a field, or the field itself where it is none of the passport's."""
    return gettext(NAMES[field], locale) if field in NAMES else field


def field_value(field: str, text: str, locale: str) -> str:
    """A value as app.reports.axes prints it for programs, in a language."""
    if text in ("none", "the engine's own") or (field in _SPOKEN and text in _WORDS):
        return gettext(_WORDS[text], locale)
    if field == "answer_language":
        return text.replace("%", "\u00a0%") if locale == "ru" else text
    if field not in _SPOKEN or locale == "en":
        return text
    said = _WORD.sub(lambda found: gettext(_WORDS[found[0]], locale), re.sub(r" (?=burstiness|slots)", ", ", text))
    return re.sub(r"(?<=\d)\.(?=\d)", ",", said).replace("/s", "/с") if locale == "ru" else said
