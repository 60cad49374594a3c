"""Users with passwords and their sessions, enrolment tokens; an event that is no run's has a project of its own."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NOW = sa.text("clock_timestamp()")


def _time(name: str, *, now: bool = False, nullable: bool = True) -> "sa.Column[object]":
    kind = sa.DateTime(timezone=True)
    return sa.Column(name, kind, server_default=NOW, nullable=False) if now else sa.Column(name, kind, nullable=nullable)


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("project", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        _time("created_at", now=True),
        sa.CheckConstraint("octet_length(salt) >= 16 AND octet_length(hash) = 32", name=op.f("ck_users_password_is_scrypt")),
        sa.CheckConstraint("scopes <@ ARRAY['read', 'submit', 'admin']::text[] AND cardinality(scopes) > 0", name=op.f("ck_users_scopes_known")),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_users_name_given")),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_users_project_projects")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name", name=op.f("uq_users_name")),
    )
    op.create_index(op.f("ix_users_project"), "users", ["project"])


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        _time("created_at", now=True),
        _time("expires_at", nullable=False),
        sa.CheckConstraint("octet_length(hash) = 32", name=op.f("ck_sessions_hash_is_sha256")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_user_id"), "sessions", ["user_id"])


def _enrolments() -> None:
    op.create_table(
        "enrolments",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("project", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        _time("created_at", now=True),
        _time("expires_at", nullable=False),
        _time("used_at"),
        sa.Column("token_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("octet_length(hash) = 32", name=op.f("ck_enrolments_hash_is_sha256")),
        sa.CheckConstraint("(used_at IS NULL) = (token_id IS NULL)", name=op.f("ck_enrolments_used_for_a_token")),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_enrolments_name_given")),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_enrolments_project_projects")),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_enrolments_token_id_tokens")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_enrolments")),
        sa.UniqueConstraint("hash", name=op.f("uq_enrolments_hash")),
    )
    op.create_index(op.f("ix_enrolments_project"), "enrolments", ["project"])


def upgrade() -> None:
    _users()
    _sessions()
    _enrolments()
    op.add_column("events", sa.Column("project", sa.Text(), nullable=True))
    op.create_foreign_key(op.f("fk_events_project_projects"), "events", "projects", ["project"], ["name"])
    op.create_index(op.f("ix_events_project"), "events", ["project"])
    op.create_check_constraint(op.f("ck_events_project_is_the_runs"), "events", "run_id IS NULL OR project IS NULL")
    op.create_index("ix_events_deeds", "events", ["kind", "at"], postgresql_where="run_id IS NULL")


def downgrade() -> None:
    op.drop_index("ix_events_deeds", "events")
    op.drop_constraint(op.f("ck_events_project_is_the_runs"), "events")
    op.drop_column("events", "project")
    for table in ("enrolments", "sessions", "users"):
        op.drop_table(table)
