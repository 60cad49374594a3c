"""Comparisons over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from app.access.principal import Reader
from app.comparisons.schemas import Asked, asked
from app.comparisons.service import Comparisons, comparisons_service
from app.reports.export import comparison_csv
from app.reports.parquet import MEDIA, comparison_parquet
from app.reports.report import Comparison

router = APIRouter(prefix="/api/v1", tags=["comparisons"])
Service = Annotated[Comparisons, Depends(comparisons_service)]
What = Annotated[Asked, Depends(asked)]
CSV = "text/csv"


@router.get("/comparisons", response_model=Comparison, responses={200: {"content": {CSV: {}, MEDIA: {}}}})
async def compare(
    what: What, _: Reader, service: Service, response: Response, accept: Annotated[str, Header()] = "application/json"
) -> Comparison | Response:
    """What the page at /compare shows under the same query, in full precision; `Link` names both under the one address that they have."""
    found = await service.compare(what.runs, what.load)
    if CSV in accept:
        return _csv(found)
    if MEDIA in accept:
        return _parquet(found)
    page, own = what.canonical().address(), what.canonical().address("/api/v1/comparisons")
    response.headers["Link"] = f'<{own}>; rel="canonical", <{page}>; rel="alternate"; type="text/html"'
    return found


@router.get("/comparisons.csv", response_class=Response)
async def compare_csv(what: What, _: Reader, service: Service) -> Response:
    """The comparison's rows as CSV."""
    return _csv(await service.compare(what.runs, what.load))


@router.get("/comparisons.parquet", response_class=Response)
async def compare_parquet(what: What, _: Reader, service: Service) -> Response:
    """The rows of the CSV, with types."""
    return _parquet(await service.compare(what.runs, what.load))


def _csv(found: Comparison) -> Response:
    return Response(comparison_csv(found), media_type=f"{CSV}; charset=utf-8", headers=attached(found, "csv"))


def _parquet(found: Comparison) -> Response:
    return Response(comparison_parquet(found), media_type=MEDIA, headers=attached(found, "parquet"))


def attached(found: Comparison, kind: str) -> dict[str, str]:
    name = "-".join(str(report.run) for report in found.reports)
    return {"Content-Disposition": f'attachment; filename="bezmen-comparison-{name}.{kind}"'}
