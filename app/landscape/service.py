"""The landscape: every system of the board beside what was measured here with its drafter."""

from fastapi import Request

from app.access.seen import Seen, Who, narrowed
from app.claims.schemas import System
from app.claims.service import Claims
from app.domain.spec import OWN_ENGINE
from app.landscape.check import checks
from app.landscape.schemas import Landscape, Row
from app.languages.schemas import Measured
from app.languages.service import Tongues

ENGINES = "engine"


class Board(Seen):
    def __init__(self, claims: Claims, tongues: Tongues) -> None:
        self._claims = claims
        self._tongues = tongues

    async def landscape(self) -> Landscape:
        measured = await self._tongues.measured()
        rows = []
        for system in await self._claims.board():
            own = tuple(one for one in measured if belongs(one, system))
            rows.append(Row(system=system, measured=own, checks=tuple(checks(system.claims, own))))
        return Landscape(rows=tuple(rows))


def belongs(one: Measured, system: System) -> bool:
    """A drafter of our own loop is its system's; what a served engine drafts by the same name is that engine's, whose kind the system names."""
    if one.engine == OWN_ENGINE:
        return one.drafter.name == system.drafter
    return system.kind == ENGINES and one.server is not None and _plain(one.server) in _plain(system.name)


def _plain(name: str) -> str:
    return name.lower().replace(" ", "")


def landscape_service(request: Request, who: Who) -> Board:
    return narrowed(request, Board, who)
