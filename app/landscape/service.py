"""The landscape: every system of the board beside what was measured here with its drafter."""

from fastapi import Request

from app.access.seen import Seen, Who, narrowed
from app.claims.service import Claims
from app.landscape.check import checks
from app.landscape.schemas import Landscape, Row
from app.languages.service import Tongues


class Board(Seen):
    def __init__(self, claims: Claims, tongues: Tongues) -> None:
        self._claims = claims
        self._tongues = tongues

    async def landscape(self) -> Landscape:
        measured = await self._tongues.measured()
        rows = []
        for system in await self._claims.board():
            own = tuple(one for one in measured if one.drafter.name == system.drafter)
            rows.append(Row(system=system, measured=own, checks=tuple(checks(system.claims, own))))
        return Landscape(rows=tuple(rows))


def landscape_service(request: Request, who: Who) -> Board:
    return narrowed(request, Board, who)
