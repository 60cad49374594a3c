"""Tables of suites that somebody uploaded, with their text, only ever added to. (What runners offer is remembered without text: tables.py.)"""

from sqlalchemy import Boolean, CheckConstraint, Column, ForeignKey, Integer, Table, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from app.storage import columns
from app.storage.columns import metadata

stored_suites = Table(
    "stored_suites",
    metadata,
    columns.identity(),
    columns.project(),
    columns.text("name"),
    columns.text("version"),
    columns.text("digest"),
    Column("private", Boolean, nullable=False),
    Column("languages", ARRAY(Text), nullable=False),
    Column("profiles", ARRAY(Text), nullable=False),
    columns.count("prompts"),
    columns.count("parallel"),
    Column("counts", JSONB, nullable=False),
    columns.text("uploaded_by"),
    columns.time("uploaded_at", now=True),
    UniqueConstraint("project", "name"),
    CheckConstraint("digest ~ '^[0-9a-f]{64}$'", name="digest_is_sha256"),
    *columns.filled("name", "version", "uploaded_by"),
)

prompts = Table(
    "prompts",
    metadata,
    Column("suite_id", ForeignKey("stored_suites.id"), primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    columns.text("name"),
    Column("parallel", Text),
    columns.text("language"),
    columns.text("profile"),
    columns.text("answer"),
    columns.text("text"),
    UniqueConstraint("suite_id", "name"),
)
