"""Counts that a served engine does not tell are empty instead of 0, and a trial may hold what the engine's own counters said of it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COUNTS = ("drafted", "verified", "accepted", "rounds", "undrafted", "prefill_tokens", "discarded_bonus", "longest_draft")
PASSES = ("forwards", "slot_steps")
BEFORE = {
    "kept_of_drafted": "0 <= accepted AND accepted <= verified AND verified <= drafted",
    "drafted_within_reach": "drafted <= rounds::bigint * longest_draft",
    "counts_close": "emitted = prefill_tokens + accepted + rounds + undrafted - discarded_bonus",
    "one_entry_a_round": "cardinality(round_drafted) = rounds AND cardinality(round_verified) = rounds"
    " AND cardinality(round_depth) = rounds AND cardinality(round_slots) = rounds",
}
AFTER = {
    "kept_of_drafted": "coalesce(accepted >= 0, true) AND coalesce(verified >= 0, true) AND coalesce(drafted >= 0, true)"
    " AND coalesce(accepted <= verified, true) AND coalesce(verified <= drafted, true) AND coalesce(accepted <= drafted, true)",
    "drafted_or_absent": "drafted IS NOT NULL OR drafted_source = 'absent'",
    "drafted_within_reach": "coalesce(drafted <= rounds::bigint * longest_draft, true)",
    "counts_close": "CASE WHEN num_nulls(prefill_tokens, accepted, rounds, undrafted, discarded_bonus) = 0"
    " THEN emitted = prefill_tokens + accepted + rounds + undrafted - discarded_bonus"
    " ELSE coalesce(emitted >= coalesce(prefill_tokens, 0) + accepted + rounds + coalesce(undrafted, 0) - discarded_bonus, true) END",
    "one_entry_a_round": "cardinality(round_drafted) IN (0, coalesce(rounds, 0)) AND cardinality(round_verified) = cardinality(round_drafted)"
    " AND cardinality(round_depth) = cardinality(round_drafted) AND cardinality(round_slots) IN (0, cardinality(round_drafted))",
}


def upgrade() -> None:
    _replace(BEFORE, AFTER)
    for name in COUNTS:
        op.alter_column("requests", name, nullable=True)
    for name in PASSES:
        op.alter_column("trials", name, nullable=True)
    op.add_column("trials", sa.Column("counted", postgresql.JSONB(), nullable=True))
    op.add_column("trials", sa.Column("foreign", sa.Integer(), nullable=True))


def downgrade() -> None:
    for name in ("foreign", "counted"):
        op.drop_column("trials", name)
    for name in PASSES:
        op.alter_column("trials", name, nullable=False)
    for name in COUNTS:
        op.alter_column("requests", name, nullable=False)
    _replace(AFTER, BEFORE)


def _replace(old: dict[str, str], new: dict[str, str]) -> None:
    for name in old:
        op.drop_constraint(op.f(f"ck_requests_{name}"), "requests", type_="check")
    for name, rule in new.items():
        op.create_check_constraint(op.f(f"ck_requests_{name}"), "requests", rule)
