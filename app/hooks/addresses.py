"""To which machines a webhook may lead: public ones, and those that the operator names. Everything else of this network is out of reach.

A name is resolved once and that very address is called, so that it cannot turn into another between the check and the call.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from app.errors import InvalidInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
LONGEST = 2000
RESOLVE_SECONDS = 5.0
# IPv6 addresses behind which a translator calls an IPv4 one (RFC 6052), and the old notation of such (RFC 4291, § 2.5.5.1).
_TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"), ipaddress.IPv6Network("::/96"))
SETTING = "BEZMEN_WEBHOOK_NETWORKS"


class Unreachable(InvalidInput):
    """A webhook may not lead there"""


@dataclass(frozen=True)
class Target:
    """A URL and the one address at which it is called."""

    url: str
    scheme: str
    host: str
    netloc: str
    port: int
    path: str
    address: Address

    @property
    def pinned(self) -> str:
        """The URL with the address in the place of the name."""
        host = f"[{self.address}]" if self.address.version == 6 else str(self.address)
        return f"{self.scheme}://{host}:{self.port}{self.path}"


async def target(url: str, networks: Sequence[Network]) -> Target:
    """Where a URL leads now. Raises Unreachable, saying why it may not or cannot."""
    parts, port = _parsed(url)
    host = parts.hostname or ""
    found = await _resolved(host, port)
    for address in found:
        if not permitted(address, networks):
            named = f"{host} is {address}, which" if str(address) != host else host
            raise Unreachable(f"{named} is not a public address. An operator may allow its network with {SETTING}.")
    first = found[0]
    if parts.scheme == "http" and not _allowed(first, networks):
        raise Unreachable(f"Beyond the networks of {SETTING} a webhook is called by https alone.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(url, parts.scheme, host, parts.netloc, port, path, first)


def permitted(address: Address, networks: Sequence[Network]) -> bool:
    """Whether an address is public, however it is written, or in a network that is allowed."""
    return _allowed(address, networks) or all(each.is_global and not each.is_multicast for each in _meant(address))


def _allowed(address: Address, networks: Sequence[Network]) -> bool:
    return any(each in network for each in _meant(address) for network in networks if each.version == network.version)


def _meant(address: Address) -> Iterator[Address]:
    """The address, and the IPv4 address that it carries. Of a mapped one the latter alone: it is what is called."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
        return
    yield address
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in _TRANSLATED):
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _parsed(url: str) -> tuple[SplitResult, int]:
    try:
        if len(url) > LONGEST or not url.isascii() or any(ord(sign) <= 32 or ord(sign) == 127 for sign in url):
            raise ValueError
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Unreachable(f"A webhook has an address such as https://ci.example.org/hook, in ASCII and {LONGEST} characters at most.") from error
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise Unreachable("A webhook has an address such as https://ci.example.org/hook.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Unreachable("The address of a webhook has no user, password or fragment; what is sent is signed with the webhook's own secret.")
    return parts, port or (443 if parts.scheme == "https" else 80)


async def _resolved(host: str, port: int) -> list[Address]:
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError) as error:
        raise Unreachable(f"No machine is known under the name {host}.") from error
    addresses = list(dict.fromkeys(ipaddress.ip_address(str(item[4][0]).partition("%")[0]) for item in found))
    if not addresses:
        raise Unreachable(f"No machine is known under the name {host}.")
    return addresses
