"""What a figure is: its name, unit and formula, and how it comes out of the frames."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from app.domain.estimate import Estimate, Unit
from app.domain.sentence import Sentence
from app.domain.spec import Regime
from app.metrics.frame import Frames
from app.statistics.clusters import Array

Better = Literal["higher", "lower"]
Part = dict[str, str]


@dataclass(frozen=True)
class Reading:
    """A figure without its passport, which app.reports attaches. A reading without a point states the reason in `pooled`.

    `pooled` is Σ/Σ; of figures of pairs it is the estimate over pairs (definitions § 3). `on_prompts` marks a reading that no answer can spoil.
    """

    pooled: Estimate
    part: Part = field(default_factory=dict)
    macro: Estimate | None = None
    left_out: Sentence | None = None
    rounds: int | None = None
    emitted: int | None = None
    unit: Unit | None = None
    on_prompts: bool = False


@dataclass(frozen=True)
class Sums:
    """A figure as Π (Σ column)^power over prompts: `table` has a row a prompt with a column a term, in the order of `powers`.

    A share or a ratio has two terms with powers (1, −1).
    """

    table: pd.DataFrame
    powers: tuple[int, ...] = (1, -1)
    part: Part = field(default_factory=dict)
    rounds: int | None = None
    emitted: int | None = None
    on_prompts: bool = False

    def terms(self, keys: pd.Index | None = None) -> list[tuple[Array, int]]:
        """Terms and powers, over all prompts or over some, by their index."""
        rows = self.table if keys is None else self.table.loc[keys]
        return [(rows.iloc[:, i].to_numpy(dtype=float), power) for i, power in enumerate(self.powers)]


@dataclass(frozen=True)
class Pairs:
    """One ratio per prompt (a speed-up), indexed by prompt."""

    quotients: pd.Series
    part: Part = field(default_factory=dict)


@dataclass(frozen=True)
class Metric:
    """One figure of definitions § 2.

    `needs` names the columns without which it is absent. `scale` says how runs are contrasted: shares by difference, ratios by quotient, None
    not at all; `sums` or `pairs` hold what is then compared prompt by prompt. `compute` gives the readings. `speed` marks what a clock measured;
    `loads` are those under which there is such a figure.
    """

    id: str
    order: int
    unit: Unit
    formula: str
    compute: Callable[[Frames], list[Reading]]
    better: Better | None = "higher"
    also_printed_as: str = ""
    needs: tuple[str, ...] = ()
    scale: Literal["share", "ratio"] | None = None
    sums: Callable[[Frames], list[Sums]] | None = None
    pairs: Callable[[Frames], list[Pairs]] | None = None
    speed: bool = False
    loads: tuple[Regime, ...] = ("single", "closed", "open")
