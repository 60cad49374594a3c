"""Tables of webhooks: who wants to be told, what is to be told, and each try of telling it. No behaviour.

A secret is kept as it is, since every delivery is signed with it anew.
"""

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, Column, Double, ForeignKey, Index, Integer, SmallInteger, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from app.storage import columns
from app.storage.columns import metadata

webhooks = Table(
    "webhooks",
    metadata,
    columns.identity(),
    columns.project(),
    columns.text("url"),
    Column("events", ARRAY(Text), nullable=False),
    columns.text("secret"),
    columns.text("created_by"),
    columns.time("created_at", now=True),
    columns.time("removed_at"),
    CheckConstraint("cardinality(events) > 0", name="events_given"),
    *columns.filled("url", "secret"),
)

deliveries = Table(
    "deliveries",
    metadata,
    columns.identity(),
    Column("webhook_id", ForeignKey("webhooks.id"), nullable=False),
    Column("run_id", ForeignKey("runs.id"), nullable=False, index=True),
    columns.text("event"),
    Column("subject", JSONB),
    Column("body", Text),
    columns.text("state"),
    Column("tries", SmallInteger, nullable=False, server_default="0"),
    Column("job_id", BigInteger, unique=True),
    columns.time("created_at", now=True),
    columns.time("next_at"),
    columns.time("ended_at"),
    columns.one_of("state", ["waiting", "delivered", "failed"]),
    CheckConstraint("(ended_at IS NULL) = (state = 'waiting')", name="ended_or_waiting"),
    Index(None, "webhook_id", "id"),
)

tries = Table(
    "delivery_tries",
    metadata,
    columns.identity(),
    Column("delivery_id", ForeignKey("deliveries.id"), nullable=False, index=True),
    columns.time("at", now=True),
    Column("status", Integer),
    Column("error", Text),
    Column("seconds", Double, nullable=False),
    CheckConstraint("status IS NOT NULL OR error IS NOT NULL", name="says_how_it_ended"),
)
