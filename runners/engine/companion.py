"""A second model, as its drafter sees it."""

from dataclasses import dataclass

from runners.engine.target import Target
from runners.engine.translation import Translation


@dataclass(frozen=True)
class Companion:
    """`model` keeps a slot of its own for each of the target's. `translation` is None where both have one tokenizer; `twin` says that its weights
    are the target's own. `key` tells its weights from other companions': equal keys share them in memory."""

    model: Target
    translation: Translation | None = None
    twin: bool = False
    key: str = ""

    @property
    def weight_bytes(self) -> int:
        """What its weights take beside the target's."""
        return 0 if self.twin else self.model.weight_bytes or 0

    @property
    def cache_bytes(self) -> int:
        return self.model.cache_bytes or 0
