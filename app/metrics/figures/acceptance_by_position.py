"""Whether acceptance holds as the answer goes on."""

from app.metrics.places import ALONG, place_metric

METRIC = place_metric(
    id="acceptance_by_position",
    order=102,
    formula="ΣV / ΣD over rounds by where in the output the first drafted token stands: 32 tokens a bucket up to 512, then twice as many each",
    column="position",
    ends=ALONG,
    key="output",
)
