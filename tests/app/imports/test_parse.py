"""A file is opened within bounds, and what is wrong with it is said with its place and without its text."""

import gzip
import json

import pytest

from app.domain.sentence import Sentence
from app.imports import parse as module
from app.imports.formats.base import NotImported
from app.imports.parse import LARGEST_FILE, pair, parse

SECRET = "the heron owes nobody an explanation"


def refused(content: bytes) -> str:
    with pytest.raises(NotImported) as error:
        parse(content)
    assert isinstance(error.value.fault.sentence, Sentence)
    assert SECRET not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The file is empty."),
        (b" \n\t\n", "The file is empty."),
        (b'{"a": "\xff"}', "not UTF-8 at byte 8 "),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8 at byte 1 "),
        (b'{\n "a": 1,\n "b": }', "line 3: This is no JSON from character 7 "),
        (b'{"a": NaN}', "line 1: NaN and Infinity are no numbers of JSON; there is one at character 7 "),
        (b'{"a": "NaN",\n "b": [1, -Infinity]}', "line 2: NaN and Infinity are no numbers of JSON; there is one at character 11 "),
        (b'{"a": ' + b"1" * 5000 + b"}", "line 1: There is a number of too many digits at character 7 "),
        (b'{"a": 1, "\\u0441": 2, "a": 3}', "The field a is given twice"),
        (b'{"a": 1}\n{"b": 2, "b": 3}', "line 2: The field b is given twice"),
        (b'{"a": 1}\n{"b": 2}\n{"c": {"d": 1', "line 3: The last line is cut off"),
        (b'{"a": 1}\n{"b": 2}\n{"c": "an unfinished te', "line 3: The last line is cut off"),
        (b'{"a": 1}\n{"b": 2}\n{"c": tru', "line 3: The last line is cut off"),
        (b'{"a": 1}\n{"b": }\n{"c": 1}', "line 2: This is no JSON from character 7 "),
        (b'{"a": 1}\n{"b": NaN}', "line 2: NaN"),
        (gzip.compress(b'{"a": 1}')[:-6], "damaged or cut off"),
        (b"\x1f\x8b" + bytes(40), "damaged or cut off"),
        (gzip.compress(gzip.compress(b'{"a": 1}')), "The file is compressed twice; decompress it once"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(content: bytes, said: str) -> None:
    """Catches an error without a place, one of Python's own, and a broken file that is read as if nothing were."""
    assert said in refused(content)


def test_no_text_of_the_file_is_repeated() -> None:
    """Catches a text of somebody's prompt in an error, and a field name as long as the file."""
    refused(json.dumps({"a": SECRET}).encode()[:-3])
    twice = refused(('{"' + "я" * 300 + '": 1, "' + "я" * 300 + '": 2}').encode())
    assert len(twice) < 200
    assert twice.isascii()


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_tower_of_brackets_is_a_sentence(opening: str) -> None:
    """Catches an error of recursion: a list in a list, ten million deep."""
    assert "nested more than 64 deep" in refused((opening * 2_000_000).encode())
    assert "nested more than 64 deep" in refused((opening * 65 + "1" + "]}"[opening != "["] * 65).encode())


def test_as_deep_as_allowed_is_read() -> None:
    """Catches a bound that is off by one."""
    assert parse(b"[" * 64 + b"]" * 64).value is not None


def test_a_small_file_that_grows_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a bomb: 64 KB of gzip that are 65 MB of blanks, and a million empty lists that take a hundred times their size."""
    assert "when it is decompressed" in refused(gzip.compress(b" " * (LARGEST_FILE + 1), 9))
    assert len(parse(gzip.compress(b"[1]")).value or ()) == 1  # type: ignore[arg-type]
    monkeypatch.setattr(module, "LARGEST_FILE", 9)
    assert "more than 0 MiB" in refused(b'{"a": 1, "b": 2}')
    monkeypatch.setattr(module, "LARGEST_FILE", LARGEST_FILE)
    monkeypatch.setattr(module, "MOST_VALUES", 100)
    assert "more than 100 values" in refused(b"[" + b"[]," * 200 + b"[]]")


def test_lines_keep_their_numbers() -> None:
    """Catches an error in the fifth line that is said to be in the third: blank lines count."""
    document = parse(b'\xef\xbb\xbf\n{"a": 1}\r\n\n\n{"b": 2}\n')
    assert (document.value, document.lines) == ([{"a": 1}, {"b": 2}], (2, 5))


def test_one_object_is_no_list_of_lines() -> None:
    """Catches a pretty-printed file that is taken for JSON Lines."""
    assert parse(b'{\n "a": 1\n}\n').lines is None
    assert parse(b"# HELP x\nx 1\n").value == "# HELP x\nx 1\n"


def test_two_texts_are_one_document() -> None:
    """Catches before and after exchanged."""
    value = pair(b"x 1\n", gzip.compress(b"x 2\n"), requests=3).value
    assert value == {"before": "x 1\n", "after": "x 2\n", "requests": 3, "concurrency": None, "said": True}
