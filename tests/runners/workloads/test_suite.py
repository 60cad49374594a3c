"""Suites are read strictly and selected evenly, the same twins in every language."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.suite import SHIPPED
from runners.workloads.suite import Suite, SuiteError, available, load, mix, parse, select

SUITE = load("parallel-v1")
LINE = {"id": "a-ru", "parallel": "a", "language": "ru", "profile": "dialogue", "answer": "prompt", "text": "Как дела?"}


def lines(*changes: dict[str, object]) -> bytes:
    return "\n".join(json.dumps(LINE | change, ensure_ascii=False) for change in changes).encode()


def test_the_shipped_suite() -> None:
    """Catches a lost line, a lost twin or a profile that is not even."""
    assert available() == ("parallel-v1", "parallel-v2")
    assert all(name.startswith(SHIPPED) for name in available())
    assert SUITE.languages == ("en", "ru")
    assert (len(SUITE.prompts), len({prompt.parallel for prompt in SUITE.prompts})) == (48, 24)
    for language in SUITE.languages:
        assert mix(select(SUITE, language)) == {"code": 6, "dialogue": 6, "editing": 6, "explanation": 6}
    assert len({prompt.text for prompt in SUITE.prompts}) == 48


def test_the_offer_of_the_shipped_suite() -> None:
    offered = SUITE.offered()
    assert (offered.id, offered.version, offered.prompts, offered.digest) == ("parallel-v1", "1", 24, SUITE.digest)
    assert offered.languages == ("en", "ru")


def test_the_digest_of_the_shipped_suite() -> None:
    """Catches a prompt edited without a new version: figures measured before would claim the same suite."""
    assert SUITE.digest == "27088d848a8e9eae37d2ccc9d43aa1fa70f96adac8c84997a03f4bf404da8f3f"


@pytest.mark.parametrize("readme", ["README.md", "README.ru.md"])
def test_the_readme_names_every_shipped_suite(readme: str) -> None:
    """Catches a suite, or a digest, that the documentation does not know."""
    text = (Path(__file__).parents[3] / readme).read_text(encoding="utf-8")
    assert [name for name in available() if f"`{name}`" not in text or load(name).digest not in text] == []


def test_digest_follows_content_and_nothing_else() -> None:
    """Catches a digest over bytes: line order, key order and blank lines carry nothing, a letter does."""
    ru, en = LINE, LINE | {"id": "a-en", "language": "en", "text": "How are you?"}
    one = parse("tiny-v1", lines(ru, en))
    other = parse("tiny-v1", b"\n" + json.dumps(dict(reversed(en.items()))).encode() + b"\r\n\n" + lines(ru) + b"\n")
    assert one == other
    assert parse("tiny-v1", lines(ru, en | {"text": "How are you??"})).digest != one.digest


@given(st.sets(st.sampled_from(SUITE.profiles), min_size=1), st.integers(1, 30))
def test_both_languages_select_the_same_twins(profiles: set[str], limit: int) -> None:
    """Catches a selection that depends on the language: pairs would silently fall apart."""
    ru, en = select(SUITE, "ru", profiles, limit), select(SUITE, "en", profiles, limit)
    assert [prompt.parallel for prompt in ru] == [prompt.parallel for prompt in en]
    assert {prompt.language for prompt in ru} == {"ru"}
    assert len(ru) == min(limit, 6 * len(profiles))
    counts = [mix(ru).get(profile, 0) for profile in profiles]
    assert max(counts) - min(counts) <= 1


@given(st.integers(1, 24), st.integers(1, 24))
def test_a_shorter_selection_starts_a_longer_one(one: int, other: int) -> None:
    """Catches a selection that reshuffles when the limit changes, so that more prompts would not extend a measurement."""
    short, long = sorted((one, other))
    assert select(SUITE, "ru", None, long)[:short] == select(SUITE, "ru", None, short)


def test_the_order_of_profiles_asked_for_does_not_matter() -> None:
    assert select(SUITE, "ru", ["editing", "code"], 5) == select(SUITE, "ru", ["code", "editing", "code"], 5)


def test_a_profile_answered_in_another_language_is_taken_only_by_name() -> None:
    """Catches translations in a figure of the language that was asked for, and an offer that counts them among what a run takes."""
    away = {"id": "t-ru", "parallel": "t", "profile": "translation", "answer": "other"}
    suite = parse("tiny-v1", lines({}, {"id": "b-ru", "parallel": "b", "answer": "other"}, away))
    assert [prompt.id for prompt in select(suite, "ru")] == ["a-ru", "b-ru"]
    assert [prompt.id for prompt in select(suite, "ru", ["translation"])] == ["t-ru"]
    assert (suite.apart, suite.offered().prompts) == (("translation",), 2)


def test_a_suite_of_translations_alone_is_taken_whole() -> None:
    """Catches a suite that nobody can run without naming its profiles."""
    suite = parse("tiny-v1", lines({"profile": "translation", "answer": "other"}))
    assert (suite.apart, len(select(suite, "ru"))) == ((), 1)


@pytest.mark.parametrize("tag", ["ru", "RU", "ru-RU"])
def test_a_regional_tag_finds_its_base(tag: str) -> None:
    assert select(SUITE, tag, None, 1)[0].language == "ru"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ru", ["dialog"], 2), "no profile 'dialog'; did you mean 'dialogue'?"),
        (("ru", ["xyz"], 2), "it has code, dialogue, editing, explanation"),
        (("de", None, 2), "no prompts in de; it has en, ru"),
        (("russian!", None, 2), "names no language|is not a language tag"),
        (("ru", [], 2), "no prompt in ru"),
    ],
)
def test_what_cannot_be_selected_is_said(arguments: tuple[str, list[str] | None, int], said: str) -> None:
    with pytest.raises(SuiteError, match=said.replace("?", r"\?")):
        select(SUITE, *arguments)


def test_an_unknown_suite_names_the_nearest() -> None:
    with pytest.raises(SuiteError, match="there is no suite 'paralel-v1'; did you mean 'parallel-v1'"):
        load("paralel-v1")


@pytest.mark.parametrize("path", ["../suite", "/etc/passwd", "parallel-v1.jsonl", ""])
def test_a_suite_is_no_path(path: str) -> None:
    """Catches a suite id that reads a file elsewhere."""
    with pytest.raises(SuiteError, match="there is no suite"):
        load(path)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"id": "b-en", "parallel": "b", "language": "en"}, "This prompt has no twin in en"),
        ({"id": "a-en", "language": "en", "profile": "code"}, "has another profile"),
        ({"id": "a-en", "language": "en", "parallel": None}, "Without a parallel id"),
    ],
)
def test_twins_must_be_complete(other: dict[str, object], said: str) -> None:
    """Catches a suite of ours whose pairs are not pairs."""
    with pytest.raises(SuiteError, match=said):
        parse("tiny-v1", lines({}, other))


def test_a_suite_of_one_language_needs_no_twins(tmp_path: Path) -> None:
    (tmp_path / "mine-v3.jsonl").write_bytes(lines({"parallel": None}))
    suite = load("mine-v3", tmp_path)
    assert isinstance(suite, Suite)
    assert (suite.version, suite.languages, select(suite, "ru")) == ("3", ("ru",), suite.prompts)
