"""Tiny random targets and a runner of the loop, for every test that needs a model and no language."""

from dataclasses import replace
from functools import cache
from typing import Any

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    OlmoeConfig,
    OlmoeForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
)

from app.domain.spec import Choice, ModelSource, RunSpec, SuiteChoice
from runners.clock import Clock
from runners.drafters.base import Drafter, Params
from runners.drafters.none import NoDrafter
from runners.engine.companion import Companion
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.loop import Loop
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.engine.toy import ToyTarget
from runners.engine.transformers_target import TransformersTarget
from runners.engine.tree import Look
from runners.parts import choose, drafters
from tests.hybrids import HYBRIDS, hybrid

VOCABULARY = 97
# Two threads on matrices this small only wait for each other.
torch.set_num_threads(1)
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 512,
}
# A window of 16 is outgrown by the sequences of these tests.
WINDOW = 16
MIXED: dict[str, Any] = {"sliding_window": WINDOW, "layer_types": ["sliding_attention", "full_attention"] * 3}
EXPERTS: dict[str, Any] = {"num_experts": 8, "num_experts_per_tok": 4}
FAMILIES: dict[str, Any] = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SIZES)),
    "mistral": lambda: MistralForCausalLM(MistralConfig(**SIZES, sliding_window=WINDOW)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SIZES)),
    "qwen2_window": lambda: Qwen2ForCausalLM(Qwen2Config(**SIZES, use_sliding_window=True, sliding_window=WINDOW, max_window_layers=3)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SIZES)),
    "qwen3_window": lambda: Qwen3ForCausalLM(Qwen3Config(**SIZES, use_sliding_window=True, **MIXED)),
    "gemma3": lambda: Gemma3ForCausalLM(Gemma3TextConfig(**SIZES, **MIXED)),
    # The second of its layers is dense.
    "qwen3_moe": lambda: Qwen3MoeForCausalLM(Qwen3MoeConfig(**SIZES, **EXPERTS, moe_intermediate_size=16, norm_topk_prob=True, mlp_only_layers=[1])),
    "olmoe": lambda: OlmoeForCausalLM(OlmoeConfig(**SIZES, **EXPERTS, clip_qkv=8.0, eos_token_id=None)),
}
# What drafters are tried on, those that choose among experts or leave attention out on such models alone; the other families differ from these in
# nothing that a drafter could see.
TARGETS = ("toy", "llama", "qwen2", "qwen3", "gemma3", "qwen3_moe", *HYBRIDS)


def tiny_model(name: str) -> Any:
    """A random float32 model of a family, the same one every time."""
    torch.manual_seed(1)
    model = FAMILIES[name]()
    model.family = name
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim == 1:
                # Norms start as ones and biases as zeros, with which one that is left out would not show.
                weights.mul_(2.0).add_(torch.randn(weights.shape) * 0.1)
            else:
                # Random weights hardly tell tokens apart; larger ones give texts that repeat and vary as real ones do.
                weights.mul_(4.0)
    return model.eval()


def tiny(name: str, *, slots: int = 4, eos: frozenset[int] = frozenset(), context: int = 256) -> Target:
    """A random float32 target."""
    if name == "toy":
        return ToyTarget(slots=slots, eos=eos, context=context)
    if name in HYBRIDS:
        return hybrid(name, slots=slots, eos=eos, context=context)
    return TransformersTarget(tiny_model(name), slots=slots, context=context, eos=eos)


def own_logits(model: Any, ids: list[int]) -> torch.Tensor:
    """The library's own full forward over a text `[n, V]`, without any cache."""
    with torch.inference_mode():
        logits: torch.Tensor = model(torch.tensor([ids]), use_cache=False).logits[0]
    return logits


def targets_of(drafter: str) -> tuple[str, ...]:
    """Those of TARGETS that a drafter is tried on."""
    kind = drafters()[drafter]
    if kind.routes:
        return ("qwen3_moe",)
    if kind.hybrid:
        return tuple(HYBRIDS)
    return tuple(name for name in TARGETS if name not in {"qwen3_moe", *HYBRIDS} and not (name == "toy" and kind.opens))


def target_of(drafter: str) -> str:
    """One of them with layers, where one is enough."""
    found = targets_of(drafter)
    return "llama" if "llama" in found else found[-1]


# Of a drafter that stands on another one, the other's parameters; of one that learns, parameters that let it learn in a short text.
EXAMPLES: dict[str, dict[str, Any]] = {
    "clasp": {"skipped": 2, "every": 2},
    "del": {"stride": 1},
    "s2moe": {"experts": 2, "step_cost": 0.1, "position_cost": 0.1},
    "knapspec": {"window": 3, "every": 2, "attention": 0.5, "least": -1},
    "swift": {"window": 4},
    "sink-window": {"ratio": 0.3, "least": 6, "sinks": 2},
    "specattn": {"ratio": 0.3, "least": 6},
    "tree-topk": {"settings": "exit_layer=1", "nodes": 8, "width": 2},
}


def example_params(name: str) -> dict[str, Any]:
    """Parameters for any drafter: its defaults, and the least allowed value where it has none."""
    if name in EXAMPLES:
        return EXAMPLES[name]
    schema = drafters()[name].Params.model_json_schema()
    return {field: _least(schema["properties"][field]) for field in schema.get("required", [])}


def _least(node: dict[str, Any]) -> Any:
    return "package:tiny" if node.get("type") == "string" else node.get("minimum", 1)


def companion_of(target: Target) -> Companion:
    """A second model beside a target: near enough to be kept sometimes, and not always."""
    if isinstance(target, ChainTarget):
        return Companion(ChainTarget(target.early_after, target.early_after))
    if isinstance(target, ToyTarget):
        return Companion(ShallowToy(slots=target.slots, context=target.context + 32))
    # A model with a recurrent state drafts for no other.
    model = nearly("llama" if target.attentions else target.model.family)
    return Companion(TransformersTarget(model, slots=target.slots, context=target.context + 32, eos=frozenset()))


@cache
def nearly(family: str) -> Any:
    """The tiny model of a family with a little noise on its weights."""
    model = tiny_model(family)
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn(weights.shape) * weights.std() * 0.1)
    return model


class ShallowToy(ToyTarget):
    """The toy without its last layer."""

    def early(self, batch: Batch, tokens: torch.Tensor, depth: int, exit_layer: int) -> tuple[torch.Tensor, None]:
        return super().early(batch, tokens, depth, exit_layer - 1)

    def early_tree(self, batch: Batch, look: Look, exit_layer: int) -> tuple[torch.Tensor, None]:
        return super().early_tree(batch, look, exit_layer - 1)

    def verify(self, batch: Batch, draft: Draft) -> torch.Tensor:
        rows = [[ids[-1], *tokens] for ids, tokens in zip(batch.ids, draft.tokens.tolist(), strict=True)]
        return torch.stack([self.early(batch, torch.tensor([row[depth] for row in rows]), depth, self.layers)[0] for depth in range(len(rows[0]))], 1)


def made_of(name: str, target: Target, chance: Chance) -> Drafter:
    """Any drafter by its name, with example parameters."""
    found = drafters()[name]
    params = found.Params.model_validate(example_params(name))
    beside: dict[str, Any] = {"companion": companion_of(target)} if found.wants(params) else {}
    return found(params, target, chance, **beside)


# Verification rules: the greedy one, and the sampling one in its limit and at a temperature.
GREEDY: dict[str, Any] = {"verifier": "rejection"}
SAMPLED: dict[str, Any] = {"verifier": "rejection", "sampling": {"temperature": 0.8, "top_k": 30, "top_p": 0.95}}


def spec(
    drafter: str = "ngram", params: dict[str, Any] | None = None, controller: str = "constant", rule: dict[str, Any] | None = None, **controls: Any
) -> RunSpec:
    return RunSpec.model_validate(
        {
            "model": ModelSource(source="package", package="tiny"),
            "drafter": Choice(name=drafter, params=example_params(drafter) if params is None else params),
            "controller": Choice(name=controller, params=controls),
            "language": "en",
            "tokenizer": "package:tiny",
            "suite": SuiteChoice(id="parallel-v1"),
        }
        | (rule or {})
    )


def loop_of(target: Target, asked: RunSpec, rules: StopRules) -> Loop:
    chosen = choose(asked)
    if chosen.wants is not None:
        chosen = replace(chosen, companion=companion_of(target))
    chance = Chance(chosen.law)
    return Loop(target, chosen.bind(target, chance), chosen.control(), chosen.verifier, rules, Clock(target.device), chance=chance)


def plain_loop(target: Target, rules: StopRules) -> Loop:
    chosen = choose(spec("none", {}))
    return Loop(target, NoDrafter(Params(), target), chosen.control(), chosen.verifier, rules, Clock(target.device))


def prompts(count: int, *, repeating: bool = True) -> list[Request]:
    """Prompts of different lengths that hold repeats, so that a lookup finds something."""
    made = []
    for index in range(count):
        motif = [(index * 13 + j * 7 + 3) % VOCABULARY for j in range(5 + index)]
        made.append(Request(f"p{index}", tuple(motif * 3 if repeating else motif), seed=index))
    return made


def by_prompt(done: list[Sequence]) -> dict[str, Sequence]:
    return {sequence.request.prompt: sequence for sequence in done}


def counts(sequence: Sequence) -> tuple[Any, ...]:
    """Everything that is counted, without times and slots."""
    return (
        tuple(sequence.output), sequence.drafted, sequence.verified, sequence.accepted, sequence.undrafted, sequence.prefill_tokens,
        sequence.discarded_bonus, tuple(sequence.round_drafted), tuple(sequence.round_verified), sequence.finish,
    )  # fmt: skip


def rolled(weights: tuple[float, ...]) -> torch.Tensor:
    """A first-order chain `[V, V]`: the law behind token x is `weights` rolled by x places."""
    base = torch.tensor(weights, dtype=torch.float64)
    return torch.stack([base.roll(x) for x in range(len(weights))])


class ChainTarget(Target):
    """Tokens follow a Markov chain `after` `[V, V]`, known to the last digit; its first layer follows another one, `early_after`.

    Emits nothing from its prefill, so that the first round drafts behind the prompt.
    """

    prefill_emits = False

    def __init__(self, after: torch.Tensor, early_after: torch.Tensor, *, slots: int = 4) -> None:
        super().__init__(slots)
        self.layers, self.vocabulary, self.context, self.eos = 2, len(after), 4096, frozenset()
        self.device = torch.device("cpu")
        self.early_after = early_after
        self._logits, self._early = after.log(), early_after.log()

    def _prefill(self, slot: int, ids: Any) -> None:
        pass

    def verify(self, batch: Batch, draft: Draft) -> torch.Tensor:
        self.forwards += 1
        pending = torch.tensor([[ids[-1]] for ids in batch.ids], dtype=torch.long)
        return self._logits[torch.cat([pending, draft.tokens], dim=1)]

    def settle(self, batch: Batch, draft: Draft, paths: list[list[int]]) -> None:
        """A chain remembers its last token alone."""

    def early(self, batch: Batch, tokens: torch.Tensor, depth: int, exit_layer: int) -> tuple[torch.Tensor, None]:
        return self._early[tokens], None

    def early_tree(self, batch: Batch, look: Look, exit_layer: int) -> tuple[torch.Tensor, None]:
        return self._early[look.tokens], None
