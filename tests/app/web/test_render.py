"""Pages leave with a strict policy; errors are pages too."""

import httpx
import pytest
from fastapi import FastAPI

from app import errors
from app.errors import NotFound
from app.metrics.catalogue import METRICS
from app.web.errors import error_page
from app.web.pages.methodology import router
from app.web.render import coded

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
async def client() -> httpx.AsyncClient:
    app = FastAPI()
    app.include_router(router)
    errors.install(app, error_page)

    @app.get("/broken")
    async def broken() -> None:
        raise NotFound(HOSTILE, fields=[{"pointer": "/drafter/name", "detail": HOSTILE}])

    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", headers={"accept": "text/html"})


@pytest.mark.parametrize("path", ["/methodology", "/broken"])
async def test_every_page_has_the_policy(client: httpx.AsyncClient, path: str) -> None:
    """Catches a page that allows inline script or style, framing, sniffing, or a cache that mixes languages."""
    headers = (await client.get(path)).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["object-src"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["vary"] == "Cookie, Accept-Language"
    assert headers["content-language"] == "en"


async def test_an_error_is_a_page_with_its_status(client: httpx.AsyncClient) -> None:
    """Catches an error that answers 200, hides the field, or runs what it quotes."""
    answer = await client.get("/broken")
    assert answer.status_code == 404
    assert "drafter.name" in answer.text
    assert "<img" not in answer.text


async def test_a_page_speaks_the_language_asked_for(client: httpx.AsyncClient) -> None:
    """Catches a page whose words, `lang` and header disagree."""
    answer = await client.get("/methodology", headers={"accept-language": "ru"})
    assert '<html lang="ru">' in answer.text
    assert "Что значит каждое число?" in answer.text
    assert answer.headers["content-language"] == "ru"


async def test_every_figure_of_the_catalogue_is_explained(client: httpx.AsyncClient) -> None:
    """Catches a figure without an anchor that its name can lead to."""

    text = (await client.get("/methodology")).text
    assert all(f'id="{id}"' in text for id in METRICS)


def test_what_is_typed_stands_as_code() -> None:
    """Catches backticks that a reader sees, and a hint of a runner that would be markup."""
    assert coded("run `make demo` <b>") == "run <code>make demo</code> &lt;b&gt;"
    assert coded("`<i>`") == "<code>&lt;i&gt;</code>"
    assert coded("a lone ` stays") == "a lone ` stays"
