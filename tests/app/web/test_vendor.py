"""What the pages load comes from here, unchanged, with its licence."""

import gzip
import hashlib
import re
from importlib.resources import files

import httpx
import pytest
from fastapi import FastAPI

from app.web import assets
from app.web.assets import STATIC

VENDOR = STATIC / "vendor"


def test_every_vendored_file_is_the_one_on_the_list() -> None:
    """Catches an edited or forgotten copy of somebody else's file."""
    listed = dict(reversed(line.split("  ", 1)) for line in (VENDOR / "SHA256SUMS").read_text().splitlines())
    present = {str(path.relative_to(VENDOR)): hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.rglob("*") if path.is_file()}
    present.pop("SHA256SUMS")
    assert present == listed


def test_every_vendored_package_has_a_version_and_a_licence() -> None:
    """Catches a package whose version or terms nobody knows."""
    for folder in VENDOR.iterdir():
        if folder.is_dir():
            assert re.fullmatch(r"[a-z-]+-\d+(\.\d+)+", folder.name)
            assert list(folder.glob("LICENSE*"))


def test_nothing_is_loaded_from_elsewhere() -> None:
    """Catches a CDN in a template, script or style sheet: the pages must work without a network."""
    own = [path for kind in ("*.html", "*.css", "*.js") for path in STATIC.parent.rglob(kind) if "vendor" not in path.parts]
    assert len(own) > 10
    for path in own:
        assert not re.search(r"""(src|href|url\(|import)\W{1,3}(https?:)?//""", path.read_text()), path


def test_no_template_has_inline_style_or_handler() -> None:
    """Catches what the policy of the pages would block in a browser. A saved file carries everything in itself and is served as a download."""
    for path in (STATIC.parent / "templates").glob("*.html"):
        if path.name == "standalone.html":
            continue
        text = path.read_text()
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text), path
        assert all("src=" in tag or "application/json" in tag for tag in re.findall(r"<script[^>]*>", text)), path


@pytest.fixture
async def client() -> httpx.AsyncClient:
    app = FastAPI()
    app.include_router(assets.router)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


async def test_plotly_is_that_of_the_installed_package(client: httpx.AsyncClient) -> None:
    """Catches a plotly.js of another version than the Python package, an answer that is not cached, or one that is sent uncompressed."""
    answer = await client.get(assets.plotly_address(), headers={"accept-encoding": "gzip"})
    original = (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == original
    assert len(gzip.compress(original, 1)) < len(original) / 2
    assert (await client.get("/assets/plotly-0.0.0.min.js")).status_code == 404
