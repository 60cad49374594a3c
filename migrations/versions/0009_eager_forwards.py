"""How many forwards of a compiled target ran eager; empty where nothing was compiled, as for all trials of before."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("trials", sa.Column("eager_forwards", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("trials", "eager_forwards")
