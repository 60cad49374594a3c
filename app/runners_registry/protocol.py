"""Which runners the service understands."""

from importlib.metadata import version

from app.domain.protocol import OLDEST, PROTOCOL
from app.errors import Conflict


class OtherProtocol(Conflict):
    """This runner and the service do not understand each other"""


def require(spoken: int) -> None:
    """Raises OtherProtocol, naming both versions, for a runner that is too old or newer than the service."""
    if OLDEST <= spoken <= PROTOCOL:
        return
    served = f"{OLDEST}" if OLDEST == PROTOCOL else f"{OLDEST} to {PROTOCOL}"
    install = f"install bezmen {version('bezmen')}, which is the service's version, on the runner's machine and start it again"
    remedy = f"Upgrade the service first, or {install}" if spoken > PROTOCOL else install[0].upper() + install[1:]
    said = f"The runner speaks version {spoken} of the protocol, the service {served}. {remedy}."
    raise OtherProtocol(said, spoken=spoken, oldest=OLDEST, newest=PROTOCOL)
