"""Tables of who may do what; no behaviour. (Tokens: tables.py.)"""

from sqlalchemy import CheckConstraint, Column, Table, Text

from app.storage import columns
from app.storage.columns import metadata

projects = Table(
    "projects",
    metadata,
    Column("name", Text, primary_key=True),
    columns.time("created_at", now=True),
    CheckConstraint("name ~ '^[a-z0-9][a-z0-9-]{0,62}$'", name="name_is_slug"),
)
