"""Bytes of a file that nobody vouches for, to a document: every bound is held while reading, and every error says its place."""

import gzip
import io
import json
import re
import zlib
from codecs import BOM_UTF8
from typing import Any, NoReturn

from app.domain.outside.untrusted import quoted
from app.domain.sentence import plain
from app.imports.formats.base import Document, NotImported

LARGEST_FILE = 64 * 2**20
DEEPEST = 64
# A value takes some 60 bytes in memory, however short it is in the file.
MOST_VALUES = 4_000_000
_MEBI = 2**20
_GZIP = b"\x1f\x8b"
# A text of JSON, to be passed over, or what is no number that can be kept.
_ODD = re.compile(r'"(?:[^"\\]|\\.)*+"|(?P<odd>-?Infinity|NaN|\d{40,})')
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|(?P<up>[\[{])|(?P<down>[\]}])')


class _Refused(Exception):
    """Raised inside the parser's hooks, which know no place."""


def parse(content: bytes) -> Document:
    """The document that a file holds, gzip opened. Raises NotImported."""
    text = _text(_opened(content))
    start = text.lstrip()[:1]
    if not start:
        raise NotImported(plain("The file is empty."))
    if start not in "{[":
        return Document(text)
    try:
        return Document(_value(text))
    except json.JSONDecodeError as error:
        if start == "{" and error.msg == "Extra data":
            return _lines(text)
        _no_json(error)


def pair(before: bytes, after: bytes, *, requests: int | None = None, concurrency: int | None = None) -> Document:
    """Two texts of a server's /metrics, and what is known of the requests in between. Raises NotImported."""
    texts = {"before": _text(_opened(before)), "after": _text(_opened(after))}
    return Document({**texts, "requests": requests, "concurrency": concurrency, "said": True})


def _opened(content: bytes) -> bytes:
    if len(content) > LARGEST_FILE:
        raise NotImported(plain("The file has more than %(most)s MiB.", most=LARGEST_FILE // _MEBI))
    if not content.startswith(_GZIP):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            found = stream.read(LARGEST_FILE + 1)
    except (OSError, EOFError, zlib.error):
        raise NotImported(plain("The file is compressed with gzip, and damaged or cut off; compress it again.")) from None
    if found.startswith(_GZIP):
        raise NotImported(plain("The file is compressed twice; decompress it once, and import it again."))
    if len(found) > LARGEST_FILE:
        raise NotImported(plain("The file has more than %(most)s MiB when it is decompressed.", most=LARGEST_FILE // _MEBI))
    return found


def _text(content: bytes) -> str:
    try:
        text = content.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NotImported(plain("This is not UTF-8 at byte %(byte)s of the file; save the file as UTF-8.", byte=error.start + 1), line=line) from None
    if sum(text.count(sign) for sign in ",[{\n") > MOST_VALUES:
        raise NotImported(plain("The file holds more than %(most)s values.", most=MOST_VALUES))
    return text


def _value(text: str, line: int | None = None) -> object:
    """Raises JSONDecodeError for what is no JSON, NotImported for what is more than that."""
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_constant)
    except RecursionError:
        _too_deep(text, line)
    except _Refused as twice:
        # Which of the two a tool meant cannot be known.
        said = plain("The field %(name)s is given twice in one object.", name=quoted(str(twice)))
        raise NotImported(said, line=line) from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        _odd(text, line)
    if _depth(value) > DEEPEST:
        _too_deep(text, line)
    return value


def _lines(text: str) -> Document:
    values, numbers = [], []
    lines = text.split("\n")
    last = max(number for number, line in enumerate(lines, 1) if line.strip())
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values.append(_value(line, number))
        except json.JSONDecodeError as error:
            whole = line.rstrip()
            if number == last and (error.pos >= len(whole) - 1 or not whole.endswith("}")):
                raise NotImported(plain("The last line is cut off; the file was perhaps copied while it was written."), line=number) from None
            _no_json(error, number)
        numbers.append(number)
    return Document(values, tuple(numbers))


def _no_json(error: json.JSONDecodeError, line: int | None = None) -> NoReturn:
    said = plain("This is no JSON from character %(place)s of the line on.", place=error.colno)
    raise NotImported(said, line=line or error.lineno) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _Refused(name)
            seen.add(name)
    return found


def _constant(_: str) -> NoReturn:
    raise ValueError("no number of JSON")


def _odd(text: str, line: int | None) -> NoReturn:
    """What made the parser stop: a word that is no number, or one with thousands of digits."""
    found = next((each for each in _ODD.finditer(text) if each["odd"]), None)
    at = found.start("odd") if found else 0
    place = at - text.rfind("\n", 0, at)
    said = (
        plain("There is a number of too many digits at character %(place)s of the line.", place=place)
        if found and found["odd"].isdecimal()
        else plain("NaN and Infinity are no numbers of JSON; there is one at character %(place)s of the line.", place=place)
    )
    raise NotImported(said, line=line or text.count("\n", 0, at) + 1) from None


def _depth(value: object) -> int:
    """How many lists and objects are in one another."""
    level, depth = [value], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        if depth > DEEPEST:
            break
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


def _too_deep(text: str, line: int | None) -> NoReturn:
    depth = at = 0
    for each in _BRACKETS.finditer(text):
        depth += 1 if each["up"] else -1 if each["down"] else 0
        if depth > DEEPEST:
            at = each.start()
            break
    raise NotImported(plain("This is nested more than %(most)s deep.", most=DEEPEST), line=line or text.count("\n", 0, at) + 1) from None
