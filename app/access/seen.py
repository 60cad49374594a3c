"""Services that show everybody what is theirs: a route is only ever given one that is narrowed to whoever asks."""

import copy
from typing import Annotated, Self, TypeVar

from fastapi import Depends, Request

from app.access.principal import Principal, principal
from app.storage.view import ALL, View


class Seen:
    """A service whose queries take `self.view`. As the composition root makes it, it sees everything; `seen_by` narrows it and all that it holds."""

    view: View = ALL

    def seen_by(self, view: View) -> Self:
        found = copy.copy(self)
        for name, part in vars(self).items():
            if isinstance(part, Seen):
                setattr(found, name, part.seen_by(view))
        found.view = view
        return found


S = TypeVar("S", bound=Seen)
Who = Annotated[Principal, Depends(principal)]


def narrowed(request: Request, kind: type[S], who: Principal) -> S:
    """The service of this kind out of the composition root's, as `who` may see it."""
    found: S = getattr(request.app.state, kind.__name__.lower())
    return found.seen_by(who.view)
