"""The whole schema, for migrations: every module of tables is imported here."""

from app.storage import access_tables, claim_tables, fact_tables, hook_tables, import_tables, probe_tables, retention_tables, suite_tables, tables
from app.storage.columns import metadata

MODULES = (access_tables, tables, fact_tables, claim_tables, suite_tables, hook_tables, probe_tables, retention_tables, import_tables)
METADATA = metadata
