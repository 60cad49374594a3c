"""Passwords: scrypt (RFC 7914) with 32 MiB a guess; only salt and digest are kept."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass

LEAST = 10
MOST = 1024
_COST = {"n": 2**15, "r": 8, "p": 3, "dklen": 32, "maxmem": 64 * 1024 * 1024}


@dataclass(frozen=True)
class Hashed:
    salt: bytes
    hash: bytes


def hashed(password: str) -> Hashed:
    salt = secrets.token_bytes(16)
    return Hashed(salt, _scrypt(password, salt))


def matches(password: str, known: Hashed | None) -> bool:
    """Takes as long for a name that nobody has as for a wrong password."""
    against = known or Hashed(bytes(16), bytes(32))
    return hmac.compare_digest(_scrypt(password, against.salt), against.hash) and known is not None


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, **_COST)
