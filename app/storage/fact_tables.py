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
    columns.count("forwards"),
    columns.count("slot_steps"),
    Column("eager_forwards", Integer),
    Column("load_average", Double),
    Column("steal", Double),
    Column("others", Double),
    Column("contended", Boolean, nullable=False),
    Column("clock_mhz", Double),
    Column("peak_bytes", BigInteger),
    Column("weight_bytes", BigInteger),
    Column("cache_bytes", BigInteger),
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
    columns.count("drafted"),
    columns.text("drafted_source"),
    *(
        columns.count(name)
        for name in ("verified", "accepted", "rounds", "undrafted", "prefill_tokens", "emitted", "discarded_bonus", "longest_draft")
    ),
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
    CheckConstraint("0 <= accepted AND accepted <= verified AND verified <= drafted", name="kept_of_drafted"),
    CheckConstraint("drafted <= rounds::bigint * longest_draft", name="drafted_within_reach"),
    CheckConstraint("emitted = prefill_tokens + accepted + rounds + undrafted - discarded_bonus", name="counts_close"),
    CheckConstraint(
        "cardinality(round_drafted) = rounds AND cardinality(round_verified) = rounds"
        " AND cardinality(round_depth) = rounds AND cardinality(round_slots) = rounds",
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
