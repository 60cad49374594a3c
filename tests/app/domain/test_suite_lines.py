"""A suite's file is read strictly, and whatever is wrong with it is said by line, without a word of its text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.prompt import Fault, Prompt, SuiteError
from app.domain.suite import MAX_BYTES, SHOWN_FAULTS, Suite, parse, select
from app.domain.suite_lines import MOST_PROMPTS, read_lines

SECRET = "the heron owes nobody an explanation"
LINE = {"id": "a-ru", "parallel": "a", "language": "ru", "profile": "dialogue", "answer": "prompt", "text": SECRET}


def lines(*changes: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(LINE | change) for change in changes).encode()


def faults(content: bytes) -> tuple[Fault, ...]:
    with pytest.raises(SuiteError) as error:
        parse("tiny-v1", content)
    return error.value.faults


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"txt": "x"}, "txt", "did you mean text?"),
        ({"zzzz": "x"}, "zzzz", "a prompt has id, parallel, language"),
        ({"language": "xx-nonsense"}, "language", "a language tag such as ru"),
        ({"language": "und"}, "language", "a language tag such as ru"),
        ({"language": 7}, "language", "a language tag such as ru"),
        ({"answer": "perhaps"}, "answer", '"prompt"'),
        ({"text": "  \n"}, "text", "1 to 32768 characters"),
        ({"text": "x" * 32_769}, "text", "1 to 32768 characters"),
        ({"text": "a\0b"}, "text", "no NUL"),
        ({"text": None}, "text", "1 to 32768 characters"),
        ({"profile": "a b"}, "profile", "A-Z, a-z, 0-9"),
        ({"id": "x" * 65}, "id", "1 to 64"),
        ({}, "id", "line 1 has this id"),
        ({"id": "b-ru"}, "parallel", "line 1 is the one of this parallel id"),
        ({"id": "a-en", "language": "en", "profile": "code"}, "parallel", "another profile"),
    ],
)
def test_a_wrong_line_is_named_with_its_field(change: dict[str, Any], field: str, said: str) -> None:
    """Catches a lenient reader, and an error that does not say where and what would be right."""
    found = faults(lines({}, change))
    assert [(fault.line, fault.field) for fault in found] == [(2, field)]
    assert said in str(found[0])


def test_every_wrong_line_is_named_at_once() -> None:
    """Catches one error per try, and a missing field that is not named."""
    content = b'{"id": "a"}\nnot json\n[1]\n' + lines({}).replace(b'{"id"', b'{"id": "a", "id"') + b"\n" + b"[" * 100_000 + b"\n" + b"1" * 5000
    found = faults(content)
    assert [(fault.line, fault.field) for fault in found if fault.line == 1] == [(1, name) for name in ("language", "profile", "answer", "text")]
    assert [fault.line for fault in found] == [1, 1, 1, 1, 2, 3, 4, 5, 6]
    assert [str(fault).split(":")[0] for fault in found[4:]] == ["line 2", "line 3", "line 4, id", "line 5", "line 6"]


def test_a_byte_that_is_no_text_hides_nothing() -> None:
    """Catches one bad byte without its line, and the faults of all other lines unsaid until it is mended."""
    found = faults(lines({}) + b"\n{\xff}\nno json\n" + lines({"id": "b", "parallel": "b", "text": ""}))
    assert [(fault.line, fault.field) for fault in found] == [(2, None), (3, None), (4, "text")]
    assert "not UTF-8 at byte 2 of the line" in str(found[0])


def test_no_more_faults_than_a_person_reads() -> None:
    """Catches an answer of a megabyte for a file of another format."""
    with pytest.raises(SuiteError) as error:
        parse("tiny-v1", b"x\n" * 100)
    said = str(error.value).split("\n")
    assert (len(said), said[-1]) == (SHOWN_FAULTS + 1, "suite tiny-v1: and 80 more")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The file has no prompt"),
        (b"\n \n", "The file has no prompt"),
        (lines(*({"id": f"p{n}", "parallel": None} for n in range(MOST_PROMPTS + 1))), "10000 at most"),
        (lines(*({"id": f"p{n}", "parallel": None, "profile": f"k{n}"} for n in range(65))), "profile: The file has 65 different values"),
    ],
)
def test_a_wrong_file_is_refused(content: bytes, said: str) -> None:
    found = faults(content)
    assert found[0].line is None
    assert said in str(found[0])


def test_a_large_file_is_not_even_read() -> None:
    with pytest.raises(SuiteError, match="more than 8 MiB"):
        parse("tiny-v1", b"x" * (MAX_BYTES + 1))


@pytest.mark.parametrize("name", ["tiny", "Tiny-v1", "tiny-v", "tiny-v1 ", "tiny-v1234567890", "x" * 62 + "-v1", ""])
def test_a_suite_without_a_version_is_refused(name: str) -> None:
    with pytest.raises(SuiteError, match="named like parallel-v1"):
        parse(name, lines({}))


def test_what_cannot_be_compared_is_a_warning() -> None:
    """Catches a suite refused for a missing twin, and one taken without a word about it."""
    suite, warnings = parse(
        "tiny-v1", lines({}, {"id": "a-en", "language": "en"}, {"id": "b-en", "parallel": "b", "language": "en"}, {"id": "c", "parallel": None})
    )
    assert len(suite.prompts) == 4
    assert [(fault.line, fault.field) for fault in warnings] == [(3, "parallel"), (4, "parallel")]
    assert "no twin in ru" in str(warnings[0])


def test_a_byte_order_mark_and_windows_line_ends_carry_nothing() -> None:
    plain, _ = parse("tiny-v1", lines({}, {"id": "b", "parallel": "b"}))
    other, _ = parse("tiny-v1", b"\xef\xbb\xbf" + lines({}, {"id": "b", "parallel": "b"}).replace(b"\n", b"\r\n") + b"\r\n")
    assert plain == other


def of(*kinds: tuple[str, str | None, str]) -> Suite:
    return parse("tiny-v1", lines(*({"id": id, "parallel": parallel, "language": language} for id, parallel, language in kinds)))[0]


def test_prompts_without_a_twin_come_last() -> None:
    """Catches selections of two languages that part because one of them has prompts of its own."""
    suite = of(("a1", "a", "ru"), ("b1", "b", "ru"), ("c1", "c", "ru"), ("0", None, "ru"), ("a2", "a", "en"), ("c2", "c", "en"))
    assert [prompt.id for prompt in select(suite, "ru")] == ["a1", "c1", "0", "b1"]
    assert [prompt.parallel for prompt in select(suite, "ru", None, 2)] == [prompt.parallel for prompt in select(suite, "en", None, 2)]


WORDS = st.sampled_from(['"', "{", "}", "[", ":", ",", "\n", "\0", "\\ud800", "id", "text", "language", "ru", "1e999", "null", SECRET])
NOISE = st.one_of(st.binary(max_size=200), st.lists(WORDS, max_size=30).map(lambda parts: "".join(parts).encode()))
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=80), st.just(SECRET), st.lists(st.text(), max_size=2))
OBJECTS = st.dictionaries(st.one_of(st.sampled_from(sorted(Prompt.model_fields)), st.text(max_size=20)), VALUES, max_size=7)
MENDED = OBJECTS.map(lambda change: LINE | change)
FILES = st.lists(st.one_of(NOISE, st.one_of(OBJECTS, MENDED).map(lambda fields: json.dumps(fields).encode())), max_size=5).map(b"\n".join)


@given(FILES)
def test_whatever_comes_is_read_or_named(content: bytes) -> None:
    """Catches a crash on hostile bytes, a wrong line that passes, a prompt that cannot be stored, and a fault that repeats what stood there."""
    prompts, wrong = read_lines(content)
    assert prompts or wrong
    for prompt in prompts.values():
        prompt.text.encode()
        assert "\0" not in prompt.text
        assert Prompt.model_validate_json(prompt.model_dump_json()) == prompt
    for fault in wrong:
        assert SECRET not in str(fault)
        str(fault).encode()
    if not wrong:
        suite, _ = parse("tiny-v1", content)
        assert len(suite.prompts) == len(prompts)
        assert {suite.offered().prompts} <= set(range(1, 6))
