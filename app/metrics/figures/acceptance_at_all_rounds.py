"""How deep drafts hold, of all rounds, short ones included."""

from app.domain.sentence import plain
from app.metrics.counting import position_metric

METRIC = position_metric(
    id="acceptance_at_all_rounds",
    order=90,
    formula="rounds with ≥ i kept ÷ R",
    also_printed_as="vLLM acceptance per position",
    rounds=lambda rows, i: (rows["verified"] >= i, rows["verified"] >= 0),
    deep=False,
    nothing=plain("No draft was made."),
)
