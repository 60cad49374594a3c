"""Suites that somebody uploaded, with their prompts. What was measured with them names them, so they are only ever added to."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "stored_suites",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("name", "version", "digest")),
        sa.Column("private", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.ARRAY(sa.Text()), nullable=False) for name in ("languages", "profiles")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("prompts", "parallel")),
        sa.Column("counts", postgresql.JSONB(), nullable=False),
        sa.Column("uploaded_by", sa.Text(), nullable=False),
        sa.Column("uploaded_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint("digest ~ '^[0-9a-f]{64}$'", name=op.f("ck_stored_suites_digest_is_sha256")),
        *(sa.CheckConstraint(f"btrim({name}) <> ''", name=op.f(f"ck_stored_suites_{name}_given")) for name in ("name", "version", "uploaded_by")),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_stored_suites_project_projects")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stored_suites")),
        sa.UniqueConstraint("project", "name", name=op.f("uq_stored_suites_project_name")),
    )
    op.create_index(op.f("ix_stored_suites_project"), "stored_suites", ["project"])
    op.create_table(
        "prompts",
        sa.Column("suite_id", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("parallel", sa.Text(), nullable=True),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("language", "profile", "answer", "text")),
        sa.ForeignKeyConstraint(["suite_id"], ["stored_suites.id"], name=op.f("fk_prompts_suite_id_stored_suites")),
        sa.PrimaryKeyConstraint("suite_id", "place", name=op.f("pk_prompts")),
        sa.UniqueConstraint("suite_id", "name", name=op.f("uq_prompts_suite_id_name")),
    )
    for table in ("stored_suites", "prompts"):
        op.execute(f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change()")


def downgrade() -> None:
    op.drop_table("prompts")
    op.drop_table("stored_suites")
