"""Runs beside other runs: the same in another language, and what runs of a model took."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from app.access.seen import Seen, Who, narrowed
from app.domain.passport import Passport
from app.domain.spec import RunSpec
from app.domain.status import RunState
from app.reports.axes import differences
from app.runs import relative_store as store
from app.runs.analysis import analysis
from app.storage.database import Database


@dataclass(frozen=True)
class Twin:
    """A run that differs from another in language alone; `finished` says that the two can be compared, `ended` that it is measured and only its
    report is not made yet."""

    run: int
    language: str
    finished: bool
    ended: bool = False


@dataclass(frozen=True)
class Took:
    """What a run took on its runner, over how many prompts. Runs of one campaign may share that time. `passes` holds, by purpose and arm, the
    seconds of all passes together and their number."""

    run: int
    campaign: int | None
    runner: str
    spec: RunSpec
    seconds: float
    prompts: int
    passes: Mapping[tuple[str, str], tuple[float, int]]


class Relatives(Seen):
    def __init__(self, database: Database) -> None:
        self._database = database

    async def twins(self, run: int) -> list[Twin]:
        """One a language. A run of the same campaign goes before all others; then one that is finished, and whose passport differs in nothing that
        would forbid comparing, before one that waits, is measured, or has no report yet; then the newest."""
        async with self._database.transaction() as connection:
            own = await store.passport(connection, self.view, run, analysis())
            if own is None:
                return []
            rows = await store.in_other_languages(connection, self.view, run, analysis())
        mine = Passport.model_validate(own)
        found: dict[str, tuple[tuple[bool, bool], Twin]] = {}
        for row in rows:
            twin = _twin(mine, row)
            rank = (not row.sibling, twin is None or not twin.finished)
            if twin is not None and (row.language not in found or rank < found[row.language][0]):
                found[row.language] = (rank, twin)
        return sorted((twin for _, twin in found.values()), key=lambda twin: twin.language)

    async def took(self, models: Iterable[str]) -> list[Took]:
        """Succeeded runs of these models, newest first."""
        async with self._database.transaction() as connection:
            rows = await store.took(connection, self.view, sorted(set(models)))
            made = await store.passes(connection, [row.attempt for row in rows])
        passes: dict[int, dict[tuple[str, str], tuple[float, int]]] = {}
        for one in made:
            passes.setdefault(one.attempt_id, {})[one.purpose, one.arm] = (one.seconds, one.number)
        return [
            Took(
                run=row.id, campaign=row.campaign_id, runner=row.runner, spec=RunSpec.model_validate(row.spec),
                seconds=(row.ended_at - row.started_at).total_seconds(), prompts=sum(row.profiles.values()),
                passes=passes.get(row.attempt, {}),
            )
            for row in rows
        ]  # fmt: skip


def _twin(own: Passport, row: Any) -> Twin | None:
    """None where both are measured and may not be compared."""
    if row.state != RunState.SUCCEEDED or row.passport is None:
        return Twin(row.id, row.language, finished=False, ended=row.state == RunState.SUCCEEDED)
    return Twin(row.id, row.language, finished=True) if _comparable(own, Passport.model_validate(row.passport)) else None


def _comparable(own: Passport, other: Passport) -> bool:
    found = differences([own, other])
    return found.axis == "language" and not found.forbidden


def relatives_service(request: Request, who: Who) -> Relatives:
    return narrowed(request, Relatives, who)
