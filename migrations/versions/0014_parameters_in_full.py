"""Parameters of a run are kept in full, with the defaults that its runner fell back on, so that two runs that did the same compare."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0014"
down_revision: str | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# The newest offer of the runner of the latest attempt; of a run that nobody has begun any offer, the newest first.
OFFERS = sa.text("""
    SELECT offers.offer FROM offers
    LEFT JOIN attempts ON attempts.runner_id = offers.runner_id AND attempts.run_id = :run
    ORDER BY attempts.number DESC NULLS LAST, offers.published_at DESC
""")
KINDS = (("drafter", "drafters"), ("controller", "controllers"), ("verifier", "verifiers"))


def upgrade() -> None:
    """The digest of a run stays that of what was asked for: by it a campaign knows the tries of one measurement again."""
    bind = op.get_bind()
    for run, spec in bind.execute(sa.text("SELECT id, spec FROM runs ORDER BY id")).all():
        full = dict(_filled(spec, [offer for (offer,) in bind.execute(OFFERS, {"run": run})]))
        if full != {kind: spec[kind] for kind, _ in KINDS}:
            bind.execute(sa.text("UPDATE runs SET spec = CAST(:spec AS jsonb) WHERE id = :run"), {"spec": json.dumps(spec | full), "run": run})


def _filled(spec: Mapping[str, Any], offers: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    for kind, parts in KINDS:
        choice = spec[kind]
        known = (part for offer in offers for part in offer.get(parts, ()) if part["name"] == choice["name"])
        properties = (next(known, None) or {}).get("schema", {}).get("properties", {})
        defaults = {name: node["default"] for name, node in properties.items() if "default" in node}
        yield kind, choice | {"params": defaults | choice["params"]}


def downgrade() -> None:
    """What is said in full was meant before as well."""
