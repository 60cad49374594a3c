"""What is told, as the JUnit file that build servers show: a case for every condition."""

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as xml

from app.commands.told import Told
from app.gates.rule import Answer

# What XML 1.0 cannot hold, escaped or not.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(told: Sequence[Told]) -> bytes:
    """A suite each. What does not hold is a failure; what was not measured or cannot be told is an error, because neither is a pass."""
    root = xml.Element("testsuites", name="bezmen")
    for each in told:
        cases = list(_cases(each))
        answers = [answer for _, answer, _ in cases]
        counts = {"tests": len(cases), "failures": answers.count("does not hold"), "skipped": 0}
        counts["errors"] = sum(answer in {"could not be measured", "cannot tell"} for answer in answers)
        suite = xml.SubElement(root, "testsuite", {"name": _clean(f"bezmen {each.name}")} | {name: str(n) for name, n in counts.items()})
        for name, answer, said in cases:
            _case(xml.SubElement(suite, "testcase", classname=_clean(f"bezmen.{each.name}"), name=_clean(name)), answer, said)
    xml.indent(root)
    return bytes(xml.tostring(root, encoding="utf-8", xml_declaration=True))


def _cases(told: Told) -> Iterator[tuple[str, Answer, str]]:
    """Every condition; of what has none, the run or the comparison itself."""
    asked = [row for row in told.rows if row.answer is not None]
    for row in asked:
        assert row.answer is not None
        yield f"{row.figure} {row.bound}".strip(), row.answer, row.why
    if not asked:
        yield told.question, told.answer, told.sentence


def _case(case: xml.Element, answer: Answer, said: str) -> None:
    if answer == "holds":
        xml.SubElement(case, "system-out").text = _clean(said)
        return
    kind = "failure" if answer == "does not hold" else "error"
    xml.SubElement(case, kind, type=answer, message=_clean(said)).text = _clean(said)


def _clean(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
