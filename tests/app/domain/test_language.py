import pytest
from pydantic import TypeAdapter, ValidationError

from app.domain.language import Language, base_of, standard_tag


@pytest.mark.parametrize(
    ("text", "tag"),
    [("ru", "ru"), ("RU", "ru"), (" en ", "en"), ("pt_br", "pt-BR"), ("zh-hans", "zh-Hans"), ("iw", "he"), ("sr-Latn", "sr-Latn"), ("tt", "tt")],
)
def test_tags_have_one_form(text: str, tag: str) -> None:
    """Catches two spellings of one language that would never meet in a comparison."""
    assert standard_tag(text) == tag


@pytest.mark.parametrize(
    "text", ["", " ", "russian", "rus sian", "xx", "und", "mul", "zxx", "mis", "und-Cyrl", "ru-", "r", "русский", "en-XX-YY", "12"]
)
def test_what_names_no_language_is_refused(text: str) -> None:
    """Catches a passport whose language says nothing."""
    with pytest.raises(ValidationError, match=r"enter (one such as|a tag such as) ru or en"):
        TypeAdapter(Language).validate_python(text)


@pytest.mark.parametrize(("tag", "base"), [("pt-BR", "pt"), ("ru", "ru"), ("zh-Hans-CN", "zh")])
def test_base(tag: str, base: str) -> None:
    assert base_of(tag) == base


def test_a_standard_tag_stays_as_it_is() -> None:
    assert all(standard_tag(standard_tag(tag)) == standard_tag(tag) for tag in ("ru", "pt_br", "iw", "zh-hans"))
