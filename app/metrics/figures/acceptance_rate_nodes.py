"""How many of a tree's nodes the verifier kept: of siblings one at most, so it is never compared with a chain's acceptance."""

from app.metrics.counting import quotient_metric

METRIC = quotient_metric(
    id="acceptance_rate_nodes",
    order=15,
    unit="share",
    scale="share",
    formula="ΣV / ΣD (trees: D counts nodes, V those of the path that was kept), before any cut at EOS, limit or stop string",
    also_printed_as="SGLang with topk > 1",
    terms=lambda rows: (rows["verified"], rows["drafted"]),
    needs=("verified", "drafted"),
    profiles=True,
    drafts="trees",
)
