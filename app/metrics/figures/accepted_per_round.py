"""Drafts kept by a round, without the target's own token."""

from app.metrics.counting import quotient_metric

METRIC = quotient_metric(
    id="accepted_per_round",
    order=30,
    unit="tokens",
    scale="ratio",
    formula="ΣV / ΣR",
    also_printed_as='gpt-fast "mean accepted"',
    terms=lambda rows: (rows["verified"], rows["rounds"]),
    needs=("verified", "rounds"),
)
