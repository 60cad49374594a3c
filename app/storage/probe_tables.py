"""The table of probes: what is asked, who is at it, and what was found; no behaviour.

A probe is found in one piece, so its attempts need no rows of their own: the number of the present one, and the token that is good for it alone.
"""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, DateTime, ForeignKey, Index, LargeBinary, SmallInteger, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from app.domain.status import MAX_ATTEMPTS
from app.storage import columns
from app.storage.columns import metadata

STATES = ["queued", "running", "succeeded", "failed", "cancelled"]

probes = Table(
    "probes",
    metadata,
    columns.identity(),
    columns.project(),
    columns.text("state"),
    Column("spec", JSONB, nullable=False),
    columns.text("tokenizer"),
    columns.text("model"),
    columns.text("queue"),
    Column("job_id", BigInteger, unique=True),
    Column("attempt", SmallInteger, nullable=False, server_default="1"),
    columns.text("submitted_by"),
    Column("key_scope", Text),
    Column("key", Text),
    columns.time("created_at", now=True),
    Column("runner_id", ForeignKey("runners.id")),
    Column("token_hash", LargeBinary),
    Column("lease_expires_at", DateTime(timezone=True)),
    columns.time("started_at"),
    columns.time("finished_at"),
    Column("found", JSONB),
    Column("failure", Text),
    Column("failure_code", Text),
    Column("retry_makes_sense", Boolean),
    columns.one_of("state", STATES),
    CheckConstraint(f"attempt BETWEEN 1 AND {MAX_ATTEMPTS}", name="attempt_bounded"),
    CheckConstraint("(finished_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'cancelled'))", name="final_has_end"),
    CheckConstraint("(found IS NOT NULL) = (state = 'succeeded')", name="succeeded_has_found"),
    CheckConstraint("state <> 'failed' OR failure IS NOT NULL", name="failed_has_reason"),
    CheckConstraint(
        "state <> 'running' OR (runner_id IS NOT NULL AND token_hash IS NOT NULL AND lease_expires_at IS NOT NULL)", name="running_is_held"
    ),
    # No figure of acceptance without language and tokenizer.
    CheckConstraint("jsonb_array_length(spec -> 'languages') > 0 AND spec ->> 'tokenizer' = tokenizer", name="spec_agrees"),
    CheckConstraint("octet_length(queue) <= 40", name="queue_fits_channel"),
    CheckConstraint("(key IS NULL) = (key_scope IS NULL)", name="key_has_scope"),
    *columns.filled("tokenizer", "model", "queue"),
    Index("uq_probes_held_runner", "runner_id", unique=True, postgresql_where="state = 'running'"),
    Index(None, "key_scope", "key"),
)
