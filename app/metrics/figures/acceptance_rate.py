"""How many drafted tokens the verifier kept."""

from app.metrics.counting import quotient_metric

METRIC = quotient_metric(
    id="acceptance_rate",
    order=10,
    unit="share",
    scale="share",
    formula="ΣV / ΣD (chains), before any cut at EOS, limit or stop string",
    also_printed_as='vLLM "draft acceptance rate"; llama.cpp draft_n_accepted / draft_n',
    terms=lambda rows: (rows["verified"], rows["drafted"]),
    needs=("verified", "drafted"),
    profiles=True,
    drafts="chains",
)
