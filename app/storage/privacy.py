"""Whose words may be shown, for queries over runs."""

from sqlalchemy import ColumnElement, select

from app.storage.suite_tables import stored_suites
from app.storage.tables import runs


def private() -> ColumnElement[bool]:
    """Whether the run of a row of `runs` measures with a private suite: what its runner said may quote it."""
    mine = (stored_suites.c.project == runs.c.project, stored_suites.c.name == runs.c.suite, stored_suites.c.private)
    return select(stored_suites.c.id).where(*mine).correlate(runs).exists()
