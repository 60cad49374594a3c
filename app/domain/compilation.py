"""What a runner compiled before it measured."""

from typing import Annotated

from pydantic import Field

from app.domain.bounds import Count, Seconds
from app.domain.value import Value


class CompiledShape(Value):
    """A pass that was compiled: layers `first` … `last` − 1 over `positions` tokens in each of `rows` sequences."""

    rows: Annotated[int, Field(ge=1, le=256)]
    positions: Annotated[int, Field(ge=1, le=256)]
    first: Count
    last: Count


class Compilation(Value):
    """The compiled passes and the `seconds` that compiling took, before the warm-up and outside of every clock. Each reads `width` entries of the
    cache, however short the text is. `graphs`: they are replayed as CUDA graphs."""

    seconds: Seconds
    width: Count
    shapes: Annotated[tuple[CompiledShape, ...], Field(min_length=1, max_length=128)]
    graphs: bool = False
