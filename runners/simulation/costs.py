"""Virtual seconds of a step: what a controller is up against."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """t(rows, n) = `weights` + `token` · rows · (n + 1) + `draft` · n: a forward reads the weights once and computes every position of every row,
    and the longest draft takes one cheap pass a token. Where `token` · rows is small against `weights`, verification is nearly free (memory-bound);
    where it is not, every draft pays for itself or does not (compute-bound)."""

    weights: float = 1.0
    token: float = 0.02
    draft: float = 0.1

    def seconds(self, rows: int, width: int) -> float:
        return self.weights + self.token * rows * (width + 1) + self.draft * width


def expected_tokens(chance: float, width: int) -> float:
    """Of one row whose drafts are kept with this chance each: 1 + α + … + α^n."""
    return float(sum(chance**i for i in range(width + 1)))
