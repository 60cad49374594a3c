"""What the pages load: our own static files by digest, and plotly.js out of the installed package, compressed once."""

import asyncio
import gzip
import hashlib
import re
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response

STATIC = Path(__file__).parent / "static"
router = APIRouter(include_in_schema=False)
_FOREVER = "public, max-age=31536000, immutable"


@lru_cache(maxsize=64)
def static(name: str) -> str:
    """The address of a static file, which changes when the file does."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:10]
    return f"/static/{name}?v={digest}"


def plotly_source() -> bytes:
    """plotly.js as the installed package has it."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_bytes()


@lru_cache(maxsize=1)
def plotly_version() -> str:
    """Of plotly.js itself, from its first lines: the Python package has another number."""
    found = re.search(rb"plotly\.js v([0-9.]+)", plotly_source()[:400])
    if found is None:
        raise RuntimeError("the installed plotly package holds no plotly.js")
    return found.group(1).decode()


@lru_cache(maxsize=1)
def plotly_styles() -> list[str]:
    """Ids of the style elements that plotly.js would insert; where an element of that id is there already, it inserts none, as our policy wants."""
    return sorted({found.decode() for found in re.findall(rb'getElementById\("([0-9a-f]{64})"\)', plotly_source())})


@lru_cache(maxsize=1)
def _compressed() -> bytes:
    return gzip.compress(plotly_source(), 6)


def plotly_address() -> str:
    return f"/assets/plotly-{plotly_version()}.min.js"


@router.get("/assets/plotly-{version}.min.js")
async def plotly(version: str, request: Request) -> Response:
    """Any other version is not here; the browser keeps this one for a year."""
    if version != plotly_version():
        return Response(status_code=404)
    headers = {"Cache-Control": _FOREVER, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        body = await asyncio.to_thread(_compressed)
        return Response(body, media_type="text/javascript", headers=headers | {"Content-Encoding": "gzip"})
    return Response(await asyncio.to_thread(plotly_source), media_type="text/javascript", headers=headers)
