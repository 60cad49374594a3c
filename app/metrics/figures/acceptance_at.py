"""How deep drafts hold, of the rounds that drafted so far."""

from app.domain.sentence import plain
from app.metrics.counting import position_metric

METRIC = position_metric(
    id="acceptance_at",
    order=80,
    formula="rounds with ≥ i kept ÷ rounds of depth ≥ i",
    rounds=lambda rows, i: (rows["verified"] >= i, rows["depth"] >= i),
    nothing=plain("No round drafted so far."),
)
