"""Whether acceptance hangs on how much text stands before the draft."""

from app.metrics.places import BEFORE, place_metric

METRIC = place_metric(
    id="acceptance_by_context",
    order=104,
    formula="ΣV / ΣD over rounds by the tokens before the draft, prompt included: up to 64, then buckets each as wide as all before",
    column="context",
    ends=BEFORE,
    key="context",
)
