"""How many decode steps carried a draft at all."""

from app.metrics.counting import NO_STEP, quotient_metric

METRIC = quotient_metric(
    id="draft_coverage",
    order=110,
    unit="share",
    scale="share",
    formula="ΣR / Σ(R + U)",
    terms=lambda rows: (rows["rounds"], rows["rounds"] + rows["undrafted"]),
    needs=("rounds", "undrafted"),
    nothing=NO_STEP,
)
