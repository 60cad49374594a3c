"""How much of the delivered text came from drafts. Not an acceptance rate: it counts what was delivered, not what was drafted."""

from app.domain.sentence import plain
from app.metrics.counting import quotient_metric

METRIC = quotient_metric(
    id="accepted_share",
    order=70,
    unit="share",
    scale="share",
    formula="ΣA / ΣE",
    also_printed_as='LM Studio; courses print it as "acceptance"',
    terms=lambda rows: (rows["accepted"], rows["emitted"]),
    needs=("accepted", "emitted"),
    nothing=plain("Nothing was emitted."),
)
