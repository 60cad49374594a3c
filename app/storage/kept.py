"""Which stored reports may still be shown, decided in one place for a run's page and for every list over runs."""

from sqlalchemy import ColumnElement, select

from app.storage.fact_tables import reports
from app.storage.retention_tables import forgotten


def gone(run: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether the raw facts of a run were given up."""
    return select(forgotten.c.run_id).where(forgotten.c.run_id == run).exists()


def shown(analysis: str) -> ColumnElement[bool]:
    """Reports of this analysis, and the last ones of runs whose facts are gone: nothing can compute those anew."""
    return (reports.c.analysis == analysis) | gone(reports.c.run_id)
