"""Text that a round carries: an accepted Russian token carries fewer characters than an English one.

Characters are counted per answer, not per round, and steps without a draft deliver characters too; so a round's tokens are taken at the
answers' own characters per token.
"""

from app.metrics.counting import quotient_metric

METRIC = quotient_metric(
    id="chars_per_round",
    order=230,
    unit="characters",
    scale="ratio",
    formula="(Σ output characters / Σ output tokens without EOS) · (1 + ΣV/ΣR)",
    terms=lambda rows: (rows["output_characters"], rows["text_tokens"], rows["verified"] + rows["rounds"], rows["rounds"]),
    powers=(1, -1, 1, -1),
    needs=("output_characters", "text_tokens", "verified", "rounds"),
)
