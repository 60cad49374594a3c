"""Tables; no behaviour. Facts and events are only ever added to (triggers of the first migration refuse the rest).

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
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.domain.status import MAX_ATTEMPTS, AttemptState, RunState

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _identity() -> Column[int]:
    return Column("id", BigInteger, Identity(always=True), primary_key=True)


def _time(name: str, *, now: bool = False) -> Column[object]:
    return (
        Column(name, DateTime(timezone=True), server_default=func.clock_timestamp(), nullable=False) if now else Column(name, DateTime(timezone=True))
    )


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _count(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _filled(*names: str) -> list[CheckConstraint]:
    return [CheckConstraint(f"btrim({name}) <> ''", name=f"{name}_given") for name in names]


def _one_of(column: str, values: list[str]) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")


tokens = Table(
    "tokens",
    metadata,
    _identity(),
    _text("name"),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("hash", LargeBinary, nullable=False, unique=True),
    _time("created_at", now=True),
    _time("last_used_at"),
    _time("revoked_at"),
    CheckConstraint("octet_length(hash) = 32", name="hash_is_sha256"),
    CheckConstraint("scopes <@ ARRAY['read', 'submit', 'admin', 'runner']::text[] AND cardinality(scopes) > 0", name="scopes_known"),
    *_filled("name"),
)

runners = Table(
    "runners",
    metadata,
    _identity(),
    Column("token_id", ForeignKey("tokens.id"), nullable=False, unique=True),
    _text("name"),
    Column("worker_id", BigInteger),
    _time("created_at", now=True),
    _time("last_seen", now=True),
    *_filled("name"),
)

offers = Table(
    "offers",
    metadata,
    _identity(),
    Column("runner_id", ForeignKey("runners.id"), nullable=False),
    _text("digest"),
    Column("offer", JSONB, nullable=False),
    _time("published_at", now=True),
    UniqueConstraint("runner_id", "digest"),
)

suites = Table(
    "suites",
    metadata,
    Column("digest", Text, primary_key=True),
    _text("id"),
    _text("version"),
    Column("languages", ARRAY(Text), nullable=False),
    Column("profiles", ARRAY(Text), nullable=False),
    _count("prompts"),
    _time("first_seen", now=True),
)

runs = Table(
    "runs",
    metadata,
    _identity(),
    _text("state"),
    Column("spec", JSONB, nullable=False),
    _text("spec_digest"),
    _text("language"),
    _text("tokenizer"),
    _text("model"),
    _text("drafter"),
    _text("suite"),
    _text("queue"),
    Column("job_id", BigInteger, unique=True),
    Column("attempt", SmallInteger, nullable=False, server_default="1"),
    _text("submitted_by"),
    _time("created_at", now=True),
    _time("started_at"),
    _time("finished_at"),
    Column("progress", JSONB),
    Column("failure", Text),
    Column("failure_code", Text),
    Column("retry_makes_sense", Boolean),
    _one_of("state", [state.value for state in RunState]),
    CheckConstraint(f"attempt BETWEEN 1 AND {MAX_ATTEMPTS}", name="attempt_bounded"),
    CheckConstraint("(finished_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'cancelled'))", name="final_has_end"),
    CheckConstraint("state <> 'failed' OR failure IS NOT NULL", name="failed_has_reason"),
    CheckConstraint("spec ->> 'language' = language AND spec ->> 'tokenizer' = tokenizer", name="spec_agrees"),
    CheckConstraint("octet_length(queue) <= 40", name="queue_fits_channel"),
    *_filled("language", "tokenizer", "model", "drafter", "suite", "queue"),
    Index(None, "state", "queue"),
    Index(None, "language"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("run_id", ForeignKey("runs.id"), nullable=False),
    Column("body", JSONB, nullable=False),
    _time("created_at", now=True),
)

environments = Table(
    "environments",
    metadata,
    Column("digest", Text, primary_key=True),
    _text("device"),
    Column("fact", JSONB, nullable=False),
    _time("first_seen", now=True),
)

tokenizers = Table(
    "tokenizers",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    _text("name"),
    _count("vocabulary"),
    _time("first_seen", now=True),
    CheckConstraint("fingerprint ~ '^[0-9a-f]{64}$'", name="fingerprint_is_sha256"),
    *_filled("name"),
)

models = Table(
    "models",
    metadata,
    _identity(),
    _text("name"),
    Column("revision", Text),
    Column("weights_digest", Text),
    _text("dtype"),
    Column("quantisation", Text),
    _time("first_seen", now=True),
    UniqueConstraint("name", "revision", "weights_digest", "dtype", "quantisation", postgresql_nulls_not_distinct=True),
)

attempts = Table(
    "attempts",
    metadata,
    _identity(),
    Column("run_id", ForeignKey("runs.id"), nullable=False),
    Column("number", SmallInteger, nullable=False),
    Column("runner_id", ForeignKey("runners.id"), nullable=False),
    _text("state"),
    Column("token_hash", LargeBinary, nullable=False),
    _time("leased_at", now=True),
    Column("lease_expires_at", DateTime(timezone=True), nullable=False),
    _time("started_at"),
    _time("ended_at"),
    Column("batches", Integer, nullable=False, server_default="0"),
    Column("environment", ForeignKey("environments.digest")),
    Column("warmup", JSONB),
    Column("finish", JSONB),
    Column("finish_batches", Integer),
    Column("reason", Text),
    UniqueConstraint("run_id", "number"),
    _one_of("state", [state.value for state in AttemptState]),
    CheckConstraint(f"number BETWEEN 1 AND {MAX_ATTEMPTS}", name="number_bounded"),
    CheckConstraint("(ended_at IS NULL) = (state IN ('leased', 'running'))", name="ended_or_active"),
    CheckConstraint("state <> 'succeeded' OR (finish IS NOT NULL AND finish_batches = batches)", name="succeeded_is_complete"),
    # One run, and one runner, has one live attempt at most.
    Index("uq_attempts_live_run", "run_id", unique=True, postgresql_where="state IN ('leased', 'running')"),
    Index("uq_attempts_live_runner", "runner_id", unique=True, postgresql_where="state IN ('leased', 'running')"),
)

batches = Table(
    "batches",
    metadata,
    Column("attempt_id", ForeignKey("attempts.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    _text("digest"),
    _count("facts"),
    _time("received_at", now=True),
)

preflights = Table(
    "preflights",
    metadata,
    Column("attempt_id", ForeignKey("attempts.id"), primary_key=True, autoincrement=False),
    Column("model_id", ForeignKey("models.id"), nullable=False),
    Column("tokenizer", ForeignKey("tokenizers.fingerprint"), nullable=False),
    Column("drafter_tokenizer", ForeignKey("tokenizers.fingerprint"), nullable=False),
    Column("fact", JSONB, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    _identity(),
    Column("attempt_id", ForeignKey("attempts.id"), nullable=False, index=True),
    _text("arm"),
    _text("purpose"),
    _count("trial"),
    _count("block"),
    Column("seconds", Double, nullable=False),
    _count("forwards"),
    _count("slot_steps"),
    Column("load_average", Double),
    Column("steal", Double),
    Column("others", Double),
    Column("contended", Boolean, nullable=False),
    Column("clock_mhz", Double),
    Column("peak_bytes", BigInteger),
    Column("weight_bytes", BigInteger),
    Column("cache_bytes", BigInteger),
    CheckConstraint("seconds >= 0 AND seconds < 'Infinity'", name="seconds_finite"),
)

requests = Table(
    "requests",
    metadata,
    _identity(),
    Column("attempt_id", ForeignKey("attempts.id"), nullable=False, index=True),
    _text("arm"),
    _text("purpose"),
    _count("trial"),
    Column("order", SmallInteger, nullable=False),
    _text("prompt"),
    _text("profile"),
    Column("parallel", Text),
    Column("seed", Integer, nullable=False),
    *(_count(name) for name in ("prompt_tokens", "prompt_characters", "prompt_words")),
    Column("input_tokens", Integer),
    _count("drafted"),
    _text("drafted_source"),
    *(_count(name) for name in ("verified", "accepted", "rounds", "undrafted", "prefill_tokens", "emitted", "discarded_bonus", "longest_draft")),
    *(Column(name, ARRAY(SmallInteger), nullable=False) for name in ("round_drafted", "round_verified", "round_depth", "round_slots")),
    Column("step_end", ARRAY(Double), nullable=False),
    Column("step_tokens", ARRAY(SmallInteger), nullable=False),
    Column("planned_at", Double),
    *(Column(name, Double, nullable=False) for name in ("sent_at", "first_at", "last_at")),
    _text("finish"),
    *(Column(name, Integer) for name in ("draft_layer_passes", "verify_layer_passes", "prefill_layer_passes")),
    Column("output_ids", ARRAY(Integer)),
    _text("output_digest"),
    Column("output_text", Text),
    *(_count(name) for name in ("output_characters", "output_words")),
    Column("answer_language", Text),
    _count("answer_letters"),
    _text("answer_kind"),
    Column("repeated_share", Double),
    Column("degenerate", Boolean),
    UniqueConstraint("attempt_id", "purpose", "arm", "trial", "prompt", "seed"),
    CheckConstraint("0 <= accepted AND accepted <= verified AND verified <= drafted", name="kept_of_drafted"),
    CheckConstraint("drafted <= rounds::bigint * longest_draft", name="drafted_within_reach"),
    CheckConstraint("emitted = prefill_tokens + accepted + rounds + undrafted - discarded_bonus", name="counts_close"),
    CheckConstraint(
        "cardinality(round_drafted) = rounds AND cardinality(round_verified) = rounds"
        " AND cardinality(round_depth) = rounds AND cardinality(round_slots) = rounds",
        name="one_entry_a_round",
    ),
    CheckConstraint("cardinality(step_end) = cardinality(step_tokens)", name="one_end_a_step"),
    CheckConstraint("0 <= sent_at AND sent_at <= first_at AND first_at <= last_at AND last_at < 'Infinity'", name="times_run_forward"),
)

reports = Table(
    "reports",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True, autoincrement=False),
    _text("analysis"),
    Column("report", JSONB, nullable=False),
    Column("outcome", Text),
    Column("refused", Boolean, nullable=False),
    Column("speedup", JSONB),
    Column("acceptance", JSONB),
    _time("built_at", now=True),
)

figures = Table(
    "figures",
    metadata,
    Column("run_id", ForeignKey("reports.run_id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _text("figure"),
    Column("part", JSONB, nullable=False),
    _text("kind"),
    Column("language", Text),
    Column("tokenizer", ForeignKey("tokenizers.fingerprint")),
    Column("drafter_tokenizer", ForeignKey("tokenizers.fingerprint")),
    Column("point", Double),
    Column("low", Double),
    Column("high", Double),
    Column("n", Integer),
    Column("cell", JSONB, nullable=False),
    _one_of("kind", ["figure", "refusal", "absent"]),
    CheckConstraint(
        "kind <> 'figure' OR (language IS NOT NULL AND btrim(language) <> '' AND tokenizer IS NOT NULL AND drafter_tokenizer IS NOT NULL)",
        name="figure_has_passport",
    ),
    Index(None, "figure", "language"),
)

events = Table(
    "events",
    metadata,
    _identity(),
    Column("run_id", ForeignKey("runs.id")),
    _time("at", now=True),
    _text("kind"),
    _text("actor"),
    Column("body", JSONB, nullable=False),
    Index(None, "run_id", "id"),
)
