"""Tokens: 256 random bits behind a prefix that says what they are for; only their SHA-256 is kept."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Scope = Literal["read", "submit", "admin", "runner"]
SCOPES: tuple[Scope, ...] = ("read", "submit", "admin", "runner")
Prefix = Literal["bzt", "bzr", "bza", "bze", "bzs"]


@dataclass(frozen=True)
class Token:
    """`project` is None for one that is of every project."""

    id: int
    name: str
    scopes: tuple[Scope, ...]
    project: str | None
    hash: bytes
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True)
class Enrolment:
    name: str
    project: str | None
    created_by: str
    created_at: datetime
    expires_at: datetime


def make(prefix: Prefix) -> str:
    """`bzt_` for people and programs, `bzr_` for runners, `bza_` for one attempt, `bze_` to enrol a runner once, `bzs_` for a browser."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def prefix_for(scopes: tuple[Scope, ...]) -> Prefix:
    return "bzr" if "runner" in scopes else "bzt"
