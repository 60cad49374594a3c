"""How deep drafts hold once the position before was kept."""

from app.domain.sentence import plain
from app.metrics.counting import position_metric

METRIC = position_metric(
    id="acceptance_given_previous",
    order=100,
    formula="rounds with ≥ i kept ÷ rounds with ≥ i − 1 kept and depth ≥ i",
    also_printed_as="EAGLE n-α",
    rounds=lambda rows, i: (rows["verified"] >= i, (rows["verified"] >= i - 1) & (rows["depth"] >= i)),
    nothing=plain("No round kept the position before."),
)
