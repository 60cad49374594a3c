"""The table of results measured elsewhere. What a file told is kept as it was read and never changed; what a person adds lies beside it."""

from sqlalchemy import CheckConstraint, Column, Table, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from app.storage import columns
from app.storage.columns import metadata

imports = Table(
    "imports",
    metadata,
    columns.identity(),
    columns.project(),
    # Of the bytes that were sent, so that a file that comes again is known.
    columns.text("digest"),
    columns.text("format"),
    Column("imported", JSONB, nullable=False),
    Column("supplied", JSONB, nullable=False),
    # What refuses its figures, so that a list can be narrowed without making every report.
    Column("refusing", ARRAY(Text), nullable=False),
    columns.text("imported_by"),
    columns.time("created_at", now=True),
    columns.time("changed_at"),
    UniqueConstraint("project", "digest"),
    CheckConstraint("digest ~ '^[0-9a-f]{64}$'", name="digest_is_sha256"),
    CheckConstraint("jsonb_typeof(imported) = 'object' AND jsonb_typeof(supplied) = 'object'", name="objects_kept"),
    *columns.filled("format", "imported_by"),
)
