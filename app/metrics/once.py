"""Selections that many figures ask for are made once of the same frames."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

from app.metrics.frame import Frames

P = ParamSpec("P")
T = TypeVar("T")


def once(select: Callable[Concatenate[Frames, P], T]) -> Callable[Concatenate[Frames, P], T]:
    """`select` of each frames and arguments, made at the first call. Nobody may change what it gives."""

    def chosen(frames: Frames, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (select, args, tuple(sorted(kwargs.items())))
        if key not in frames.selected:
            frames.selected[key] = select(frames, *args, **kwargs)
        found: T = frames.selected[key]
        return found

    update_wrapper(chosen, select)
    return chosen
