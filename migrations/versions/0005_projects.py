"""Projects: what one project's token reaches, another's does not. What is there already belongs to the project `default`."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "projects",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint("name ~ '^[a-z0-9][a-z0-9-]{0,62}$'", name=op.f("ck_projects_name_is_slug")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_projects")),
    )
    op.execute("INSERT INTO projects (name) VALUES ('default')")
    for table in ("tokens", "campaigns", "runs"):
        op.add_column(table, sa.Column("project", sa.Text(), nullable=True))
        op.create_foreign_key(op.f(f"fk_{table}_project_projects"), table, "projects", ["project"], ["name"])
        op.create_index(op.f(f"ix_{table}_project"), table, ["project"])
        op.execute(f"UPDATE {table} SET project = 'default'")
    # Administrators and runners reached everything until now, and still do.
    op.execute("UPDATE tokens SET project = NULL WHERE scopes && ARRAY['admin', 'runner']")
    for table in ("campaigns", "runs"):
        op.alter_column(table, "project", nullable=False)


def downgrade() -> None:
    for table in ("tokens", "campaigns", "runs"):
        op.drop_column(table, "project")
    op.drop_table("projects")
