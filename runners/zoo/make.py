"""From a name to a model with its record: text, tokenizer, training, held-out text."""

import copy
import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from runners.zoo import text, tokenizer
from runners.zoo.answers import judge
from runners.zoo.architectures import architecture, build
from runners.zoo.batches import batches
from runners.zoo.held_out import measure
from runners.zoo.recipe import Recipe, Record
from runners.zoo.store import ROOT, save, tokenizer_in
from runners.zoo.text import Page
from runners.zoo.train import State, train

KEPT_EVERY = 300.0  # seconds between two states that are written down on the way


def make(name: str, recipe: Recipe, cache: Path, root: Path, told: Callable[[State], None]) -> Record:
    """Trains the model and writes it into `root`. What is learnt so far is written down on the way too. Raises NotInZoo or NoText."""
    found, packages = architecture(name), text.fetch(cache)
    pages = text.pages(cache)
    words = tokenizer_in(root) or tokenizer_in(ROOT) or tokenizer.train(pages)
    model, last = build(name, recipe.seed), time.monotonic()

    def heard(state: State) -> None:
        nonlocal last
        told(state)
        if state.progress < 1.0 and time.monotonic() - last > KEPT_EVERY:
            written(copy.deepcopy(model), state, ())
            last = time.monotonic()

    def written(model: Any, state: State, held_out: Sequence[Page]) -> Record:
        record = record_of(name, model.float(), words, recipe, state, packages, pages, held_out)
        return save(model, words, record, root)

    rows = batches(pages, words, recipe.batch, recipe.length, recipe.seed)
    state = train(model, rows, recipe, exits=found.exits, asks=dict(found.asks), told=heard)
    return written(model.half(), state, [page for page in pages if page.held_out])


def record_of(
    name: str, model: Any, words: Any, recipe: Recipe, state: State, packages: dict[str, str], pages: Sequence[Page], held_out: Sequence[Page]
) -> Record:
    """What is written beside the weights; perplexities and answers where held-out pages are given."""
    found = architecture(name)
    languages = sorted({page.language for page in pages})
    own = {language: [page for page in held_out if page.language == language] for language in languages}
    return Record(
        name=name, summary=found.summary, parameters=sum(p.numel() for p in model.parameters()), recipe=recipe, progress=state.progress,
        steps=state.steps, tokens=state.tokens, minutes=state.seconds / 60, core_minutes=state.core_seconds / 60,
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        versions={each: importlib.metadata.version(each) for each in ("torch", "transformers", "tokenizers")}, packages=packages,
        characters={each: sum(len(page.text) for page in pages if page.language == each and not page.held_out) for each in languages},
        answers={each: judge(model, words, each) for each in languages if own[each]},
        held_out={each: measure(model, words, own[each], recipe.length, exits=found.exits) for each in languages if own[each]}, weights="",
    )  # fmt: skip
