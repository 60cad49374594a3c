"""Probes over HTTP: for whoever asks, and for the runner that holds one."""

from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from app.access.principal import Reader, Runner, Submitter, bearer
from app.domain.probe import ProbeLease, ProbeSpec
from app.probes.beside import beside
from app.probes.schemas import (
    LeaseProbeIn,
    ProbeBeat,
    ProbeFilter,
    ProbeFinishIn,
    ProbeLine,
    ProbeOut,
    ProbePage,
    ProbeReleaseIn,
    ProbeStateOut,
)
from app.probes.service import Probes, probes_service
from app.reports.probe import languages_of
from app.runs.routes import Key
from app.runs.service import Runs, runs_service

router = APIRouter(prefix="/api/v1")
Service = Annotated[Probes, Depends(probes_service)]
ProbeId = Annotated[int, Path(description="A number that no probe has is a 404, however large.")]
MADE_BEFORE: dict[int | str, dict[str, Any]] = {200: {"model": ProbeLine, "description": "the probe that this Idempotency-Key made before"}}


@router.post("/probes", status_code=201, responses=MADE_BEFORE, tags=["probes"])
async def create(spec: ProbeSpec, principal: Submitter, probes: Service, response: Response, idempotency_key: Key = None) -> ProbeLine:
    """Queues a probe: the perplexity of a model without a part of it, and the acceptance that follows, before anything is drafted."""
    probe, created = await probes.submit(spec, principal=principal, idempotency_key=idempotency_key)
    response.status_code = 201 if created else 200
    response.headers["Location"] = f"/api/v1/probes/{probe.id}"
    return probe


@router.get("/probes", tags=["probes"])
async def listed(filter: Annotated[ProbeFilter, Query()], _: Reader, probes: Service) -> ProbePage:
    """Probes, newest first."""
    return await probes.page(filter)


@router.get("/probes/{probe}", tags=["probes"])
async def one(probe: ProbeId, _: Reader, probes: Service, runs: Annotated[Runs, Depends(runs_service)]) -> ProbeOut:
    """A probe: its state, what it predicts in each language, and the runs that measured what it predicts."""
    return await shown(probe, probes, runs)


@router.post("/probes/{probe}/cancel", tags=["probes"])
async def cancel(probe: ProbeId, principal: Submitter, probes: Service) -> ProbeLine:
    """Ends a probe that has not ended."""
    return await probes.cancel(probe, principal=principal)


async def shown(probe: int, probes: Probes, runs: Runs) -> ProbeOut:
    """Raises NoSuchProbe."""
    line, found = await probes.found(probe)
    if found is None:
        return ProbeOut(**dict(line))
    return ProbeOut(**dict(line), languages=languages_of(line.spec, found), beside=await beside(line.spec, found, runs), found=found)


# --- the runner protocol ----------------------------------------------------------------------------------------------------------------


def everybodys(request: Request) -> Probes:
    """For a runner whose token is good for one attempt and which may see nothing else."""
    return cast(Probes, request.app.state.probes)


Held = Annotated[Probes, Depends(everybodys)]
Number = Annotated[int, Path(ge=1, le=2**53)]


async def mine(request: Request, probe: Number, attempt: Number, probes: Held) -> tuple[int, int]:
    """The probe and the attempt whose token the caller holds."""
    await probes.authenticate(probe, attempt, bearer(request))
    return probe, attempt


Mine = Annotated[tuple[int, int], Depends(mine)]


@router.post("/runners/me/probes/lease", responses={204: {"description": "nothing to do"}}, response_model=ProbeLease, tags=["runner protocol"])
async def lease(_: LeaseProbeIn, principal: Runner, probes: Held) -> ProbeLease | Response:
    """The next probe that fits this runner, with a token for this attempt alone."""
    found = await probes.lease(principal)
    return Response(status_code=204) if found is None else found


@router.post("/probes/{probe}/attempts/{attempt}/heartbeat", tags=["runner protocol"])
async def heartbeat(held: Mine, probes: Held) -> ProbeBeat:
    """Keeps the lease; 409 when there is none to keep."""
    return ProbeBeat(lease_seconds=await probes.beat(*held))


@router.post("/probes/{probe}/attempts/{attempt}/finish", tags=["runner protocol"])
async def finish(held: Mine, body: ProbeFinishIn, probes: Held) -> ProbeStateOut:
    """Ends the attempt with everything that was found, or with the reason why nothing was."""
    return ProbeStateOut(probe=held[0], state=await probes.finish(*held, body.end))


@router.post("/probes/{probe}/attempts/{attempt}/release", tags=["runner protocol"])
async def release(held: Mine, body: ProbeReleaseIn, probes: Held) -> ProbeStateOut:
    """Gives the probe back to the queue, for another runner or a later hour."""
    return ProbeStateOut(probe=held[0], state=await probes.release(*held, body.reason))
