"""Work per token: layer × position executed by draft and verify. Plain decoding costs the target's layers."""

from app.metrics.counting import NO_STEP, quotient_metric

METRIC = quotient_metric(
    id="layer_passes_per_token",
    order=120,
    unit="layer_passes",
    scale="ratio",
    better="lower",
    formula="Σ(draft + verify layer passes) / (ΣE − ΣP)",
    also_printed_as="courses print it as layer passes",
    terms=lambda rows: (rows["draft_layer_passes"] + rows["verify_layer_passes"], rows["emitted"] - rows["prefill_tokens"]),
    needs=("draft_layer_passes", "verify_layer_passes", "emitted", "prefill_tokens"),
    nothing=NO_STEP,
)
