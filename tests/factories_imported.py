"""Results as a tool would have counted them, for reports and routes that take an import."""

from typing import Any

from app.domain.counts import Counts
from app.domain.outside.imported import Carried, Imported, Printed, Request, summed
from app.domain.outside.reading import Absent, Reading

NAMED = {"language": "ru", "tokenizer": "Qwen/Qwen3-8B"}
# Kept drafts of each request, of 10 rounds of 4 drafts each.
KEPT = (20, 25, 30, 22, 28, 24, 31, 26)


def counts(kept: int = 20, **over: Any) -> Counts:
    """A request of 10 rounds that drafted 4 tokens each, with its prefill token; it closes."""
    return Counts(**{
        "requests": 1, "emitted": 1 + kept + 10, "rounds": 10, "drafted": 40, "verified": kept, "accepted": kept, "undrafted": 0,
        "prefill_tokens": 1, "discarded_bonus": 0, "longest_draft": 4, **over,
    })  # fmt: skip


def reading(found: Counts | None = None, **over: Any) -> Reading:
    return Reading(**{"engine": "vllm", "shape": "requests", "counts": found or counts(), **over})


def imported(kept: tuple[int, ...] = KEPT, *, carried: Carried | None = None, printed: tuple[Printed, ...] = (), **over: Any) -> Imported:
    """A file that tells of single requests."""
    requests = tuple(Request(name=str(place), reading=reading(counts(each), **over)) for place, each in enumerate(kept, 1))
    return Imported(
        format="vllm-requests", tool="vLLM", tool_version="0.11", carried=carried or Carried(target="Qwen/Qwen3-8B", engine="vllm"),
        total=summed([request.reading for request in requests]), requests=requests, printed=printed,
    )  # fmt: skip


def totals(found: Counts, *, printed: tuple[Printed, ...] = (), **over: Any) -> Imported:
    """A file that tells totals alone."""
    return Imported(format="vllm-bench-serve", tool="vLLM", carried=Carried(target="model"), total=reading(found, **over), printed=printed)


def absent(count: str, *names: str) -> Absent:
    return Absent(count=count, looked_for=names)
