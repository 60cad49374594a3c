"""Runs over HTTP."""

from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, format_sse_event

from app.access.principal import Reader, Submitter
from app.domain.estimate import Figure
from app.domain.spec import RunSpec
from app.domain.status import FINAL
from app.errors import InvalidInput
from app.methodology.schemas import Definition
from app.methodology.service import definitions
from app.reports.export import to_csv
from app.reports.parquet import MEDIA, report_parquet
from app.reports.record import RunRecord
from app.reports.report import Report
from app.runs.figures import Figures, figures_service
from app.runs.schemas import EventOut, FigureOut, RunFilter, RunPage, RunSummary
from app.runs.service import Runs, runs_service

router = APIRouter(prefix="/api/v1", tags=["runs"])
Service = Annotated[Runs, Depends(runs_service)]
FiguresService = Annotated[Figures, Depends(figures_service)]
RunId = Annotated[int, Path(description="A number that no run has is a 404, however large.")]
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=255)]
KEEPALIVE_SECONDS = 15.0


@router.post("/runs", status_code=201, responses={200: {"model": RunSummary, "description": "the run that this Idempotency-Key made before"}})
async def create(spec: RunSpec, principal: Submitter, runs: Service, response: Response, idempotency_key: Key = None) -> RunSummary:
    """Queues a run. A repeated Idempotency-Key answers with the run that it made first."""
    run, created = await runs.submit(spec, principal=principal, idempotency_key=idempotency_key)
    response.status_code = 201 if created else 200
    response.headers["Location"] = f"/api/v1/runs/{run.id}"
    return run


@router.get("/runs")
async def listed(filter: Annotated[RunFilter, Query()], _: Reader, runs: Service, request: Request, response: Response) -> RunPage:
    """Runs, newest first, with their verdicts."""
    page = await runs.page(filter)
    if page.next_cursor is not None:
        response.headers["Link"] = f'<{request.url.include_query_params(cursor=page.next_cursor)}>; rel="next"'
    return page


@router.get("/runs/{run}")
async def one(run: RunId, _: Reader, runs: Service) -> RunSummary:
    """A run: its state, what it waits for, how far it is, how it ended."""
    return await runs.get(run)


@router.post("/runs/{run}/cancel")
async def cancel(run: RunId, principal: Submitter, runs: Service) -> RunSummary:
    """Ends a run that has not ended; what was measured is kept."""
    return await runs.cancel(run, principal=principal)


@router.get("/runs/{run}/events", response_model=list[EventOut])
async def events(
    run: RunId,
    _: Reader,
    runs: Service,
    accept: Annotated[str, Header()] = "application/json",
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    last_event_id: Annotated[int | None, Header(ge=0, le=2**53)] = None,
) -> list[EventOut] | Response:
    """A list, or a stream of server-sent events for whoever accepts one; `Last-Event-ID` or `after` continues behind an event."""
    after = last_event_id if last_event_id is not None else after
    if "text/event-stream" not in accept:
        return await runs.events(run, after)
    if (await runs.get(run)).state in FINAL and not await runs.events(run, after):
        # The one answer that tells an EventSource not to come back.
        return Response(status_code=204)
    return EventSourceResponse(_stream(run, after, runs), headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


async def _stream(run: int, after: int, runs: Runs) -> AsyncIterator[bytes]:
    """No database session is held between two looks."""
    going = True
    while going:
        ended = (await runs.get(run)).state in FINAL
        found = await runs.events(run, after)
        for event in found:
            after = event.id
            yield format_sse_event(id=str(event.id), event=event.kind, data_str=event.model_dump_json())
        if ended and not found:
            return
        if not found:
            yield format_sse_event(comment="alive")
            going = await runs.wait(run, KEEPALIVE_SECONDS)


@router.get("/runs/{run}/report", response_model=Report, responses={200: {"content": {"text/csv": {}}}})
async def report(run: RunId, _: Reader, runs: Service, accept: Annotated[str, Header()] = "application/json") -> Report | Response:
    """Every number and sentence of the run's page, in full precision."""
    found = await runs.report(run)
    return _csv(found) if "text/csv" in accept else found


@router.get("/runs/{run}/report.csv", response_class=Response)
async def report_csv(run: RunId, _: Reader, runs: Service) -> Response:
    """Every reading of every figure, one a row, with interval and passport."""
    return _csv(await runs.report(run))


@router.get("/runs/{run}/report.parquet", response_class=Response)
async def parquet(run: RunId, _: Reader, runs: Service) -> Response:
    """The rows of the CSV, with types."""
    found = await runs.report(run)
    headers = {"Content-Disposition": f'attachment; filename="bezmen-run-{found.run}.parquet"'}
    return Response(report_parquet(found), media_type=MEDIA, headers=headers)


def _csv(found: Report) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="bezmen-run-{found.run}.csv"'}
    return Response(to_csv(found), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/runs/{run}/facts", response_class=StreamingResponse)
async def facts(run: RunId, _: Reader, runs: Service) -> StreamingResponse:
    """Everything that was counted and timed, one fact a line as its runner sent it: with the run's `spec`, whoever doubts a figure can compute it
    anew."""
    return StreamingResponse(_lines(await runs.record(run, whole=True)), media_type="application/x-ndjson")


def _lines(record: RunRecord) -> Iterator[str]:
    seen = (record.environment, record.preflight, record.warmup, *record.requests, *record.trials, *record.costs, *record.divergences)
    for fact in (*seen, record.learned, record.finish):
        if fact is not None:
            yield fact.model_dump_json() + "\n"


@router.get("/runs/{run}/figures/{figure}")
async def figure(run: RunId, figure: str, _: Reader, figures: FiguresService, request: Request) -> Figure:
    """One figure alone; query parameters narrow its part (`?position=2`). 409 where it is refused, absent or not there yet."""
    return await figures.of_run(run, figure, dict(request.query_params))


@router.get("/figures")
async def figures(
    _: Reader,
    figures: FiguresService,
    id: Annotated[str | None, Query(max_length=64)] = None,
    language: Annotated[str | None, Query(max_length=64)] = None,
    drafter: Annotated[str | None, Query(max_length=64)] = None,
    model: Annotated[str | None, Query(max_length=1024)] = None,
    parts: Annotated[bool, Query(description="Also each profile, position, arm and quantile of the figure.")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> list[FigureOut] | list[Definition]:
    """One figure over finished runs, newest first; a refusal or an absence stands where the figure would. Without an `id`, what figures there are."""
    if id is None:
        if language or drafter or model or parts:
            raise InvalidInput("Name the figure with id, such as id=acceptance_rate; without any of these the answer is what figures there are.")
        return list(definitions())
    return await figures.over_runs(id, language=language, drafter=drafter, model=model, parts=parts, limit=limit)
