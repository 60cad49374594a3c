"""What a comparison needs of each run, kept with its report; empty until a report is computed anew."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("reports", sa.Column("kept", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("reports", "kept")
