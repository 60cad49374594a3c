"""Which words of which engines are understood here, the version whose source or documents each was read from, and whether it was seen at work."""

from app.discovery import modules_of
from app.domain.bounds import Short
from app.domain.outside.reading import Engine
from app.domain.value import Value


class Shape(Value):
    """`name` is what a Reading calls it, `said_in` the part of the engine's interface, `read_from` what was read. `run` is the version that it was
    run against; None says that nobody has yet run it against the real engine."""

    engine: Engine
    name: Short
    said_in: Short
    read_from: Short
    run: Short | None = None


def shapes() -> list[Shape]:
    """Those of all engines: each module of this package tells its own as SHAPES."""
    return [shape for module in modules_of("app.domain.outside") for shape in getattr(module, "SHAPES", ())]
