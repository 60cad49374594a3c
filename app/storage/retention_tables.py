"""Runs whose raw facts were given up; no behaviour. What is kept of them is their report, which nothing may replace any more."""

from sqlalchemy import Column, ForeignKey, Table

from app.storage import columns
from app.storage.columns import metadata

# Triggers of migration 0011 let facts of these runs be deleted, and of no other, and keep their reports as they are.
forgotten = Table(
    "forgotten",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True, autoincrement=False),
    columns.time("at", now=True),
    columns.time("emptied_at"),
)
