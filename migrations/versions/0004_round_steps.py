"""Which step of an answer each round was, so that acceptance is known by place; empty for rounds of before."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("requests", sa.Column("round_step", sa.ARRAY(sa.SmallInteger()), nullable=True))


def downgrade() -> None:
    op.drop_column("requests", "round_step")
