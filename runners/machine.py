"""What a child finds out about this machine for its parent, which is free of torch."""

from app.domain.catalogue import Offer
from app.domain.value import Value


class Machine(Value):
    """`identity` is runners.environment.identity of the device; it stays on this machine."""

    offer: Offer
    identity: str
