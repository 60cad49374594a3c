"""Tables of what others publish. They hold no interval and refer to no run: a claim never meets a fact in one query that adds anything up.

What comes with the service has no project: every one of them sees it.
"""

from sqlalchemy import CheckConstraint, Column, Date, Double, ForeignKey, Table, Text, UniqueConstraint

from app.storage import columns
from app.storage.columns import metadata

systems = Table(
    "systems",
    metadata,
    columns.identity(),
    columns.project(every=True),
    columns.text("name"),
    columns.text("kind"),
    columns.text("about"),
    Column("drafter", Text),
    columns.text("entered_by"),
    columns.time("entered_at", now=True),
    UniqueConstraint("project", "name", postgresql_nulls_not_distinct=True),
    *columns.filled("name", "kind", "drafter", "entered_by"),
)

claims = Table(
    "claims",
    metadata,
    columns.identity(),
    columns.project(every=True),
    Column("system_id", ForeignKey("systems.id"), nullable=False, index=True),
    columns.text("quantity"),
    columns.text("figure"),
    Column("definition", Text),
    Column("value", Double, nullable=False),
    Column("upto", Double),
    *(Column(name, Text) for name in ("target", "language", "tokenizer", "hardware", "load")),
    columns.text("source"),
    Column("address", Text),
    Column("published", Date),
    Column("note", Text),
    # Names a claim that comes with the service, so that no start enters it twice.
    Column("key", Text, unique=True),
    columns.text("entered_by"),
    columns.time("entered_at", now=True),
    columns.time("withdrawn_at"),
    columns.one_of("quantity", ["speed-up", "acceptance", "tokens per call", "speed"]),
    CheckConstraint("value >= 0 AND value < 'Infinity'", name="value_finite"),
    CheckConstraint("quantity <> 'acceptance' OR (value <= 1 AND coalesce(upto, 0) <= 1)", name="share_is_share"),
    CheckConstraint("upto IS NULL OR (upto > value AND upto < 'Infinity')", name="range_ascends"),
    CheckConstraint("address IS NULL OR address LIKE 'https://%'", name="address_is_https"),
    *columns.filled("figure", "source", "language", "tokenizer", "entered_by"),
)
