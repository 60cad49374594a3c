"""What a served engine would print of a run, by its own definitions and out of the counts that it told, beside ours: one word, several numbers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from app.domain.counts import Counts
from app.domain.estimate import Cell, Figure
from app.domain.outside.imported import Carried, Imported, Printed
from app.domain.outside.reading import Engine, Reading
from app.domain.sentence import Sentence, plain
from app.domain.spec import OWN_ENGINE
from app.metrics.counters import totals_of
from app.metrics.frame import Frames
from app.metrics.select import counted
from app.reports.imported_beside import Beside, beside
from app.reports.record import RunRecord


@dataclass(frozen=True)
class Word:
    """What an engine calls a figure, its formula in words and as such, and those of ours that a reader may take it for."""

    name: str
    counts: Sentence
    unit: str
    figures: tuple[str, ...]
    formula: Callable[[Counts], float | None]


def _mean_length(counts: Counts) -> float | None:
    kept = _ratio(counts.verified, counts.rounds)
    return None if kept is None else 1 + kept


ROUND = plain("1 + kept drafts ÷ rounds with a draft")
KEPT = plain("kept drafts ÷ drafts")
EVERY = plain("all delivered tokens ÷ rounds with a draft")
LENGTHS = ("tokens_per_round", "tokens_per_target_forward")
# As their sources print them: v1/spec_decode/metrics.py, tools/server/server-context.cpp, managers/tokenizer_manager.py.
WORDS: dict[Engine, tuple[Word, ...]] = {
    "vllm": (
        Word("Mean acceptance length", ROUND, "tokens", LENGTHS, _mean_length),
        Word("Avg Draft acceptance rate", KEPT, "fraction", ("acceptance_rate",), lambda counts: _ratio(counts.verified, counts.drafted)),
    ),
    "llama.cpp": (
        Word("mean len", ROUND, "tokens", LENGTHS, _mean_length),
        Word("draft acceptance", KEPT, "fraction", ("acceptance_rate",), lambda counts: _ratio(counts.verified, counts.drafted)),
    ),
    "sglang": (Word("spec_accept_length", EVERY, "tokens", LENGTHS, lambda counts: _ratio(counts.emitted, counts.rounds)),),
}
# No counter knows which of the kept drafts were delivered.
SUMMED = ("emitted", "rounds", "drafted", "verified", "undrafted", "prefill_tokens")


def own_words(record: RunRecord, frames: Frames, cells: Iterable[Cell]) -> tuple[Beside, ...]:
    """Nothing of our own loop, and nothing of a figure that this run does not show: a refused acceptance is not told in another's words."""
    if record.spec.engine == OWN_ENGINE or record.preflight is None:
        return ()
    engine = _kind(record.preflight.engine_version)
    if engine is None:
        return ()
    total = _counts(frames)
    ours: dict[str, float | None] = {cell.id: cell.pooled.point for cell in cells if isinstance(cell, Figure) and not cell.part}
    printed = tuple(
        Printed(name=word.name, value=value, unit=word.unit, figure=figure)
        for word in WORDS[engine]
        if (value := word.formula(total)) is not None
        for figure in word.figures
        if ours.get(figure) is not None
    )
    reading = Reading(engine=engine, shape="counts", counts=total)
    counts = {word.name: word.counts for word in WORDS[engine]}
    held = beside(Imported(format="counts", tool=engine, carried=Carried(), total=reading, printed=printed), ours)
    return tuple(each.model_copy(update={"counts": counts[each.name]}) for each in held)


def _kind(version: str) -> Engine | None:
    """`llama.cpp b11434`: a runner tells the kind first."""
    return next((kind for kind in WORDS if kind == version.partition(" ")[0]), None)


def _counts(frames: Frames) -> Counts:
    """The engine's own totals of the trial that counts, else what it told of each request there. None is what it does not tell of all of them."""
    rows, found = counted(frames), totals_of(frames)
    told = {name: None if rows.empty or np.isnan(rows[name]).any() else int(rows[name].sum()) for name in SUMMED}
    if found is not None:
        told |= {name: value for name in SUMMED if (value := getattr(found, name)) is not None}
    return Counts(
        requests=len(rows), emitted=told["emitted"], rounds=told["rounds"], drafted=told["drafted"], verified=told["verified"],
        undrafted=told["undrafted"], prefill_tokens=told["prefill_tokens"],
    )  # fmt: skip


def _ratio(above: int | None, below: int | None) -> float | None:
    return None if above is None or not below else above / below
