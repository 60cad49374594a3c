"""Tables of what was seen and of what follows from it. Facts are only ever added to: triggers of the first migration refuse the rest.

Reports and figures are kept copies, computed anew whenever the analysis changes.
"""

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.storage import columns
from app.storage.columns import metadata

batches = Table(
    "batches",
    metadata,
    Column("attempt_id", ForeignKey("attempts.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    columns.text("digest"),
    columns.count("facts"),
    columns.time("received_at", now=True),
)

preflights = Table(
    "preflights",
    metadata,
    Column("attempt_id", ForeignKey("attempts.id"), primary_key=True, autoincrement=False),
    Column("model_id", ForeignKey("models.id"), nullable=False),
    Column("tokenizer", ForeignKey("tokenizers.fingerprint"), nullable=False),
    Column("drafter_tokenizer", ForeignKey("tokenizers.fingerprint"), nullable=False),
    Column("fact", JSONB, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    columns.identity(),
    Column("attempt_id", ForeignKey("attempts.id"), nullable=False, index=True),
    columns.text("arm"),
    columns.text("purpose"),
    columns.count("trial"),
    columns.count("block"),
    Column("seconds", Double, nullable=False),
    columns.count("forwards", nullable=True),
    columns.count("slot_steps", nullable=True),
    Column("eager_forwards", Integer),
    Column("load_average", Double),
    Column("steal", Double),
    Column("others", Double),
    Column("contended", Boolean, nullable=False),
    Column("clock_mhz", Double),
    Column("peak_bytes", BigInteger),
    Column("weight_bytes", BigInteger),
    Column("cache_bytes", BigInteger),
    Column("counted", JSONB(none_as_null=True)),
    Column("foreign", Integer),
    CheckConstraint("seconds >= 0 AND seconds < 'Infinity'", name="seconds_finite"),
)

requests = Table(
    "requests",
    metadata,
    columns.identity(),
    Column("attempt_id", ForeignKey("attempts.id"), nullable=False, index=True),
    columns.text("arm"),
    columns.text("purpose"),
    columns.count("trial"),
    Column("order", SmallInteger, nullable=False),
    columns.text("prompt"),
    columns.text("profile"),
    Column("parallel", Text),
    Column("seed", Integer, nullable=False),
    *(columns.count(name) for name in ("prompt_tokens", "prompt_characters", "prompt_words")),
    Column("input_tokens", Integer),
    columns.count("drafted", nullable=True),
    columns.text("drafted_source"),
    *(columns.count(name, nullable=True) for name in ("verified", "accepted", "rounds", "undrafted", "prefill_tokens")),
    columns.count("emitted"),
    *(columns.count(name, nullable=True) for name in ("discarded_bonus", "longest_draft")),
    *(Column(name, ARRAY(SmallInteger), nullable=False) for name in ("round_drafted", "round_verified", "round_depth", "round_slots")),
    Column("round_step", ARRAY(SmallInteger)),
    Column("step_end", ARRAY(Double), nullable=False),
    Column("step_tokens", ARRAY(SmallInteger), nullable=False),
    Column("planned_at", Double),
    *(Column(name, Double, nullable=False) for name in ("sent_at", "first_at", "last_at")),
    columns.text("finish"),
    *(Column(name, Integer) for name in ("draft_layer_passes", "verify_layer_passes", "prefill_layer_passes")),
    *(Column(name, Integer) for name in ("experts_read", "experts_chosen")),
    Column("output_ids", ARRAY(Integer)),
    columns.text("output_digest"),
    Column("output_text", Text),
    *(columns.count(name) for name in ("output_characters", "output_words")),
    Column("answer_language", Text),
    columns.count("answer_letters"),
    columns.text("answer_kind"),
    Column("repeated_share", Double),
    Column("degenerate", Boolean),
    UniqueConstraint("attempt_id", "purpose", "arm", "trial", "prompt", "seed"),
    # A count that an engine did not tell is NULL: what is said of it holds only where both sides are told, and a CHECK lets NULL pass.
    CheckConstraint(
        "coalesce(accepted >= 0, true) AND coalesce(verified >= 0, true) AND coalesce(drafted >= 0, true)"
        " AND coalesce(accepted <= verified, true) AND coalesce(verified <= drafted, true) AND coalesce(accepted <= drafted, true)",
        name="kept_of_drafted",
    ),
    CheckConstraint("drafted IS NOT NULL OR drafted_source = 'absent'", name="drafted_or_absent"),
    CheckConstraint("coalesce(drafted <= rounds::bigint * longest_draft, true)", name="drafted_within_reach"),
    CheckConstraint(
        "CASE WHEN num_nulls(prefill_tokens, accepted, rounds, undrafted, discarded_bonus) = 0"
        " THEN emitted = prefill_tokens + accepted + rounds + undrafted - discarded_bonus"
        " ELSE coalesce(emitted >= coalesce(prefill_tokens, 0) + accepted + rounds + coalesce(undrafted, 0) - discarded_bonus, true) END",
        name="counts_close",
    ),
    CheckConstraint(
        "cardinality(round_drafted) IN (0, coalesce(rounds, 0)) AND cardinality(round_verified) = cardinality(round_drafted)"
        " AND cardinality(round_depth) = cardinality(round_drafted) AND cardinality(round_slots) IN (0, cardinality(round_drafted))",
        name="one_entry_a_round",
    ),
    CheckConstraint("cardinality(step_end) = cardinality(step_tokens)", name="one_end_a_step"),
    CheckConstraint("0 <= sent_at AND sent_at <= first_at AND first_at <= last_at AND last_at < 'Infinity'", name="times_run_forward"),
)

observations = Table(
    "observations",
    metadata,
    columns.identity(),
    Column("attempt_id", ForeignKey("attempts.id"), nullable=False, index=True),
    columns.text("kind"),
    Column("fact", JSONB, nullable=False),
    columns.one_of("kind", ["cost", "divergence", "learned"]),
)

reports = Table(
    "reports",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True, autoincrement=False),
    columns.text("analysis"),
    Column("report", JSONB, nullable=False),
    # What a comparison needs beside the report; not JSONB, which would write every number anew.
    Column("kept", JSON),
    Column("outcome", Text),
    Column("refused", Boolean, nullable=False),
    Column("speedup", JSONB),
    Column("acceptance", JSONB),
    columns.time("built_at", now=True),
)

figures = Table(
    "figures",
    metadata,
    Column("run_id", ForeignKey("reports.run_id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    columns.text("figure"),
    Column("part", JSONB, nullable=False),
    columns.text("kind"),
    Column("language", Text),
    Column("tokenizer", ForeignKey("tokenizers.fingerprint")),
    Column("drafter_tokenizer", ForeignKey("tokenizers.fingerprint")),
    Column("point", Double),
    Column("low", Double),
    Column("high", Double),
    Column("n", Integer),
    Column("cell", JSONB, nullable=False),
    columns.one_of("kind", ["figure", "refusal", "absent"]),
    CheckConstraint(
        "kind <> 'figure' OR (language IS NOT NULL AND btrim(language) <> '' AND tokenizer IS NOT NULL AND drafter_tokenizer IS NOT NULL)",
        name="figure_has_passport",
    ),
    Index(None, "figure", "language"),
)
