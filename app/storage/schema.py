"""The whole schema, for migrations: every module of tables is imported here."""

from app.storage import claim_tables, fact_tables, tables
from app.storage.columns import metadata

MODULES = (tables, fact_tables, claim_tables)
METADATA = metadata
