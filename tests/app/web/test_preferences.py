"""Language and paper of a page."""

import pytest
from starlette.requests import Request

from app.web.preferences import local_path, locale_of, theme_of


def request(query: str = "", **headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": "/runs", "query_string": query.encode(), "headers": raw})


@pytest.mark.parametrize(
    ("asked", "locale"),
    [
        (request(), "en"),
        (request(accept_language="ru-RU,ru;q=0.9,en;q=0.8"), "ru"),
        (request(accept_language="de,fr;q=0.5"), "en"),
        (request(accept_language="ru", cookie="lang=en"), "en"),
        (request("lang=ru", cookie="lang=en"), "ru"),
        (request("lang=xx", accept_language="*"), "en"),
    ],
)
def test_address_cookie_browser_english(asked: Request, locale: str) -> None:
    """Catches a preference that is ignored, and one that cannot be served."""
    assert locale_of(asked) == locale


def test_an_unknown_theme_is_the_system_s() -> None:
    """Catches a cookie's text in an attribute of the page."""
    assert theme_of(request(cookie='theme="><script>')) is None
    assert theme_of(request(cookie="theme=dark")) == "dark"


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org", "/\\example.org", "javascript:alert(1)", "", "/a\r\nSet-Cookie: x=1"])
def test_the_way_back_stays_here(elsewhere: str) -> None:
    """Catches an open redirect."""
    assert local_path(elsewhere) == "/"
    assert local_path("/runs?language=ru") == "/runs?language=ru"
