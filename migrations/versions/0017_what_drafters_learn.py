"""What a drafter learned in a run is told like the other observations of it."""

from collections.abc import Sequence

from alembic import op

revision: str = "0017"
down_revision: str | None = "0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

RULE = "ck_observations_kind_known"


def upgrade() -> None:
    op.drop_constraint(op.f(RULE), "observations", type_="check")
    op.create_check_constraint(op.f(RULE), "observations", "kind IN ('cost', 'divergence', 'learned')")


def downgrade() -> None:
    """An older service has no place for these facts; no figure is made of them."""
    op.execute("ALTER TABLE observations DISABLE TRIGGER USER")
    op.execute("DELETE FROM observations WHERE kind = 'learned'")
    op.execute("ALTER TABLE observations ENABLE TRIGGER USER")
    op.drop_constraint(op.f(RULE), "observations", type_="check")
    op.create_check_constraint(op.f(RULE), "observations", "kind IN ('cost', 'divergence')")
