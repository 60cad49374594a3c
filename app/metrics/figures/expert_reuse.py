"""How far the tokens of a verification share their experts: 0 where each is sent to experts of its own."""

from app.metrics.experts import experts_metric

METRIC = experts_metric(
    id="expert_reuse",
    order=124,
    unit="share",
    scale="share",
    formula="1 − Σ different experts read ÷ Σ experts chosen, over the tokens and layers of a verification and all rounds",
    terms=lambda rows: (rows["experts_chosen"] - rows["experts_read"], rows["experts_chosen"]),
)
