"""The runner protocol over HTTP."""

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Depends, Path, Request, Response
from fastapi.responses import JSONResponse

from app.access.principal import Runner, bearer
from app.attempts.leasing import Leasing, leasing
from app.attempts.schemas import BatchIn, BatchOut, BeatIn, BeatOut, FinishIn, LeaseIn, ReleaseIn, StateOut
from app.attempts.service import Attempts, attempts
from app.domain.lease import Lease
from app.runners_registry import protocol
from app.runs.service import Runs, reporting

router = APIRouter(prefix="/api/v1", tags=["runner protocol"])
Rooms = Annotated[Attempts, Depends(attempts)]


async def mine(request: Request, attempt: Annotated[int, Path(ge=1, le=2**53)], rooms: Rooms) -> int:
    """The attempt whose token the caller holds."""
    await rooms.authenticate(attempt, bearer(request))
    return attempt


Mine = Annotated[int, Depends(mine)]


@router.post("/runners/me/lease", response_model=Lease, responses={204: {"description": "nothing to do"}})
async def lease(body: LeaseIn, principal: Runner, desk: Annotated[Leasing, Depends(leasing)], request: Request) -> Response:
    """The next run that fits this runner, with a token for this attempt alone."""
    protocol.require(body.protocol)
    found = await desk.lease(principal, body.wait_seconds, request.is_disconnected)
    return Response(status_code=204) if found is None else JSONResponse(found.told(body.protocol))


@router.post("/attempts/{attempt}/heartbeat")
async def heartbeat(attempt: Mine, _: BeatIn, rooms: Rooms) -> BeatOut:
    """Keeps the lease, tells progress, and learns whether to stop."""
    return await rooms.heartbeat(attempt)


@router.post("/attempts/{attempt}/facts")
async def facts(attempt: Mine, body: BatchIn, rooms: Rooms) -> BatchOut:
    """A numbered batch of facts. The same batch again counts once; another one under its number is refused."""
    return await rooms.facts(attempt, body)


@router.post("/attempts/{attempt}/finish")
async def finish(attempt: Mine, body: FinishIn, rooms: Rooms, runs: Annotated[Runs, Depends(reporting)], later: BackgroundTasks) -> StateOut:
    """Ends the attempt. The result is safe before its report is computed."""
    ended = await rooms.finish(attempt, body)
    later.add_task(runs.prepare_report, ended.run)
    return ended


@router.post("/attempts/{attempt}/release")
async def release(attempt: Mine, body: ReleaseIn, rooms: Rooms) -> StateOut:
    """Gives the run back to the queue, for another runner or a later hour."""
    return await rooms.release(attempt, body.reason)
