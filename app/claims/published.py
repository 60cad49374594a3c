"""The claims that come with the service, as published; entered at the start, each once.

A value carries language and tokenizer only where its source gave them, which is mostly not.
"""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from app.claims.schemas import Kind, Quantity
from app.reports.words import mark


@dataclass(frozen=True)
class Published:
    """A claim with a key of its own; `more` holds the fields of a claim that its source gave."""

    key: str
    quantity: Quantity
    figure: str
    value: float
    source: str
    upto: float | None = None
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    name: str
    kind: Kind
    about: str
    drafter: str | None = None
    claims: tuple[Published, ...] = ()


def _paper(number: str) -> dict[str, Any]:
    return {"address": f"https://arxiv.org/abs/{number}"}


_TOY = mark("the source of the toy experiment")
_AUTHORS = mark("its authors")
_EARLIER = mark("a measurement of ours before this service existed, not repeated yet")
_QWEN = {"target": "Qwen3.8-27B", "language": "en"}

BOARD: tuple[Entry, ...] = (
    Entry(
        "LayerSkip", "self, layers", mark("Plain layer skip. Its toy stands on the methodology page, with both of its acceptances."), "layerskip",
    ),
    Entry(
        mark("n-gram lookup"), "external, no weights", mark("Copies what followed the last tokens; also called prompt lookup."), "ngram",
        (
            Published("toy-ngram-acceptance", "acceptance", mark("acceptance"), 0.797, _TOY, more={"target": mark("toy")}),
            Published("toy-ngram-tokens", "tokens per call", mark("tokens per target call"), 4.85, _TOY, more={"target": mark("toy")}),
        ),
    ),
    Entry(
        mark("small draft model"), "external model", mark("Another model with weights and KV cache of its own; it must share the tokenizer."),
        "draft-model",
    ),
    Entry(
        "S2-MoE", "self, experts",
        mark("Fewer experts draft: routing-aware expansion, reuse-aware gating of experts, a shared context."), "s2moe",
        (
            Published("s2moe-peak", "speed-up", mark("peak speed-up"), 5.3, _AUTHORS, more=_paper("2608.15018")
                      | {"hardware": mark("edge devices, llama.cpp"), "note": mark("“up to”: the largest, not the mean")}),
            Published("s2moe-mean", "speed-up", mark("mean speed-up"), 2.0, _AUTHORS, more=_paper("2608.15018")
                      | {"hardware": mark("edge devices, llama.cpp"), "note": mark("“about”")}),
        ),
    ),
    Entry(
        "SpecAttn", "self, KV subset", mark("Critical KV entries are a by-product of the last verification."), "specattn",
        (
            Published("specattn-plain", "speed-up", mark("throughput against plain"), 2.81, _AUTHORS, more=_paper("2602.07223")),
            Published("specattn-sparse", "speed-up", mark("throughput against earlier sparse self-speculation"), 1.29, _AUTHORS,
                      more=_paper("2602.07223") | {"note": mark("not against plain decoding")}),
        ),
    ),
    Entry(
        mark("component-aware"), "self, hybrid models",
        mark("The perplexity ratio of the ablated model is said to foretell acceptance: 3.15 goes with 0.37, 81.96 with 0.019."), "component",
        (
            Published("component-falcon", "acceptance", mark("α at k = 2, greedy"), 0.68, _AUTHORS, more=_paper("2605.01106")
                      | {"target": "Falcon-H1", "note": mark("parallel Mamba-2 and attention; holds from 0.5B to 3B")}),
            Published("component-qwen", "acceptance", mark("α, greedy"), 0.038, _AUTHORS, more=_paper("2605.01106")
                      | {"target": "Qwen3.5", "note": mark("sequential hybrid; generic LayerSkip accepts 12 times more there")}),
            Published("component-ratio-low", "acceptance", mark("α at k = 4"), 0.37, _AUTHORS, more=_paper("2605.01106")
                      | {"note": mark("at a perplexity ratio of 3.15")}),
            Published("component-ratio-high", "acceptance", "α", 0.019, _AUTHORS, more=_paper("2605.01106")
                      | {"note": mark("at a perplexity ratio of 81.96")}),
        ),
    ),
    Entry(
        "MTP", "heads in the model",
        mark("In vLLM, SGLang and llama.cpp. LM Studio's version lowers the quality of answers; 62% in tool calling takes a cap on their length."),
        None,
        (Published("mtp-qwen", "speed", mark("tok/s"), 113, _AUTHORS, more=_QWEN),),
    ),
    Entry(
        "EAGLE-3", "external head", mark("A trained head of 150 to 300 MB."), None,
        (
            Published("eagle3-english", "acceptance", mark("acceptance"), 0.80, _AUTHORS, 0.88, {"target": "Qwen, Llama", "language": "en"}),
            Published("eagle3-russian", "acceptance", mark("acceptance"), 0.17, _EARLIER, more={"language": "ru", "note": mark("does not pay")}),
        ),
    ),
    Entry(
        "DFlash", "parallel block", mark("A trained block of drafts in one pass; DFlash2 is its successor."), None,
        (
            Published("dflash2-qwen", "speed", mark("tok/s"), 142, _AUTHORS, more=_QWEN | {"note": mark("DFlash2, where MTP gives 113")}),
            Published("dflash-h200", "speed", mark("tok/s"), 255, _AUTHORS, more={"target": "27B", "hardware": "H200", "language": "en",
                      "note": mark("67 without speculation")}),
            Published("dflash-loaded", "speed-up", mark("speed-up under load"), 0.25, _EARLIER, more={"hardware": "RTX 4060"}),
        ),
    ),
    Entry("KnapSpec", "self, layers", mark("Which layers to skip, as a knapsack. arXiv 2602.20217; no figure entered yet."), "knapspec"),
    Entry("CLaSp", "self, layers", mark("Layers skipped in context, without modules or training; no figure entered yet."), "clasp"),
    Entry(mark("LK losses"), "training", mark("The acceptance rate is optimised in the loss. arXiv 2602.23881; no figure entered yet.")),
    Entry(
        "UBTree", "external tree",
        mark("A trained tree drafter; its checkpoint works with its matching target alone. arXiv 2609.39972; no figure entered yet."),
    ),
    Entry(
        "DARTree", "external tree",
        mark("Turns the chains of a correction head into trees, without training. arXiv 2608.13524; no figure entered yet."),
    ),
    Entry(
        mark("adaptive draft length"), "controller",
        mark("A window of 8 rounds makes drafts longer or shorter. Works here as the controller window."),
    ),
    Entry("vLLM, SGLang, llama.cpp, LM Studio", "engine", mark("To be driven and measured, not built again.")),
)  # fmt: skip


def dated(published: Published) -> date | None:
    """The month of an arXiv number as its first day; None where nothing is known."""
    number = str(published.more.get("address", "")).rpartition("/")[2]
    return date(2000 + int(number[:2]), int(number[2:4]), 1) if number[:4].isdigit() else None
