"""The two languages of the pages: .po files compiled in memory, so that no build step can be forgotten."""

import gettext as gnu
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

import app

LOCALES = ("en", "ru")
CATALOGUES = Path(app.__file__).parent / "web" / "locale"


@lru_cache(maxsize=len(LOCALES))
def translations(locale: str) -> gnu.NullTranslations:
    """The catalogue of a locale. English is what the sources say, so it has none."""
    path = CATALOGUES / locale / "LC_MESSAGES" / "messages.po"
    if locale not in LOCALES or not path.exists():
        return gnu.NullTranslations()
    with path.open("rb") as source:
        catalogue = read_po(source, locale=locale)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gnu.GNUTranslations(compiled)


@lru_cache(maxsize=16)
def cldr(locale: str) -> Locale:
    return Locale.parse(locale)


def gettext(text: str, locale: str) -> str:
    # The entry of the empty msgid is the catalogue's header.
    return translations(locale).gettext(text) if text else ""


def ngettext(one: str, many: str, n: int, locale: str) -> str:
    return translations(locale).ngettext(one, many, n)


def language_name(tag: str, locale: str) -> str:
    """The name of a BCP-47 language in another ("ru" in English is Russian); the tag itself where CLDR has no name."""
    try:
        return Locale.parse(tag, sep="-").get_display_name(locale) or tag
    except (UnknownLocaleError, ValueError):
        return tag
