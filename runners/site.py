"""A runner's own settings that decide what it may load and what it calls itself."""

from pathlib import Path

from app.domain.value import Value
from runners.engine.external.aliases import Attached, Engines


class Site(Value):
    """`roots` hold models that may be named by path, `hub` repository@revision pairs that may be fetched,
    `engines` what is served beside our own loop."""

    roots: tuple[Path, ...] = ()
    hub: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    engines: Engines = Engines()

    @property
    def readable(self) -> tuple[Path, ...]:
        """All folders under which models may lie, those of engines included."""
        return tuple(dict.fromkeys((*self.roots, *self.engines.roots)))

    @property
    def keys(self) -> tuple[str, ...]:
        """The environment variables that hold keys of engines."""
        return tuple(alias.key_from for alias in self.engines.engines.values() if isinstance(alias, Attached) and alias.key_from is not None)
