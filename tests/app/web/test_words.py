"""The Russian words fit the English ones, and counts make sentences."""

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from app.errors import AppError
from app.reports.translate import CATALOGUES, gettext
from app.reports.words import ELSEWHERE
from app.runs.schemas import RunPage
from app.web.pages.runs import counts

README = Path(__file__).parents[3] / "README.ru.md"
with (CATALOGUES / "ru" / "LC_MESSAGES" / "messages.po").open("rb") as source:
    CATALOGUE = read_po(source, locale="ru")
MESSAGES = [message for message in CATALOGUE if message.id]


def placeholders(text: str) -> set[str]:
    # Russian needs "на русском" where English has one form, so `language_in` stands for `language`.
    return {name.removesuffix("_in") for name in re.findall(r"%\((\w+)\)s", text)}


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: str(message.id)[:40])
def test_every_translation_can_be_filled(message: Message) -> None:
    """Catches a lost or invented placeholder, a lone percent sign, a missing plural form, an unfinished entry."""
    english = [message.id] if isinstance(message.id, str) else list(message.id)
    russian = [message.string] if isinstance(message.string, str) else list(message.string)
    assert all(russian)
    assert not message.fuzzy
    assert len(russian) == (1 if isinstance(message.id, str) else CATALOGUE.num_plurals == 3 and 3)
    named = placeholders(english[-1])
    for text in russian:
        assert placeholders(text) == named
        if named:
            text % dict.fromkeys([*named, *(f"{name}_in" for name in named)], "x")


def test_russian_has_no_backticks_of_its_own() -> None:
    """Catches signs of Markdown on a page: where the English sentence stands without them, so does its place on the page."""
    pairs = [(str(message.id), str(message.string)) for message in MESSAGES]
    assert [russian for english, russian in pairs if "`" in russian and "`" not in english] == []


# What else the same thing has been called: each of these has one word in Russian.
OTHER_WORDS = {
    r"[кК]ампани": "серия", r"[рР]аннер": "исполнитель", r"\b[кК]еш": "кэш", r"\b[сС]лужб": "сервис", r"[зЗ]акрыт\w+ нагрузк": "замкнутая нагрузка",
    r"[пП]омешанн": "с помехами", r"[рР]авных токенов:": "ничьих",
    r"[зЗ]аголов\w+ не (даёт|идёт)|не идёт в заголов|в заголов(ке|ок)\b": "главные показатели",
    r"\b[хХ]эш": "хеш", r"[тТ]окенайзер": "токенизатор",
}  # fmt: skip


@pytest.mark.parametrize("other", OTHER_WORDS)
def test_one_thing_has_one_word(other: str) -> None:
    """Catches a second Russian word for what has one already, on the pages and in the README."""
    texts = [text for message in MESSAGES for text in ([message.string] if isinstance(message.string, str) else message.string or ())]
    texts += README.read_text(encoding="utf-8").splitlines()
    assert [text for text in texts if re.search(other, text)] == [], OTHER_WORDS[other]


def test_choices_are_named_as_their_hints_name_them() -> None:
    """Catches a hint that speaks of `request` and `process` above choices named otherwise."""
    hint = gettext("request: this prompt and its answer alone; process: also the earlier answers of a trial, whose order then matters", "ru")
    assert [gettext(choice, "ru") in hint for choice in ("request", "process")] == [True, True]


def test_titles_of_errors_are_those_of_the_errors() -> None:
    """Catches a translation of a title that no error has any more."""

    def family(kind: type[AppError]) -> set[str]:
        return {(kind.__doc__ or "").strip()}.union(*(family(child) for child in kind.__subclasses__()))

    assert set(ELSEWHERE) <= family(AppError)


def test_the_counts_of_the_list_make_a_sentence() -> None:
    """Catches counts that read as if finished runs and their outcomes were different runs."""
    page = RunPage(items=[], total=7, hidden=0, facets={}, counts={"all": 7, "succeeded": 4, "pays": 1, "does not pay": 3, "running": 1, "failed": 2})
    said = " ".join(text + behind for text, _, behind in counts(page, "en"))
    assert said == "4 finished: 1 pays, 3 do not pay. 1 is running, 2 failed."
    assert counts(page.model_copy(update={"counts": {"all": 0}}), "en") == []
