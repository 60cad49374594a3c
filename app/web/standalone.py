"""A page as one file: styles, fonts, icons and plotly.js inside, so that it shows the same on a machine without network and years later."""

import asyncio
import base64
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from markupsafe import Markup

from app.reports.figures.theme import TEMPLATES
from app.web.assets import STATIC, plotly_source
from app.web.preferences import locale_of
from app.web.render import fragment

# The file says itself that nothing is to be fetched; what is inside is all inline.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'"
)
# Served by us it is a download and never a page of ours, which inline scripts must not be.
HEADERS = {"Content-Security-Policy": "sandbox; default-src 'none'", "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-cache"}
_PICO = "vendor/pico-2.1.1/pico.classless.min.css"
_SPRITE = "vendor/lucide-1.62.0/sprite.svg"


async def standalone(request: Request, template: str, headers: Mapping[str, str], **context: Any) -> Response:
    """A page that takes its frame from `base`, as a download."""
    locale, origin = locale_of(request), str(request.base_url).rstrip("/")
    query = f"?{request.url.query}" if request.url.query else ""
    shell = {
        "base": "standalone.html",
        "policy": POLICY,
        "source": f"{origin}{request.url.path}{query}",
        "saved": datetime.now(UTC),
        "sheets": _sheets(),
        "plotly_sheet": Markup(_text("plotly.css")),
        "sprite": Markup(_text(_SPRITE)),
        "scripts": await asyncio.to_thread(_scripts),
        "plot_setup": {"src": "", "styles": [], "templates": TEMPLATES},
    }
    body = _without_server(fragment(template, locale, **shell, **context), origin)
    return Response(body, media_type="text/html; charset=utf-8", headers=HEADERS | {"Content-Language": locale} | dict(headers))


def _text(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


@cache
def _sheets() -> tuple[Markup, ...]:
    fonts = re.sub(r"url\((vendor/[^)]+\.woff2)\)", lambda found: f"url({_data(found.group(1))})", _text("bezmen.css"))
    return Markup(_text(_PICO)), Markup(fonts)


def _data(name: str) -> str:
    return "data:font/woff2;base64," + base64.b64encode((STATIC / name).read_bytes()).decode()


@cache
def _scripts() -> tuple[Markup, ...]:
    """Trusted text of ours and of plotly's; inside a script element only its own end could break out."""
    found = (plotly_source().decode("utf-8"), _text("plots.js"))
    if any(re.search(r"</script|<!--", text, re.IGNORECASE) for text in found):
        raise RuntimeError("a script that would end its own element cannot be written into a page")
    return tuple(Markup(text) for text in found)


def _without_server(body: str, origin: str) -> str:
    """Icons point into the file, links to the service that it came from. Text of others is escaped, so no quote of it is taken for an attribute."""
    body = re.sub(r'href="/static/vendor/lucide[^"#]*#', 'href="#', body)
    return body.replace('href="/', f'href="{origin}/')
