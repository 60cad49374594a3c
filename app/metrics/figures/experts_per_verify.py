"""Experts whose weights a verification reads: in each layer the different ones that its tokens were sent to. A plain step reads one token's."""

from app.metrics.experts import experts_metric

METRIC = experts_metric(
    id="experts_per_verify",
    order=122,
    unit="experts",
    scale="ratio",
    better=None,
    formula="Σ over rounds and layers of the different experts that the tokens of a verification were sent to ÷ ΣR",
    terms=lambda rows: (rows["experts_read"], rows["rounds"]),
)
