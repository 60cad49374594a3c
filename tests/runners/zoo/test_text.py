"""The text that the zoo learns from: what is taken out of manual pages and web pages, and what is left out."""

import gzip
from pathlib import Path

import pytest

from runners.zoo import text
from runners.zoo.markup import is_prose, of_manual, of_web, tidy
from tests.runners.zoo.texts import ENGLISH, RUSSIAN

MANUAL = r"""
.\" a remark
.TH COPY 1 "2024"
.SH DESCRIPTION
The command
.B copy
reads \fIsource\fP \(em the first
.RB ( file ).
.PP
It never\-\-ever \(lqasks\(rq.
.nf
struct nothing { int of_this; };
.fi
.TP
.B \-q
Says nothing \e at all.
"""
WEB = """<html><head><title>Never</title><style>p { }</style></head><body><nav><p>Back to where you came from, please.</p></nav>
<h1>Cells</h1><p>Select <b>cells</b>
 and&nbsp;menu.</p><pre>code = 1</pre><ul><li>First.</li><li>Second.</li></ul></body></html>"""


def test_a_manual_page_reads_as_prose() -> None:
    """Catches macros, escapes and code that a model would learn to write."""
    assert list(filter(None, map(tidy, of_manual(MANUAL)))) == [
        "The command copy reads source — the first (file).",
        "It never--ever “asks”.",
        r"-q Says nothing \ at all.",
    ]


def test_a_web_page_reads_as_prose() -> None:
    """Catches navigation, code and style taken for text, and words glued together."""
    assert list(filter(None, map(tidy, of_web(WEB)))) == ["Cells", "Select cells and menu.", "First.", "Second."]


def test_prose_is_told_from_tables_and_from_the_other_language() -> None:
    """Catches untranslated paragraphs of Russian pages, which would make English of Russian."""
    for right, wrong, texts in (("en", "ru", ENGLISH), ("ru", "en", RUSSIAN)):
        assert all(is_prose(each, right) and not is_prose(each, wrong) for each in texts)
    assert not is_prose("Too short.", "en")
    assert not is_prose("0x01 0x02 0x03 0x04 0x05 0x06 0x07 0x08 0x09 0x0a 0x0b 0x0c 0x0d end.", "en")


def test_pages_of_a_cache_are_paired_by_key_and_said_once(tmp_path: Path) -> None:
    """Catches a held-out page whose translation is trained on, and boilerplate that comes in every page."""
    for package, language, texts in (("debian-faq", "en", ENGLISH), ("debian-faq-ru", "ru", RUSSIAN)):
        folder = tmp_path / "unpacked" / package
        folder.mkdir(parents=True)
        (folder / f"a.{language}.html").write_text(f"<p>{texts[0]}</p><p>{texts[1]}</p>")
        (folder / f"b.{language}.html").write_text(f"<p>{texts[0]}</p><p>{texts[2]}</p>")
        (folder / "man1").mkdir()
        (folder / "man1" / "copy.1.gz").write_bytes(gzip.compress(f".SH NAME\n{texts[0]}\n".encode()))
    found = text.pages(tmp_path)
    assert [(page.language, page.key) for page in found] == [(tag, key) for tag in ("en", "ru") for key in ("a.html", "b.html")]
    assert found[0].text == "\n".join(ENGLISH[:2])
    assert found[3].text == RUSSIAN[2]
    assert all(one.held_out == other.held_out for one, other in zip(found[:2], found[2:], strict=True))


def test_one_page_in_forty_is_held_out() -> None:
    """Catches a split that holds out nothing, or everything."""
    share = sum(text.Page("en", f"page-{number}.html", "").held_out for number in range(4000)) / 4000
    assert 0.015 < share < 0.035


def test_without_debians_tools_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(text.NoText, match="apt-get"):
        text.fetch(tmp_path)
