"""Where webhooks may lead."""

import ipaddress
import socket

import pytest

from app.hooks.addresses import Unreachable, permitted, target

PUBLIC = ("1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1")
PRIVATE = (
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.7", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255",
    "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
    "2001:0:7f00:1::1",
)  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    """Catches a check that refuses everything."""
    assert permitted(ipaddress.ip_address(address), ())


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_of_this_network(address: str) -> None:
    """Catches a webhook that reaches the machine itself, its neighbours or the metadata of a cloud, however the address is written."""
    assert not permitted(ipaddress.ip_address(address), ())


def test_a_network_is_allowed_alone() -> None:
    """Catches a setting that opens more than it names."""
    networks = [ipaddress.ip_network("10.1.0.0/16")]
    found = {text: permitted(ipaddress.ip_address(text), networks) for text in ("10.1.2.3", "::ffff:10.1.2.3", "10.2.0.1", "127.0.0.1", "::1")}
    assert found == {"10.1.2.3": True, "::ffff:10.1.2.3": True, "10.2.0.1": False, "127.0.0.1": False, "::1": False}


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/x", "https://[::1]/x", "https://[::ffff:127.0.0.1]/", "https://10.0.0.1", "http://169.254.169.254/latest/meta-data",
        "https://localhost/x", "https://2130706433/", "https://0x7f.1/", "https://0177.0.0.1/", "https://127.1/",
    ],
)  # fmt: skip
async def test_urls_that_lead_inside(url: str) -> None:
    """Catches an address in disguise, and a name that resolves to one: what is called counts, not how it is written."""
    with pytest.raises(Unreachable, match="is not a public address"):
        await target(url, ())


async def test_a_name_that_resolves_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a name with one public and one private address, of which the resolver may give either."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in ("1.1.1.1", "10.0.0.7")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(Unreachable, match=r"hooks\.example\.org is 10\.0\.0\.7, which is not a public address"):
        await target("https://hooks.example.org/x", ())


async def test_the_checked_address_is_the_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a second look-up between check and call: a name can answer otherwise then."""
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2606:4700::1", 443, 0, 0))])
    found = await target("https://hooks.example.org:8443/x?y=1", ())
    assert (found.pinned, found.netloc, found.host) == ("https://[2606:4700::1]:8443/x?y=1", "hooks.example.org:8443", "hooks.example.org")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.org/", "has an address such as"),
        ("https:///x", "has an address such as"),
        ("https://exa mple.org", "has an address such as"),
        ("https://example.org/\r\nX: y", "has an address such as"),
        ("https://пример.рф/", "in ASCII"),
        ("https://user:word@1.1.1.1/", "no user, password or fragment"),
        ("https://1.1.1.1/#x", "no user, password or fragment"),
        ("https://1.1.1.1:99999/", "has an address such as"),
        ("http://1.1.1.1/", "by https alone"),
        ("https://no-such-machine.invalid/", "No machine is known under the name"),
    ],
)
async def test_urls_that_cannot_be(url: str, said: str) -> None:
    """Catches a URL that is understood one way here and another way by whoever calls it."""
    with pytest.raises(Unreachable, match=said):
        await target(url, ())
