"""Probes: a model without a part of it against itself, before anything is drafted."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

RULES = {
    "state_known": "state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')",
    "attempt_bounded": "attempt BETWEEN 1 AND 3",
    "final_has_end": "(finished_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'cancelled'))",
    "succeeded_has_found": "(found IS NOT NULL) = (state = 'succeeded')",
    "failed_has_reason": "state <> 'failed' OR failure IS NOT NULL",
    "running_is_held": "state <> 'running' OR (runner_id IS NOT NULL AND token_hash IS NOT NULL AND lease_expires_at IS NOT NULL)",
    "spec_agrees": "jsonb_array_length(spec -> 'languages') > 0 AND spec ->> 'tokenizer' = tokenizer",
    "queue_fits_channel": "octet_length(queue) <= 40",
    "key_has_scope": "(key IS NULL) = (key_scope IS NULL)",
    "tokenizer_given": "btrim(tokenizer) <> ''",
    "model_given": "btrim(model) <> ''",
    "queue_given": "btrim(queue) <> ''",
}


def upgrade() -> None:
    time = sa.DateTime(timezone=True)
    op.create_table(
        "probes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("spec", postgresql.JSONB(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("tokenizer", "model", "queue")),
        sa.Column("job_id", sa.BigInteger(), nullable=True),
        sa.Column("attempt", sa.SmallInteger(), server_default="1", nullable=False),
        sa.Column("submitted_by", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("key_scope", "key")),
        sa.Column("created_at", time, server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("runner_id", sa.BigInteger(), nullable=True),
        sa.Column("token_hash", sa.LargeBinary(), nullable=True),
        *(sa.Column(name, time, nullable=True) for name in ("lease_expires_at", "started_at", "finished_at")),
        sa.Column("found", postgresql.JSONB(), nullable=True),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("failure", "failure_code")),
        sa.Column("retry_makes_sense", sa.Boolean(), nullable=True),
        *(sa.CheckConstraint(rule, name=op.f(f"ck_probes_{name}")) for name, rule in RULES.items()),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_probes_project_projects")),
        sa.ForeignKeyConstraint(["runner_id"], ["runners.id"], name=op.f("fk_probes_runner_id_runners")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_probes")),
        sa.UniqueConstraint("job_id", name=op.f("uq_probes_job_id")),
    )
    op.create_index(op.f("ix_probes_project"), "probes", ["project"])
    op.create_index(op.f("ix_probes_key_scope_key"), "probes", ["key_scope", "key"])
    op.create_index("uq_probes_held_runner", "probes", ["runner_id"], unique=True, postgresql_where=sa.text("state = 'running'"))
    op.execute("""
        CREATE TRIGGER probes_found_kept BEFORE UPDATE OR DELETE ON probes
        FOR EACH ROW WHEN (OLD.found IS NOT NULL) EXECUTE FUNCTION refuse_change()
    """)


def downgrade() -> None:
    op.drop_table("probes")
