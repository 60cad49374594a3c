"""Tables of who may do what; no behaviour. (Tokens: tables.py.) Of passwords, sessions and enrolment tokens only digests are kept."""

from sqlalchemy import ARRAY, CheckConstraint, Column, DateTime, ForeignKey, LargeBinary, Table, Text

from app.storage import columns
from app.storage.columns import metadata

projects = Table(
    "projects",
    metadata,
    Column("name", Text, primary_key=True),
    columns.time("created_at", now=True),
    CheckConstraint("name ~ '^[a-z0-9][a-z0-9-]{0,62}$'", name="name_is_slug"),
)

users = Table(
    "users",
    metadata,
    columns.identity(),
    columns.project(every=True),
    Column("name", Text, nullable=False, unique=True),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    columns.time("created_at", now=True),
    CheckConstraint("octet_length(salt) >= 16 AND octet_length(hash) = 32", name="password_is_scrypt"),
    CheckConstraint("scopes <@ ARRAY['read', 'submit', 'admin']::text[] AND cardinality(scopes) > 0", name="scopes_known"),
    *columns.filled("name"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("hash", LargeBinary, primary_key=True),
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    columns.time("created_at", now=True),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    CheckConstraint("octet_length(hash) = 32", name="hash_is_sha256"),
)

enrolments = Table(
    "enrolments",
    metadata,
    columns.identity(),
    columns.project(every=True),
    columns.text("name"),
    Column("hash", LargeBinary, nullable=False, unique=True),
    columns.text("created_by"),
    columns.time("created_at", now=True),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    columns.time("used_at"),
    Column("token_id", ForeignKey("tokens.id")),
    CheckConstraint("octet_length(hash) = 32", name="hash_is_sha256"),
    CheckConstraint("(used_at IS NULL) = (token_id IS NULL)", name="used_for_a_token"),
    *columns.filled("name"),
)
