"""What others publish about speculation: systems and their claimed figures, apart from everything that was measured."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "systems",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("project", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("drafter", sa.Text(), nullable=True),
        sa.Column("entered_by", sa.Text(), nullable=False),
        sa.Column("entered_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        *(sa.CheckConstraint(f"btrim({name}) <> ''", name=op.f(f"ck_systems_{name}_given")) for name in ("name", "kind", "drafter", "entered_by")),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_systems_project_projects")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_systems")),
        sa.UniqueConstraint("project", "name", name=op.f("uq_systems_project_name"), postgresql_nulls_not_distinct=True),
    )
    op.create_index(op.f("ix_systems_project"), "systems", ["project"])
    op.create_table(
        "claims",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("project", sa.Text(), nullable=True),
        sa.Column("system_id", sa.BigInteger(), nullable=False),
        sa.Column("quantity", sa.Text(), nullable=False),
        sa.Column("figure", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=True),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("upto", sa.Double(), nullable=True),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("target", "language", "tokenizer", "hardware", "load")),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("published", sa.Date(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("entered_by", sa.Text(), nullable=False),
        sa.Column("entered_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("quantity IN ('speed-up', 'acceptance', 'tokens per call', 'speed')", name=op.f("ck_claims_quantity_known")),
        sa.CheckConstraint("value >= 0 AND value < 'Infinity'", name=op.f("ck_claims_value_finite")),
        sa.CheckConstraint("quantity <> 'acceptance' OR (value <= 1 AND coalesce(upto, 0) <= 1)", name=op.f("ck_claims_share_is_share")),
        sa.CheckConstraint("upto IS NULL OR (upto > value AND upto < 'Infinity')", name=op.f("ck_claims_range_ascends")),
        sa.CheckConstraint("address IS NULL OR address LIKE 'https://%'", name=op.f("ck_claims_address_is_https")),
        *(
            sa.CheckConstraint(f"btrim({name}) <> ''", name=op.f(f"ck_claims_{name}_given"))
            for name in ("figure", "source", "language", "tokenizer", "entered_by")
        ),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_claims_project_projects")),
        sa.ForeignKeyConstraint(["system_id"], ["systems.id"], name=op.f("fk_claims_system_id_systems")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claims")),
        sa.UniqueConstraint("key", name=op.f("uq_claims_key")),
    )
    op.create_index(op.f("ix_claims_project"), "claims", ["project"])
    op.create_index(op.f("ix_claims_system_id"), "claims", ["system_id"])


def downgrade() -> None:
    op.drop_table("claims")
    op.drop_table("systems")
