"""Decode time per token, plain ÷ speculative: from the first token on."""

from app.metrics import speed
from app.metrics.base import Metric

METRIC = Metric(
    id="speedup_decode",
    order=140,
    unit="ratio",
    formula="exp of the mean over prompts of log(plain ÷ speculative seconds per token after the first), pairs measured back to back",
    compute=speed.decode,
    scale="ratio",
    pairs=speed.decode_series,
    speed=True,
)
