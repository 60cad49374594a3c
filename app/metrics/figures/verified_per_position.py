"""Acceptance that compares chains with trees: the verifier's own token counts on both sides."""

from app.metrics.counting import quotient_metric

METRIC = quotient_metric(
    id="verified_per_position",
    order=20,
    unit="share",
    scale="share",
    formula="(ΣV + ΣR) / (ΣD + ΣR)",
    also_printed_as="AIPerf accepted_per_verified",
    terms=lambda rows: (rows["verified"] + rows["rounds"], rows["drafted"] + rows["rounds"]),
    needs=("verified", "drafted", "rounds"),
)
