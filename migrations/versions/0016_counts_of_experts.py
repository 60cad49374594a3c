"""Counts of experts that verifications read and chose; empty where nobody counted them, as for all requests of before."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | None = "0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COUNTS = ("experts_read", "experts_chosen")


def upgrade() -> None:
    for name in COUNTS:
        op.add_column("requests", sa.Column(name, sa.Integer(), nullable=True))


def downgrade() -> None:
    for name in COUNTS:
        op.drop_column("requests", name)
