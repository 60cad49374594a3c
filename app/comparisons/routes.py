"""Comparisons over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Response

from app.access.principal import Reader
from app.comparisons.service import MOST, Comparisons, comparisons_service, ids
from app.reports.export import comparison_csv
from app.reports.report import Comparison

router = APIRouter(prefix="/api/v1", tags=["comparisons"])
Service = Annotated[Comparisons, Depends(comparisons_service)]
Ids = Annotated[list[str], Query(alias="runs", max_length=100, description=f"2 to {MOST} runs: runs=41,42 or runs=41&runs=42.")]


@router.get("/comparisons", response_model=Comparison, responses={200: {"content": {"text/csv": {}}}})
async def compare(runs: Ids, _: Reader, service: Service, accept: Annotated[str, Header()] = "application/json") -> Comparison | Response:
    found = await service.compare(ids(runs))
    return _csv(found) if "text/csv" in accept else found


@router.get("/comparisons.csv", response_class=Response)
async def compare_csv(runs: Ids, _: Reader, service: Service) -> Response:
    return _csv(await service.compare(ids(runs)))


def _csv(found: Comparison) -> Response:
    name = "-".join(str(report.run) for report in found.reports)
    headers = {"Content-Disposition": f'attachment; filename="bezmen-comparison-{name}.csv"'}
    return Response(comparison_csv(found), media_type="text/csv; charset=utf-8", headers=headers)
