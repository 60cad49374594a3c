"""Tiny random targets and a runner of the loop, for every test that needs a model and no language."""

from typing import Any

import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM

from app.domain.spec import Choice, ModelSource, RunSpec, SuiteChoice
from runners.clock import Clock
from runners.drafters.base import Params
from runners.drafters.none import NoDrafter
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.loop import Loop
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.engine.toy import ToyTarget
from runners.engine.transformers_target import TransformersTarget
from runners.parts import choose, drafters

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
TARGETS = ("toy", "llama", "gemma3")


def tiny(name: str, *, slots: int = 4, eos: frozenset[int] = frozenset(), context: int = 256) -> Target:
    """A random float32 target; Gemma 3 with a window of 16, so that sequences of these tests outgrow it."""
    if name == "toy":
        return ToyTarget(slots=slots, eos=eos, context=context)
    torch.manual_seed(7)
    if name == "llama":
        model: Any = LlamaForCausalLM(LlamaConfig(**SIZES))
    else:
        kinds = ["sliding_attention", "full_attention"] * 3
        model = Gemma3ForCausalLM(Gemma3TextConfig(**SIZES, sliding_window=16, layer_types=kinds))
    # Random weights hardly tell tokens apart; larger ones give texts that repeat and vary as real ones do.
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(2.0)
    return TransformersTarget(model.eval(), slots=slots, context=context, eos=eos)


def example_params(name: str) -> dict[str, Any]:
    """Parameters for any drafter: its defaults, and the least allowed value where it has none."""
    schema = drafters()[name].Params.model_json_schema()
    return {field: schema["properties"][field].get("minimum", 1) for field in schema.get("required", [])}


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
        self._logits, self._early = after.log(), early_after.log()

    def _prefill(self, slot: int, ids: Any) -> None:
        pass

    def verify(self, batch: Batch, draft: Draft) -> torch.Tensor:
        self.forwards += 1
        pending = torch.tensor([[ids[-1]] for ids in batch.ids], dtype=torch.long)
        return self._logits[torch.cat([pending, draft.tokens], dim=1)]

    def early(self, batch: Batch, tokens: torch.Tensor, depth: int, exit_layer: int) -> tuple[torch.Tensor, None]:
        return self._early[tokens], None
