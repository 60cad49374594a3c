# ruff: noqa: E501
"""The first schema: runs and what was seen of them, beside the queue's own tables, frozen as procrastinate 3.4 to 3.10 ship them."""

from collections.abc import Sequence
from importlib.resources import files

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

APPEND_ONLY = ("events", "requests", "trials", "batches", "preflights")

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    queue()
    tables()
    triggers()


def tables() -> None:
    op.create_table(
        "environments",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("fact", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_environments")),
    )
    op.create_table(
        "models",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=True),
        sa.Column("weights_digest", sa.Text(), nullable=True),
        sa.Column("dtype", sa.Text(), nullable=False),
        sa.Column("quantisation", sa.Text(), nullable=True),
        sa.Column("first_seen", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_models")),
        sa.UniqueConstraint(
            "name",
            "revision",
            "weights_digest",
            "dtype",
            "quantisation",
            name=op.f("uq_models_name_revision_weights_digest_dtype_quantisation"),
            postgresql_nulls_not_distinct=True,
        ),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("spec_digest", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("tokenizer", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("drafter", sa.Text(), nullable=False),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=True),
        sa.Column("attempt", sa.SmallInteger(), server_default="1", nullable=False),
        sa.Column("submitted_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("progress", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("failure_code", sa.Text(), nullable=True),
        sa.Column("retry_makes_sense", sa.Boolean(), nullable=True),
        sa.CheckConstraint("(finished_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'cancelled'))", name=op.f("ck_runs_final_has_end")),
        sa.CheckConstraint("btrim(drafter) <> ''", name=op.f("ck_runs_drafter_given")),
        sa.CheckConstraint("btrim(language) <> ''", name=op.f("ck_runs_language_given")),
        sa.CheckConstraint("btrim(model) <> ''", name=op.f("ck_runs_model_given")),
        sa.CheckConstraint("btrim(queue) <> ''", name=op.f("ck_runs_queue_given")),
        sa.CheckConstraint("btrim(suite) <> ''", name=op.f("ck_runs_suite_given")),
        sa.CheckConstraint("btrim(tokenizer) <> ''", name=op.f("ck_runs_tokenizer_given")),
        sa.CheckConstraint("spec ->> 'language' = language AND spec ->> 'tokenizer' = tokenizer", name=op.f("ck_runs_spec_agrees")),
        sa.CheckConstraint("state <> 'failed' OR failure IS NOT NULL", name=op.f("ck_runs_failed_has_reason")),
        sa.CheckConstraint("state IN ('queued', 'leased', 'running', 'succeeded', 'failed', 'cancelled')", name=op.f("ck_runs_state_known")),
        sa.CheckConstraint("attempt BETWEEN 1 AND 3", name=op.f("ck_runs_attempt_bounded")),
        sa.CheckConstraint("octet_length(queue) <= 40", name=op.f("ck_runs_queue_fits_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("job_id", name=op.f("uq_runs_job_id")),
    )
    op.create_index(op.f("ix_runs_language"), "runs", ["language"], unique=False)
    op.create_index(op.f("ix_runs_state_queue"), "runs", ["state", "queue"], unique=False)
    op.create_table(
        "suites",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("languages", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("profiles", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("prompts", sa.Integer(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_suites")),
    )
    op.create_table(
        "tokenizers",
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("vocabulary", sa.Integer(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_tokenizers_name_given")),
        sa.CheckConstraint("fingerprint ~ '^[0-9a-f]{64}$'", name=op.f("ck_tokenizers_fingerprint_is_sha256")),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_tokenizers")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_tokens_name_given")),
        sa.CheckConstraint(
            "scopes <@ ARRAY['read', 'submit', 'admin', 'runner']::text[] AND cardinality(scopes) > 0", name=op.f("ck_tokens_scopes_known")
        ),
        sa.CheckConstraint("octet_length(hash) = 32", name=op.f("ck_tokens_hash_is_sha256")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_tokens_hash")),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_events_run_id_runs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index(op.f("ix_events_run_id_id"), "events", ["run_id", "id"], unique=False)
    op.create_table(
        "idempotency_keys",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_idempotency_keys_run_id_runs")),
        sa.PrimaryKeyConstraint("scope", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_table(
        "reports",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("analysis", sa.Text(), nullable=False),
        sa.Column("report", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("refused", sa.Boolean(), nullable=False),
        sa.Column("speedup", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("acceptance", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("built_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_reports_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_reports")),
    )
    op.create_table(
        "runners",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("token_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("worker_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_runners_name_given")),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_runners_token_id_tokens")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runners")),
        sa.UniqueConstraint("token_id", name=op.f("uq_runners_token_id")),
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.Column("runner_id", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("leased_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("batches", sa.Integer(), server_default="0", nullable=False),
        sa.Column("environment", sa.Text(), nullable=True),
        sa.Column("warmup", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("finish", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("finish_batches", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint("(ended_at IS NULL) = (state IN ('leased', 'running'))", name=op.f("ck_attempts_ended_or_active")),
        sa.CheckConstraint(
            "state <> 'succeeded' OR (finish IS NOT NULL AND finish_batches = batches)", name=op.f("ck_attempts_succeeded_is_complete")
        ),
        sa.CheckConstraint("state IN ('leased', 'running', 'succeeded', 'failed', 'cancelled', 'lost')", name=op.f("ck_attempts_state_known")),
        sa.CheckConstraint("number BETWEEN 1 AND 3", name=op.f("ck_attempts_number_bounded")),
        sa.ForeignKeyConstraint(["environment"], ["environments.digest"], name=op.f("fk_attempts_environment_environments")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_attempts_run_id_runs")),
        sa.ForeignKeyConstraint(["runner_id"], ["runners.id"], name=op.f("fk_attempts_runner_id_runners")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
        sa.UniqueConstraint("run_id", "number", name=op.f("uq_attempts_run_id_number")),
    )
    op.create_index("uq_attempts_live_run", "attempts", ["run_id"], unique=True, postgresql_where="state IN ('leased', 'running')")
    op.create_index("uq_attempts_live_runner", "attempts", ["runner_id"], unique=True, postgresql_where="state IN ('leased', 'running')")
    op.create_table(
        "figures",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("figure", sa.Text(), nullable=False),
        sa.Column("part", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("tokenizer", sa.Text(), nullable=True),
        sa.Column("drafter_tokenizer", sa.Text(), nullable=True),
        sa.Column("point", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("n", sa.Integer(), nullable=True),
        sa.Column("cell", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.CheckConstraint(
            "kind <> 'figure' OR (language IS NOT NULL AND btrim(language) <> '' AND tokenizer IS NOT NULL AND drafter_tokenizer IS NOT NULL)",
            name=op.f("ck_figures_figure_has_passport"),
        ),
        sa.CheckConstraint("kind IN ('figure', 'refusal', 'absent')", name=op.f("ck_figures_kind_known")),
        sa.ForeignKeyConstraint(["drafter_tokenizer"], ["tokenizers.fingerprint"], name=op.f("fk_figures_drafter_tokenizer_tokenizers")),
        sa.ForeignKeyConstraint(["run_id"], ["reports.run_id"], name=op.f("fk_figures_run_id_reports"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["tokenizer"], ["tokenizers.fingerprint"], name=op.f("fk_figures_tokenizer_tokenizers")),
        sa.PrimaryKeyConstraint("run_id", "position", name=op.f("pk_figures")),
    )
    op.create_index(op.f("ix_figures_figure_language"), "figures", ["figure", "language"], unique=False)
    op.create_table(
        "offers",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("runner_id", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("offer", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(["runner_id"], ["runners.id"], name=op.f("fk_offers_runner_id_runners")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_offers")),
        sa.UniqueConstraint("runner_id", "digest", name=op.f("uq_offers_runner_id_digest")),
    )
    op.create_table(
        "batches",
        sa.Column("attempt_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("facts", sa.Integer(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name=op.f("fk_batches_attempt_id_attempts")),
        sa.PrimaryKeyConstraint("attempt_id", "number", name=op.f("pk_batches")),
    )
    op.create_table(
        "preflights",
        sa.Column("attempt_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("model_id", sa.BigInteger(), nullable=False),
        sa.Column("tokenizer", sa.Text(), nullable=False),
        sa.Column("drafter_tokenizer", sa.Text(), nullable=False),
        sa.Column("fact", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name=op.f("fk_preflights_attempt_id_attempts")),
        sa.ForeignKeyConstraint(["drafter_tokenizer"], ["tokenizers.fingerprint"], name=op.f("fk_preflights_drafter_tokenizer_tokenizers")),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_preflights_model_id_models")),
        sa.ForeignKeyConstraint(["tokenizer"], ["tokenizers.fingerprint"], name=op.f("fk_preflights_tokenizer_tokenizers")),
        sa.PrimaryKeyConstraint("attempt_id", name=op.f("pk_preflights")),
    )
    op.create_table(
        "requests",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("attempt_id", sa.BigInteger(), nullable=False),
        sa.Column("arm", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("order", sa.SmallInteger(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("parallel", sa.Text(), nullable=True),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("prompt_characters", sa.Integer(), nullable=False),
        sa.Column("prompt_words", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("drafted", sa.Integer(), nullable=False),
        sa.Column("drafted_source", sa.Text(), nullable=False),
        sa.Column("verified", sa.Integer(), nullable=False),
        sa.Column("accepted", sa.Integer(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("undrafted", sa.Integer(), nullable=False),
        sa.Column("prefill_tokens", sa.Integer(), nullable=False),
        sa.Column("emitted", sa.Integer(), nullable=False),
        sa.Column("discarded_bonus", sa.Integer(), nullable=False),
        sa.Column("longest_draft", sa.Integer(), nullable=False),
        sa.Column("round_drafted", sa.ARRAY(sa.SmallInteger()), nullable=False),
        sa.Column("round_verified", sa.ARRAY(sa.SmallInteger()), nullable=False),
        sa.Column("round_depth", sa.ARRAY(sa.SmallInteger()), nullable=False),
        sa.Column("round_slots", sa.ARRAY(sa.SmallInteger()), nullable=False),
        sa.Column("step_end", sa.ARRAY(sa.Double()), nullable=False),
        sa.Column("step_tokens", sa.ARRAY(sa.SmallInteger()), nullable=False),
        sa.Column("planned_at", sa.Double(), nullable=True),
        sa.Column("sent_at", sa.Double(), nullable=False),
        sa.Column("first_at", sa.Double(), nullable=False),
        sa.Column("last_at", sa.Double(), nullable=False),
        sa.Column("finish", sa.Text(), nullable=False),
        sa.Column("draft_layer_passes", sa.Integer(), nullable=True),
        sa.Column("verify_layer_passes", sa.Integer(), nullable=True),
        sa.Column("prefill_layer_passes", sa.Integer(), nullable=True),
        sa.Column("output_ids", sa.ARRAY(sa.Integer()), nullable=True),
        sa.Column("output_digest", sa.Text(), nullable=False),
        sa.Column("output_text", sa.Text(), nullable=True),
        sa.Column("output_characters", sa.Integer(), nullable=False),
        sa.Column("output_words", sa.Integer(), nullable=False),
        sa.Column("answer_language", sa.Text(), nullable=True),
        sa.Column("answer_letters", sa.Integer(), nullable=False),
        sa.Column("answer_kind", sa.Text(), nullable=False),
        sa.Column("repeated_share", sa.Double(), nullable=True),
        sa.Column("degenerate", sa.Boolean(), nullable=True),
        sa.CheckConstraint(
            "0 <= sent_at AND sent_at <= first_at AND first_at <= last_at AND last_at < 'Infinity'", name=op.f("ck_requests_times_run_forward")
        ),
        sa.CheckConstraint("0 <= accepted AND accepted <= verified AND verified <= drafted", name=op.f("ck_requests_kept_of_drafted")),
        sa.CheckConstraint(
            "cardinality(round_drafted) = rounds AND cardinality(round_verified) = rounds AND cardinality(round_depth) = rounds AND cardinality(round_slots) = rounds",
            name=op.f("ck_requests_one_entry_a_round"),
        ),
        sa.CheckConstraint("cardinality(step_end) = cardinality(step_tokens)", name=op.f("ck_requests_one_end_a_step")),
        sa.CheckConstraint("drafted <= rounds::bigint * longest_draft", name=op.f("ck_requests_drafted_within_reach")),
        sa.CheckConstraint("emitted = prefill_tokens + accepted + rounds + undrafted - discarded_bonus", name=op.f("ck_requests_counts_close")),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name=op.f("fk_requests_attempt_id_attempts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_requests")),
        sa.UniqueConstraint(
            "attempt_id", "purpose", "arm", "trial", "prompt", "seed", name=op.f("uq_requests_attempt_id_purpose_arm_trial_prompt_seed")
        ),
    )
    op.create_index(op.f("ix_requests_attempt_id"), "requests", ["attempt_id"], unique=False)
    op.create_table(
        "trials",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("attempt_id", sa.BigInteger(), nullable=False),
        sa.Column("arm", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("forwards", sa.Integer(), nullable=False),
        sa.Column("slot_steps", sa.Integer(), nullable=False),
        sa.Column("load_average", sa.Double(), nullable=True),
        sa.Column("steal", sa.Double(), nullable=True),
        sa.Column("others", sa.Double(), nullable=True),
        sa.Column("contended", sa.Boolean(), nullable=False),
        sa.Column("clock_mhz", sa.Double(), nullable=True),
        sa.Column("peak_bytes", sa.BigInteger(), nullable=True),
        sa.Column("weight_bytes", sa.BigInteger(), nullable=True),
        sa.Column("cache_bytes", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("seconds >= 0 AND seconds < 'Infinity'", name=op.f("ck_trials_seconds_finite")),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name=op.f("fk_trials_attempt_id_attempts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trials")),
    )
    op.create_index(op.f("ix_trials_attempt_id"), "trials", ["attempt_id"], unique=False)


def queue() -> None:
    # Several statements with percent signs in one text: only a query without parameters may be that.
    schema = (files("migrations") / "versions" / "procrastinate_3_4.sql").read_text()
    connection = op.get_bind().execution_options(no_parameters=True)
    connection.exec_driver_sql(schema)
    connection.execution_options(no_parameters=False)


def triggers() -> None:
    op.execute("""
        CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' is only ever added to'; END $$
    """)
    for table in APPEND_ONLY:
        op.execute(f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change()")
    op.execute("""
        CREATE FUNCTION notify_event() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_notify('bezmen_events', NEW.run_id::text); RETURN NULL; END $$
    """)
    op.execute("CREATE TRIGGER events_notify AFTER INSERT ON events FOR EACH ROW WHEN (NEW.run_id IS NOT NULL) EXECUTE FUNCTION notify_event()")


def downgrade() -> None:
    raise NotImplementedError("there is nothing before the first schema; drop the database instead")
