"""Text that others wrote, in the files and comments that a build posts."""

from xml.etree import ElementTree

from app.commands.junit import junit
from app.commands.markdown import escaped, markdown
from app.commands.told import Row, Told

HOSTILE = "a|b\n# <img src=x> @everyone `x` [y](http://z) \x1b[31m \ud800 &amp;"


def told(answer: str = "does not hold", *rows: Row) -> Told:
    return Told("gate of run 1", HOSTILE, answer, "No", HOSTILE, rows, (HOSTILE,), HOSTILE, "/runs/1")  # type: ignore[arg-type]


def test_a_comment_is_text_whatever_it_holds() -> None:
    """Catches a label, a profile or a failure that mentions people, breaks the table or runs as HTML in the merge request."""
    out = markdown([told("does not hold", Row(HOSTILE, "1", why=HOSTILE, answer="does not hold"))], "http://127.0.0.1:8000", "en")
    assert "<img" not in out
    assert "@" not in out
    assert "\x1b" not in out
    (row,) = [line for line in out.splitlines() if line.startswith("| ✗")]
    assert row.replace("\\|", "").count("|") == 8
    assert escaped("1.05× [1.02, 1.08]") == "1.05× \\[1.02, 1.08\\]"


def test_a_file_for_a_build_server_is_xml_whatever_it_holds() -> None:
    """Catches a report that a build server cannot read, and a gate that cannot tell but looks green in it."""
    rows = [Row(HOSTILE, answer=answer, why=HOSTILE) for answer in ("holds", "does not hold", "could not be measured", "cannot tell")]
    suite = ElementTree.fromstring(junit([told("does not hold", *rows)]))[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "2", "0"]
    assert [case[0].tag for case in suite] == ["system-out", "failure", "error", "error"]
    alone = ElementTree.fromstring(junit([told("could not be measured")]))[0]
    assert (alone.get("tests"), alone.get("errors")) == ("1", "1")
