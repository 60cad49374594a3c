"""Tables of what is asked and done; no behaviour. (What is seen: fact_tables.py.) Events are only ever added to.

Times are timestamptz, durations double seconds. A rule that exists is a constraint here too: above all, no run and no figure without
language and tokenizer.
"""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.domain.status import MAX_ATTEMPTS, AttemptState, RunState
from app.storage import columns
from app.storage.columns import metadata

tokens = Table(
    "tokens",
    metadata,
    columns.identity(),
    columns.project(every=True),
    columns.text("name"),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("hash", LargeBinary, nullable=False, unique=True),
    columns.time("created_at", now=True),
    columns.time("last_used_at"),
    columns.time("revoked_at"),
    CheckConstraint("octet_length(hash) = 32", name="hash_is_sha256"),
    CheckConstraint("scopes <@ ARRAY['read', 'submit', 'admin', 'runner']::text[] AND cardinality(scopes) > 0", name="scopes_known"),
    *columns.filled("name"),
)

runners = Table(
    "runners",
    metadata,
    columns.identity(),
    Column("token_id", ForeignKey("tokens.id"), nullable=False, unique=True),
    columns.text("name"),
    Column("worker_id", BigInteger),
    columns.time("created_at", now=True),
    columns.time("last_seen", now=True),
    *columns.filled("name"),
)

offers = Table(
    "offers",
    metadata,
    columns.identity(),
    Column("runner_id", ForeignKey("runners.id"), nullable=False),
    columns.text("digest"),
    Column("offer", JSONB, nullable=False),
    columns.time("published_at", now=True),
    UniqueConstraint("runner_id", "digest"),
)

suites = Table(
    "suites",
    metadata,
    Column("digest", Text, primary_key=True),
    columns.text("id"),
    columns.text("version"),
    Column("languages", ARRAY(Text), nullable=False),
    Column("profiles", ARRAY(Text), nullable=False),
    columns.count("prompts"),
    columns.time("first_seen", now=True),
)

campaigns = Table(
    "campaigns",
    metadata,
    columns.identity(),
    columns.project(),
    columns.text("title"),
    columns.text("submitted_by"),
    columns.time("created_at", now=True),
    *columns.filled("title"),
)

runs = Table(
    "runs",
    metadata,
    columns.identity(),
    columns.project(),
    Column("campaign_id", ForeignKey("campaigns.id"), index=True),
    columns.text("state"),
    Column("spec", JSONB, nullable=False),
    columns.text("spec_digest"),
    columns.text("language"),
    columns.text("tokenizer"),
    columns.text("model"),
    columns.text("drafter"),
    columns.text("suite"),
    columns.text("queue"),
    Column("job_id", BigInteger, unique=True),
    Column("attempt", SmallInteger, nullable=False, server_default="1"),
    columns.text("submitted_by"),
    columns.time("created_at", now=True),
    columns.time("started_at"),
    columns.time("finished_at"),
    Column("progress", JSONB),
    Column("failure", Text),
    Column("failure_code", Text),
    Column("retry_makes_sense", Boolean),
    columns.one_of("state", [state.value for state in RunState]),
    CheckConstraint(f"attempt BETWEEN 1 AND {MAX_ATTEMPTS}", name="attempt_bounded"),
    CheckConstraint("(finished_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'cancelled'))", name="final_has_end"),
    CheckConstraint("state <> 'failed' OR failure IS NOT NULL", name="failed_has_reason"),
    CheckConstraint("spec ->> 'language' = language AND spec ->> 'tokenizer' = tokenizer", name="spec_agrees"),
    CheckConstraint("octet_length(queue) <= 40", name="queue_fits_channel"),
    *columns.filled("language", "tokenizer", "model", "drafter", "suite", "queue"),
    Index(None, "state", "queue"),
    Index(None, "language"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("run_id", ForeignKey("runs.id"), nullable=True),
    Column("campaign_id", ForeignKey("campaigns.id"), nullable=True),
    Column("body", JSONB, nullable=False),
    columns.time("created_at", now=True),
    CheckConstraint("num_nonnulls(run_id, campaign_id) = 1", name="made_one_thing"),
)

environments = Table(
    "environments",
    metadata,
    Column("digest", Text, primary_key=True),
    columns.text("device"),
    Column("fact", JSONB, nullable=False),
    columns.time("first_seen", now=True),
)

tokenizers = Table(
    "tokenizers",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    columns.text("name"),
    columns.count("vocabulary"),
    columns.time("first_seen", now=True),
    CheckConstraint("fingerprint ~ '^[0-9a-f]{64}$'", name="fingerprint_is_sha256"),
    *columns.filled("name"),
)

models = Table(
    "models",
    metadata,
    columns.identity(),
    columns.text("name"),
    Column("revision", Text),
    Column("weights_digest", Text),
    columns.text("dtype"),
    Column("quantisation", Text),
    columns.time("first_seen", now=True),
    UniqueConstraint("name", "revision", "weights_digest", "dtype", "quantisation", postgresql_nulls_not_distinct=True),
)

attempts = Table(
    "attempts",
    metadata,
    columns.identity(),
    Column("run_id", ForeignKey("runs.id"), nullable=False),
    Column("number", SmallInteger, nullable=False),
    Column("runner_id", ForeignKey("runners.id"), nullable=False),
    columns.text("state"),
    Column("token_hash", LargeBinary, nullable=False),
    columns.time("leased_at", now=True),
    Column("lease_expires_at", DateTime(timezone=True), nullable=False),
    columns.time("started_at"),
    columns.time("ended_at"),
    Column("batches", Integer, nullable=False, server_default="0"),
    Column("environment", ForeignKey("environments.digest")),
    Column("warmup", JSONB),
    Column("finish", JSONB),
    Column("finish_batches", Integer),
    Column("reason", Text),
    Column("beside_id", ForeignKey("attempts.id"), index=True),
    UniqueConstraint("run_id", "number"),
    columns.one_of("state", [state.value for state in AttemptState]),
    CheckConstraint(f"number BETWEEN 1 AND {MAX_ATTEMPTS}", name="number_bounded"),
    CheckConstraint("(ended_at IS NULL) = (state IN ('leased', 'running'))", name="ended_or_active"),
    CheckConstraint("state <> 'succeeded' OR (finish IS NOT NULL AND finish_batches = batches)", name="succeeded_is_complete"),
    # One run has one live attempt at most, and one runner one that is not measured beside it.
    Index("uq_attempts_live_run", "run_id", unique=True, postgresql_where="state IN ('leased', 'running')"),
    Index("uq_attempts_live_runner", "runner_id", unique=True, postgresql_where="state IN ('leased', 'running') AND beside_id IS NULL"),
)

events = Table(
    "events",
    metadata,
    columns.identity(),
    Column("run_id", ForeignKey("runs.id")),
    columns.project(every=True),
    columns.time("at", now=True),
    columns.text("kind"),
    columns.text("actor"),
    Column("body", JSONB, nullable=False),
    CheckConstraint("run_id IS NULL OR project IS NULL", name="project_is_the_runs"),
    Index(None, "run_id", "id"),
    Index("ix_events_deeds", "kind", "at", postgresql_where="run_id IS NULL"),
)
