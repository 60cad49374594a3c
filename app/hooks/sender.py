"""One try of one delivery: bounded in time and bytes, to a pinned address, following nothing."""

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import httpx

from app.hooks.addresses import Target

TOTAL_SECONDS = 10.0
MOST_BYTES = 64 * 1024


@dataclass(frozen=True)
class Tried:
    """`status` is None where no answer came, and `error` says why; of an answer nothing but its status is kept."""

    status: int | None
    error: str | None
    seconds: float

    @property
    def delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


async def send(target: Target, body: bytes, headers: Mapping[str, str]) -> Tried:
    began = time.monotonic()
    try:
        async with asyncio.timeout(TOTAL_SECONDS):
            status = await _post(target, body, headers)
    except TimeoutError:
        return Tried(None, f"no answer within {TOTAL_SECONDS:.0f} s", time.monotonic() - began)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return Tried(None, f"{type(error).__name__}: {error}"[:300], time.monotonic() - began)
    redirected = "the answer leads elsewhere, which is not followed" if 300 <= status < 400 else None
    return Tried(status, redirected, time.monotonic() - began)


async def _post(target: Target, body: bytes, headers: Mapping[str, str]) -> int:
    # The certificate must be that of the name, although the address is called; and no proxy of the environment, which would resolve anew.
    extensions = {"sni_hostname": target.host} if target.scheme == "https" else {}
    sent = {**headers, "Host": target.netloc, "Content-Type": "application/json", "User-Agent": "Bezmen", "Accept-Encoding": "identity"}
    async with (
        httpx.AsyncClient(trust_env=False, follow_redirects=False, verify=_trusted(), timeout=TOTAL_SECONDS) as client,
        client.stream("POST", target.pinned, content=body, headers=sent, extensions=extensions) as answer,
    ):
        seen = 0
        async for part in answer.aiter_raw():
            seen += len(part)
            if seen > MOST_BYTES:
                break
        return answer.status_code


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()
