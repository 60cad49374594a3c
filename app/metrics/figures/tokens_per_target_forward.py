"""The ceiling of a scheme: tokens delivered by one forward of the target, steps without a draft counted."""

from app.metrics.counting import NO_STEP, quotient_metric

METRIC = quotient_metric(
    id="tokens_per_target_forward",
    order=50,
    unit="tokens",
    scale="ratio",
    formula="(ΣE − ΣP) / Σ(R + U)",
    terms=lambda rows: (rows["emitted"] - rows["prefill_tokens"], rows["rounds"] + rows["undrafted"]),
    needs=("emitted", "prefill_tokens", "rounds", "undrafted"),
    nothing=NO_STEP,
)
