"""The way from the bytes of a file to what it tells."""

from app.discovery import values_of
from app.domain.outside.imported import Imported
from app.domain.sentence import plain
from app.imports.formats.base import Document, Format, NotImported
from app.imports.parse import pair, parse

FORMATS: dict[str, Format] = {each.name: each for each in values_of("app.imports.formats", Format, "FORMAT")}


def imported(
    content: bytes, *, before: bytes | None = None, requests: int | None = None, concurrency: int | None = None, format: str | None = None
) -> Imported:
    """What a file tells. Of two texts of /metrics `before` is the earlier one, `requests` how many ended in between (llama-server does not say), and
    `concurrency` how many ran at a time. Without `format` the file is recognised. Raises NotImported alone."""
    document = parse(content) if before is None else pair(before, content, requests=requests, concurrency=concurrency)
    if isinstance(document.value, str):
        raise NotImported(
            plain(
                "This is no JSON. A server's /metrics counts since its start: give two of them, from before and after. Otherwise these are read: "
                "%(formats)s.",
                formats=_known(),
            )
        )
    found = recognise(document) if format is None else named(format)
    return by_word(found, found.read(document))


def by_word(format: Format, found: Imported) -> Imported:
    """What a file tells, where it says which of its counts are a person's word."""
    said = tuple(name for name in format.said if getattr(found.total.counts, name) is not None)
    return found.model_copy(update={"said": said}) if said else found


def named(format: str) -> Format:
    found = FORMATS.get(format)
    if found is None:
        raise NotImported(plain("There is no such format; these are read: %(formats)s.", formats=_known()))
    return found


def recognise(document: Document) -> Format:
    """The one format that looks like this document. Raises NotImported where none does, or several do."""
    found = [each for each in FORMATS.values() if each.looks_like(document)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotImported(plain("This looks like the file of no tool that is known here; these are read: %(formats)s.", formats=_known()))
    names = ", ".join(each.name for each in found)
    raise NotImported(plain("This may be the file of several tools; say which one: %(formats)s.", formats=names))


def _known() -> str:
    return ", ".join(sorted(FORMATS))
