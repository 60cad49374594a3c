"""Tokens: 256 random bits behind a prefix that says what they are for; only their SHA-256 is kept."""

import hashlib
import secrets
from typing import Literal

Scope = Literal["read", "submit", "admin", "runner"]
SCOPES: tuple[Scope, ...] = ("read", "submit", "admin", "runner")
Prefix = Literal["bzt", "bzr", "bza", "bze", "bzs"]


def make(prefix: Prefix) -> str:
    """`bzt_` for people and programs, `bzr_` for runners, `bza_` for one attempt, `bze_` to enrol a runner once, `bzs_` for a browser."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def prefix_for(scopes: tuple[Scope, ...]) -> Prefix:
    return "bzr" if "runner" in scopes else "bzt"
