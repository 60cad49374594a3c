"""Models in memory: what one job has loaded the next job of the same process need not load again."""

import gc
from dataclasses import dataclass
from typing import Any

import psutil
import torch

from runners.models.load import Located, load_weights, weights_bytes

Key = tuple[str, str | None, torch.dtype]
# A model is on its way from the disk in its own type while its copy in the wanted one is made.
ROOM = 3


@dataclass(frozen=True)
class Shelved:
    """A model, and the ids that end an answer as its own generation configuration declared them when it was loaded: whoever decodes with the
    model afterwards may replace that configuration."""

    model: Any
    ends: frozenset[int]


class Shelf:
    """Models by folder, weights and type. Those that are there make room for one that would not fit beside them."""

    def __init__(self) -> None:
        self._held: dict[Key, Shelved] = {}

    def model(self, located: Located, dtype: torch.dtype, device: torch.device) -> Shelved:
        """Raises NoSuchModel for a checkpoint that is not whole."""
        self.make_room(located, dtype, device)
        key = _key(located, dtype)
        if key not in self._held:
            model = load_weights(located, dtype, device)
            self._held[key] = Shelved(model, _declared(model))
        return self._held[key]

    def holds(self, located: Located, dtype: torch.dtype) -> bool:
        return _key(located, dtype) in self._held

    def make_room(self, located: Located, dtype: torch.dtype, device: torch.device) -> None:
        """Drops what is there when this model is not and would not fit beside it."""
        if self._held and not self.holds(located, dtype) and free_bytes(device) < ROOM * weights_bytes(located):
            self._held.clear()
            gc.collect()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def _key(located: Located, dtype: torch.dtype) -> Key:
    return str(located.folder), located.weights_digest, dtype


def free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free)
    return int(psutil.virtual_memory().available)


def _declared(model: Any) -> frozenset[int]:
    declared = getattr(model.generation_config, "eos_token_id", None)
    ids = declared if isinstance(declared, list) else [declared]
    return frozenset(int(i) for i in ids if i is not None)
