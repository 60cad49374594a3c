"""A runner's own settings that decide what it may load and what it calls itself."""

from pathlib import Path

from app.domain.value import Value


class Site(Value):
    """`roots` hold models that may be named by path, `hub` repository@revision pairs that may be fetched."""

    roots: tuple[Path, ...] = ()
    hub: tuple[str, ...] = ()
    labels: dict[str, str] = {}
