"""The whole schema, for migrations: every module of tables is imported here."""

from app.storage import fact_tables, tables
from app.storage.columns import metadata

MODULES = (tables, fact_tables)
METADATA = metadata
