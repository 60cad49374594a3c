"""From a name to a model with its record: text, tokenizer, two stages of training, held-out text and answers."""

import copy
import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from runners.zoo import text, tokenizer
from runners.zoo.answers import judge
from runners.zoo.architectures import architecture, build
from runners.zoo.batches import batches
from runners.zoo.held_out import measure
from runners.zoo.recipe import Recipe, Record
from runners.zoo.store import ROOT, place, save, tokenizer_in
from runners.zoo.text import Page
from runners.zoo.train import State, train, unloop

KEPT_EVERY = 300.0  # seconds between two states that are written down on the way
SECOND = 1000  # the second stage reads in an order of its own
Told = Callable[[State], None]


@dataclass(frozen=True)
class Workshop:
    """What a training works with: the pages of the packages, the zoo's tokenizer, and the folder that models are written into."""

    packages: dict[str, str]
    pages: Sequence[Page]
    words: Any
    root: Path

    @classmethod
    def at(cls, cache: Path, root: Path) -> "Workshop":
        """Raises NoText."""
        packages = text.fetch(cache)
        pages = text.pages(cache)
        return cls(packages, pages, tokenizer_in(root) or tokenizer_in(ROOT) or tokenizer.train(pages), root)

    @property
    def languages(self) -> list[str]:
        return sorted({page.language for page in self.pages})

    def of(self, language: str, *, held_out: bool) -> list[Page]:
        return [page for page in self.pages if page.language == language and page.held_out == held_out]

    def keep(self, model: Any, record: Record) -> Record:
        """Writes a copy down; the model stays as it is."""
        return save(copy.deepcopy(model), self.words, record, self.root)


def make(name: str, recipe: Recipe, cache: Path, root: Path, told: Told) -> Record:
    """Trains the model and writes it into `root`. What is learnt so far is written down on the way too. Raises NotInZoo, NoPlace or NoText."""
    found = architecture(name)
    place(root)
    shop = Workshop.at(cache, root)
    model, last = build(name, recipe.seed), time.monotonic()

    def heard(state: State) -> None:
        nonlocal last
        told(state)
        if state.progress < 1.0 and time.monotonic() - last > KEPT_EVERY:
            shop.keep(model, record_of(model, name, recipe, state, shop))
            last = time.monotonic()

    rows = batches(shop.pages, shop.words, recipe.batch, recipe.length, recipe.seed)
    state = train(model, rows, recipe, exits=found.exits, asks=dict(found.asks), told=heard)
    record = shop.keep(model, record_of(model, name, recipe, state, shop))
    return judged(model, mend(model, record, shop, told) if state.progress == 1.0 else record, shop)


def record_of(model: Any, name: str, recipe: Recipe, state: State, shop: Workshop) -> Record:
    """What is known while the model still learns."""
    return Record(
        name=name, summary=architecture(name).summary, parameters=sum(p.numel() for p in model.parameters()), recipe=recipe, progress=state.progress,
        steps=state.steps, unloop_steps=0, tokens=state.tokens, minutes=state.seconds / 60, core_minutes=state.core_seconds / 60,
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        versions={each: importlib.metadata.version(each) for each in ("torch", "transformers", "tokenizers")}, packages=shop.packages,
        characters={each: sum(len(page.text) for page in shop.of(each, held_out=False)) for each in shop.languages}, held_out={}, weights="",
    )  # fmt: skip


def mend(model: Any, record: Record, shop: Workshop, told: Told) -> Record:
    """The second stage, in place, of a training whose first stage `record` tells of."""
    found, recipe = architecture(record.name), record.recipe
    rows = batches(shop.pages, shop.words, recipe.batch, recipe.length, recipe.seed + SECOND)
    state = unloop(model, rows, recipe, exits=found.exits, asks=dict(found.asks), told=told)
    minutes, core_minutes = record.minutes + state.seconds / 60, record.core_minutes + state.core_seconds / 60
    return shop.keep(model, record.model_copy(update={"unloop_steps": state.steps, "minutes": minutes, "core_minutes": core_minutes}))


def judged(model: Any, record: Record, shop: Workshop) -> Record:
    """The same with what the kept weights reach on pages held out, and with their answers."""
    found = architecture(record.name)
    model = model.to(torch.float16).float()
    own = {each: shop.of(each, held_out=True) for each in shop.languages}
    reached = {each: measure(model, shop.words, pages, record.recipe.length, exits=found.exits) for each, pages in own.items()}
    answers = {each: judge(model, shop.words, each) for each in shop.languages}
    return shop.keep(model, record.model_copy(update={"held_out": reached, "answers": answers}))
