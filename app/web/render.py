"""Templates with the words and numbers of one language; every page leaves here with the same strict headers."""

import re
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from app.reports import format, translate, words
from app.reports.figures._points import points_csv
from app.reports.figures.theme import TEMPLATES
from app.reports.retold import known
from app.web.assets import plotly_address, plotly_styles, static
from app.web.events import happened
from app.web.preferences import locale_of, theme_of

POLICY = "; ".join(
    [
        "default-src 'self'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "font-src 'self'", "connect-src 'self'",
        "object-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
    ]
)  # fmt: skip
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Vary": "Cookie, Accept-Language",
}
HTMX = {
    # Neither inline style nor eval passes the policy; a form with errors (422) is shown like any other answer.
    "includeIndicatorStyles": False,
    "allowEval": False,
    "selfRequestsOnly": True,
    "historyCacheSize": 0,
    "responseHandling": [
        {"code": "204", "swap": False},
        {"code": "[23]..", "swap": True},
        {"code": "422", "swap": True},
        {"code": "[45]..", "swap": False, "error": True},
    ],
}


def told(text: str, locale: str) -> str:
    """A sentence that came finished; marked as English on a page of another language where it is not known in that."""
    found = known(text, locale)
    if found is not None:
        return found
    first, newline, rest = text.partition("\n")
    return Markup('<span lang="en">{}</span>{}{}').format(first, newline, rest)


def lead(text: str) -> str:
    """A sentence without what an engine or a process wrote, which stands behind it on lines of its own."""
    return text.partition("\n")[0]


def quoted(text: str) -> str:
    """What stands behind it."""
    return text.partition("\n")[2]


def brief(text: str) -> str:
    """The sentence where there is no room for such words, so without those that lead to them."""
    first = lead(text)
    return first if first == text else re.sub(r"[;.] [^;.]*:$", ".", first)


def coded(text: str) -> Markup:
    """A sentence of ours with what stands between backticks as code."""
    pieces = text.split("`")
    whole = pieces if len(pieces) % 2 else [text]
    return Markup("").join(Markup("<code>{}</code>").format(piece) if place % 2 else escape(piece) for place, piece in enumerate(whole))


_SPEAKING: dict[str, Callable[..., Any]] = {
    "say": format.say, "counted": format.counted, "moment": format.moment, "duration": format.duration, "name_of": words.name_of,
    "state_of": words.state_of, "outcome_of": words.outcome_of, "arm_of": words.arm_of, "language_name": translate.language_name,
    "told": told, "happened": happened,
}  # fmt: skip


@lru_cache(maxsize=len(translate.LOCALES))
def environment(locale: str) -> Environment:
    """One per language, so that no template ever asks which language it speaks."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        # A template of tomorrow does not fit the code that runs today.
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    found.install_gettext_translations(translate.translations(locale), newstyle=True)  # type: ignore[attr-defined]
    found.globals |= {name: partial(speak, locale=locale) for name, speak in _SPEAKING.items()}
    found.globals |= {"decimal": lambda value: format.decimal(value, 0, locale), "static": static, "htmx_config": HTMX, "locale": locale}
    found.globals["points_csv"] = points_csv
    found.filters |= {"coded": coded, "lead": lead, "quoted": quoted, "brief": brief}
    return found


def fragment(template: str, locale: str, **context: Any) -> str:
    """A piece of a page, as its template alone renders it."""
    return environment(locale).get_template(template).render(**context)


def page(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """A whole page in the language of the request."""
    locale = locale_of(request)
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    shell = {
        "theme": theme_of(request),
        "here": here,
        "path": request.url.path,
        "who": getattr(request.state, "principal", None),
        "plot_setup": {"src": plotly_address(), "styles": plotly_styles(), "templates": TEMPLATES},
    }
    body = fragment(template, locale, **shell, **context)
    return HTMLResponse(body, status_code=status, headers=HEADERS | {"Content-Language": locale})
