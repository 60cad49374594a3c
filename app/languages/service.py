"""What a language costs with a tokenizer, out of the reports of finished runs."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from fastapi import Request

from app.access.seen import Seen, Who, narrowed
from app.domain.estimate import Cell, Figure, Refusal
from app.domain.sentence import plain
from app.domain.spec import RunSpec
from app.domain.tokenizer import TokenizerIdentity
from app.domain.withheld import REASON
from app.languages import store
from app.languages.schemas import LanguageRow, Languages, Measured, Refused
from app.reports.stored import cell_of
from app.runs.analysis import analysis, earlier
from app.storage.database import Database

FERTILITY = "fertility"
BESIDE = ("chars_per_round", "tokens_per_target_forward")
Cells = dict[int, list[Cell]]


class Tongues(Seen):
    def __init__(self, database: Database) -> None:
        self._database = database

    async def summary(self) -> Languages:
        """One row a tokenizer and language. Every number is a figure of one named run."""
        found, by_run = await self._look()
        async with self._database.transaction() as connection:
            ended = await store.stopped(connection, self.view)
            refused = await store.refused(connection, self.view, analysis())
        groups: dict[tuple[str, str], list[tuple[Any, Measured]]] = defaultdict(list)
        for row in found:
            measured = _measured(row, by_run[row.run])
            name = measured.tokenizer.fingerprint if measured.tokenizer else measured.tokenizer_named
            groups[name, measured.language].append((row, measured))
        rows = [_row(group, by_run) for group in groups.values()]
        order = sorted(rows, key=lambda row: (row.tokenizer.name if row.tokenizer else row.tokenizer_named, row.language != "ru", row.language))
        refusals = tuple(one for row in refused for one in _refusals(row))
        return Languages(rows=tuple(order), refusals=refusals, stopped=tuple(_stopped(row) for row in ended))

    async def measured(self) -> list[Measured]:
        """A run of each kind, newest first."""
        found, by_run = await self._look()
        return [_measured(row, by_run[row.run]) for row in found]

    async def _look(self) -> tuple[list[Any], Cells]:
        async with self._database.transaction() as connection:
            found = await store.newest(connection, self.view, analysis())
            kept = await store.cells(connection, [row.run for row in found], (FERTILITY, *BESIDE))
        by_run: Cells = defaultdict(list)
        for row in kept:
            by_run[row.run_id].append(cell_of(row.cell))
        return found, by_run


def _measured(row: Any, cells: Sequence[Cell]) -> Measured:
    spec = RunSpec.model_validate(row.spec)
    speedup, acceptance = (None if one is None else cell_of(one) for one in (row.speedup, row.acceptance))
    beside = {id: next((cell for cell in cells if cell.id == id and not cell.part), None) for id in BESIDE}
    return Measured(
        run=row.run, runs=row.runs, language=spec.language, tokenizer=_tokenizer([*cells, speedup, acceptance]), tokenizer_named=spec.tokenizer,
        target=spec.model.title, dtype=spec.model.dtype, device=row.device,
        engine=spec.engine, drafter=spec.drafter, controller=spec.controller, load=spec.load, sampling=spec.sampling,
        suite=spec.suite.id, earlier_analysis=earlier(row.analysis), outcome=row.outcome, refused=row.refused, speedup=speedup,
        acceptance=acceptance, **beside,
    )  # fmt: skip


def _tokenizer(cells: Sequence[Cell | None]) -> TokenizerIdentity | None:
    """Every figure of a run has the same passport; a figure of the prompts is there even where answers are refused."""
    return next((cell.passport.tokenizer for cell in cells if isinstance(cell, Figure)), None)


def _row(group: Sequence[tuple[Any, Measured]], by_run: Cells) -> LanguageRow:
    measured = [one for _, one in group]
    first = measured[0]
    chosen, fertility = max(((one.run, _fertility(by_run[one.run])) for one in measured), key=lambda pair: (_prompts(pair[1]), pair[0]))
    figure = next((cell for cell in fertility if isinstance(cell, Figure)), None)
    return LanguageRow(
        tokenizer=first.tokenizer,
        tokenizer_named=first.tokenizer_named,
        language=first.language,
        runs=sum(row.runs for row, _ in group),
        refused_runs=sum(row.refused_runs for row, _ in group),
        fertility_run=chosen if fertility else None,
        suite=f"{figure.passport.suite} {figure.passport.suite_version}" if figure else None,
        fertility=tuple(fertility),
        measured=tuple(measured),
    )


def _fertility(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.id == FERTILITY]


def _prompts(cells: Sequence[Cell]) -> int:
    return max((cell.pooled.n for cell in cells if isinstance(cell, Figure)), default=-1)


def _refusals(row: Any) -> list[Refused]:
    """Each reason of a run once: acceptance and speed-up are mostly refused together."""
    cells = [cell_of(one) for one in (row.acceptance, row.speedup) if one is not None]
    unique = {cell.reason.model_dump_json(): cell for cell in cells if isinstance(cell, Refusal)}.values()
    return [
        Refused(run=row.id, language=row.language, drafter=row.drafter, field=cell.field, reason=cell.reason, remedy=cell.remedy) for cell in unique
    ]


def _stopped(row: Any) -> Refused:
    field = "tokenizer" if row.failure_code.startswith("tokenizer") else "language"
    said = plain(REASON) if row.private else plain("%(reason)s", reason=row.failure)
    return Refused(run=row.id, language=row.language, drafter=row.drafter, field=field, reason=said)


def languages_service(request: Request, who: Who) -> Tongues:
    return narrowed(request, Tongues, who)
