"""Raw facts of old runs may be given up: of runs that are named here alone, and their reports stay as they are."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

FACTS = ("requests", "trials", "batches", "observations")
KEPT = ("reports", "figures")


def upgrade() -> None:
    op.create_table(
        "forgotten",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("emptied_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_forgotten_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_forgotten")),
    )
    op.execute("""
        CREATE FUNCTION refuse_unless_forgotten() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
            IF EXISTS (SELECT FROM attempts JOIN forgotten USING (run_id) WHERE attempts.id = OLD.attempt_id) THEN RETURN OLD; END IF;
            RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' is only ever added to';
        END $$
    """)
    op.execute("""
        CREATE FUNCTION refuse_once_forgotten() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
            IF EXISTS (SELECT FROM forgotten WHERE forgotten.run_id = OLD.run_id) THEN
                RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' of run ' || OLD.run_id || ' cannot be computed anew: its facts are gone';
            END IF;
            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
            RETURN NEW;
        END $$
    """)
    for table in FACTS:
        op.execute(f"DROP TRIGGER {table}_append_only ON {table}")
        op.execute(f"CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change()")
        op.execute(f"CREATE TRIGGER {table}_kept BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_unless_forgotten()")
    for table in KEPT:
        op.execute(f"CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_once_forgotten()")
    op.execute("CREATE TRIGGER forgotten_for_ever BEFORE DELETE ON forgotten FOR EACH ROW EXECUTE FUNCTION refuse_change()")


def downgrade() -> None:
    op.execute("DROP TRIGGER forgotten_for_ever ON forgotten")
    for table in KEPT:
        op.execute(f"DROP TRIGGER {table}_kept ON {table}")
    for table in FACTS:
        op.execute(f"DROP TRIGGER {table}_kept ON {table}")
        op.execute(f"DROP TRIGGER {table}_append_only ON {table}")
        op.execute(f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change()")
    op.execute("DROP FUNCTION refuse_unless_forgotten")
    op.execute("DROP FUNCTION refuse_once_forgotten")
    op.drop_table("forgotten")
