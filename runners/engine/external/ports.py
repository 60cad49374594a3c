"""Ports of this machine's loopback: a free one, and who listens."""

import socket

import psutil

from runners.engine.external.faults import EngineFault

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def check_free(port: int) -> None:
    """Raises EngineFault where somebody listens: an engine that shares its port with another one would lose requests to it unseen."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            raise EngineFault("port_taken", f"port {port} of this machine is taken; end what listens there, or give the engine another one") from None


def listens_alone(port: int, leader: int) -> bool:
    """Whether somebody in the family of process `leader` listens on `port`, and nobody else is seen to."""
    family = _family(leader)
    owners = _owners(port, family)
    return bool(owners) and owners <= {each.pid for each in family}


def _family(leader: int) -> list[psutil.Process]:
    try:
        first = psutil.Process(leader)
        return [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _owners(port: int, family: list[psutil.Process]) -> set[int | None]:
    """Who listens on the port; None is somebody whom the system does not name."""
    try:
        return {found.pid for found in psutil.net_connections(kind="tcp") if _listening(found, port)}
    except psutil.AccessDenied:
        return {each.pid for each in family if any(_listening(found, port) for found in _connections(each))}


def _connections(process: psutil.Process) -> list[object]:
    try:
        return list(process.net_connections(kind="tcp"))
    except psutil.Error:
        return []


def _listening(found: object, port: int) -> bool:
    address = getattr(found, "laddr", None)
    return getattr(found, "status", None) == psutil.CONN_LISTEN and bool(address) and getattr(address, "port", None) == port
