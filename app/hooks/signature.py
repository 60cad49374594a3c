"""By what a receiver knows that a delivery is ours, unchanged and fresh: HMAC-SHA256 over time and body."""

import hashlib
import hmac
import secrets

HEADER = "Bezmen-Signature"


def make_secret() -> str:
    return f"bzw_{secrets.token_urlsafe(32)}"


def signature(secret: str, at: int, body: bytes) -> str:
    """`t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA256 of `SECONDS.BODY` under the secret; SECONDS since 1970 let a receiver refuse a replay."""
    return f"t={at},v1={hmac.new(secret.encode(), str(at).encode() + b'.' + body, hashlib.sha256).hexdigest()}"
