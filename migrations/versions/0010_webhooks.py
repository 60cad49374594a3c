"""Webhooks, what they are to be told, and each try of telling it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def _time(name: str, *, now: bool = False) -> sa.Column[object]:
    kind = sa.DateTime(timezone=True)
    return sa.Column(name, kind, server_default=sa.text("clock_timestamp()"), nullable=False) if now else sa.Column(name, kind, nullable=True)


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        _time("created_at", now=True),
        _time("removed_at"),
        sa.CheckConstraint("cardinality(events) > 0", name=op.f("ck_webhooks_events_given")),
        *(sa.CheckConstraint(f"btrim({name}) <> ''", name=op.f(f"ck_webhooks_{name}_given")) for name in ("url", "secret")),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_webhooks_project_projects")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_index(op.f("ix_webhooks_project"), "webhooks", ["project"])
    op.create_table(
        "deliveries",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("webhook_id", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("subject", JSONB(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tries", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=True),
        _time("created_at", now=True),
        _time("next_at"),
        _time("ended_at"),
        sa.CheckConstraint("state IN ('waiting', 'delivered', 'failed')", name=op.f("ck_deliveries_state_known")),
        sa.CheckConstraint("(ended_at IS NULL) = (state = 'waiting')", name=op.f("ck_deliveries_ended_or_waiting")),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name=op.f("fk_deliveries_webhook_id_webhooks")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_deliveries_run_id_runs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("job_id", name=op.f("uq_deliveries_job_id")),
    )
    op.create_index(op.f("ix_deliveries_run_id"), "deliveries", ["run_id"])
    op.create_index(op.f("ix_deliveries_webhook_id_id"), "deliveries", ["webhook_id", "id"])
    op.create_table(
        "delivery_tries",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("delivery_id", sa.BigInteger(), nullable=False),
        _time("at", now=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.CheckConstraint("status IS NOT NULL OR error IS NOT NULL", name=op.f("ck_delivery_tries_says_how_it_ended")),
        sa.ForeignKeyConstraint(["delivery_id"], ["deliveries.id"], name=op.f("fk_delivery_tries_delivery_id_deliveries")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery_tries")),
    )
    op.create_index(op.f("ix_delivery_tries_delivery_id"), "delivery_tries", ["delivery_id"])


def downgrade() -> None:
    for name in ("delivery_tries", "deliveries", "webhooks"):
        op.drop_table(name)
