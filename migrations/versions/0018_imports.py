"""Results measured elsewhere: what a file told, which never changes, and what a person knows of it beside."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0018"
down_revision: str | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

RULES = {
    "digest_is_sha256": "digest ~ '^[0-9a-f]{64}$'",
    "objects_kept": "jsonb_typeof(imported) = 'object' AND jsonb_typeof(supplied) = 'object'",
    "format_given": "btrim(format) <> ''",
    "imported_by_given": "btrim(imported_by) <> ''",
}


def upgrade() -> None:
    time = sa.DateTime(timezone=True)
    op.create_table(
        "imports",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("project", "digest", "format")),
        *(sa.Column(name, postgresql.JSONB(), nullable=False) for name in ("imported", "supplied")),
        sa.Column("refusing", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("imported_by", sa.Text(), nullable=False),
        sa.Column("created_at", time, server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("changed_at", time, nullable=True),
        *(sa.CheckConstraint(rule, name=op.f(f"ck_imports_{name}")) for name, rule in RULES.items()),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_imports_project_projects")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
        sa.UniqueConstraint("project", "digest", name=op.f("uq_imports_project_digest")),
    )
    op.create_index(op.f("ix_imports_project"), "imports", ["project"])
    op.execute("""
        CREATE TRIGGER imports_told_kept BEFORE UPDATE ON imports
        FOR EACH ROW WHEN ((OLD.digest, OLD.format, OLD.imported) IS DISTINCT FROM (NEW.digest, NEW.format, NEW.imported))
        EXECUTE FUNCTION refuse_change()
    """)


def downgrade() -> None:
    op.drop_table("imports")
