"""A key is kept once for a campaign, with its title, instead of once for each of its runs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# Keys of runs of campaigns ended in this and the place of the run.
OF_A_CAMPAIGN = r"key ~ '\x1f[0-9]+$'"


def upgrade() -> None:
    op.alter_column("idempotency_keys", "run_id", existing_type=sa.BigInteger(), nullable=True)
    op.add_column("idempotency_keys", sa.Column("campaign_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(op.f("fk_idempotency_keys_campaign_id_campaigns"), "idempotency_keys", "campaigns", ["campaign_id"], ["id"])
    # Where the key had made a run alone as well, that run keeps it: the campaign is asked for under another one from now on.
    op.execute(rf"""
        INSERT INTO idempotency_keys (scope, key, campaign_id, body, created_at)
        SELECT member.scope, split_part(member.key, E'\x1f', 1), min(campaigns.id),
            jsonb_build_object('title', min(campaigns.title), 'runs', jsonb_agg(member.body ORDER BY split_part(member.key, E'\x1f', 2)::int)),
            min(member.created_at)
        FROM idempotency_keys AS member JOIN runs ON runs.id = member.run_id JOIN campaigns ON campaigns.id = runs.campaign_id
        WHERE member.{OF_A_CAMPAIGN}
        GROUP BY 1, 2
        ON CONFLICT (scope, key) DO NOTHING
    """)
    op.execute(f"DELETE FROM idempotency_keys WHERE {OF_A_CAMPAIGN}")
    op.create_check_constraint(op.f("ck_idempotency_keys_made_one_thing"), "idempotency_keys", "num_nonnulls(run_id, campaign_id) = 1")


def downgrade() -> None:
    op.drop_constraint(op.f("ck_idempotency_keys_made_one_thing"), "idempotency_keys", type_="check")
    op.execute("DELETE FROM idempotency_keys WHERE run_id IS NULL")
    op.drop_column("idempotency_keys", "campaign_id")
    op.alter_column("idempotency_keys", "run_id", existing_type=sa.BigInteger(), nullable=False)
