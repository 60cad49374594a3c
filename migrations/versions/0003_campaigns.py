"""Runs that are submitted together, measured side by side where they can be, and weighed as one family."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "campaigns",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("submitted_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint("btrim(title) <> ''", name=op.f("ck_campaigns_title_given")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaigns")),
    )
    op.add_column("runs", sa.Column("campaign_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(op.f("fk_runs_campaign_id_campaigns"), "runs", "campaigns", ["campaign_id"], ["id"])
    op.create_index(op.f("ix_runs_campaign_id"), "runs", ["campaign_id"])
    op.add_column("attempts", sa.Column("beside_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(op.f("fk_attempts_beside_id_attempts"), "attempts", "attempts", ["beside_id"], ["id"])
    op.create_index(op.f("ix_attempts_beside_id"), "attempts", ["beside_id"])
    op.drop_index("uq_attempts_live_runner", "attempts")
    op.create_index(
        "uq_attempts_live_runner", "attempts", ["runner_id"], unique=True, postgresql_where="state IN ('leased', 'running') AND beside_id IS NULL"
    )


def downgrade() -> None:
    op.drop_index("uq_attempts_live_runner", "attempts")
    op.create_index("uq_attempts_live_runner", "attempts", ["runner_id"], unique=True, postgresql_where="state IN ('leased', 'running')")
    op.drop_column("attempts", "beside_id")
    op.drop_column("runs", "campaign_id")
    op.drop_table("campaigns")
