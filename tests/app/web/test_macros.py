"""The one macro that prints numbers, in each state; and that text from outside stays text."""

import re

import pytest

from app.reports.figures.base import Plot, Table
from app.reports.shown import Shown
from app.web.render import brief, environment, fragment

HOSTILE = '</script><img src=x onerror="alert(1)">'


def macro(call: str, locale: str = "en", **values: object) -> str:
    """What a macro renders, with white space squeezed."""
    text = environment(locale).from_string('{% import "macros.html" as m %}{{ m.' + call + " }}").render(**values)
    return re.sub(r"\s+", " ", text).strip()


def test_a_value_stands_with_interval_and_n() -> None:
    """Catches a number printed alone."""
    text = macro("fig(shown)", shown=Shown("value", value="0.97×", interval="[0.90, 1.05]", n="48 prompts"))
    assert '<b>0.97×</b> <span class="ci">[0.90, 1.05]</span> <span class="nn">48 prompts</span>' in text


KILLED = "llama.cpp was ended by SIGKILL; its last words:\nslot 3: <b>busy</b>\nout of memory"


@pytest.mark.parametrize(
    ("locale", "lead"), [("en", "llama.cpp was ended by SIGKILL; its last words:"), ("ru", "llama.cpp остановлен сигналом SIGKILL. Последние слова:")]
)
def test_words_of_an_engine_stand_as_it_wrote_them(locale: str, lead: str) -> None:
    """Catches lines of a log that run on within a sentence, in its size, or are read as markup."""
    text = environment(locale).from_string('{% import "macros.html" as m %}{{ m.saying(told(text)) }}').render(text=KILLED)
    words = '<pre class="words" lang="en" translate="no">slot 3: &lt;b&gt;busy&lt;/b&gt;\nout of memory</pre>'
    assert text.strip() == f"<p>{lead}</p>{words}"


def test_words_of_an_engine_take_no_place_of_a_number() -> None:
    """Catches a tile that is a log, and one that ends with "its last words:" and nothing behind it."""
    for state in ("absent", "refused"):
        text = macro('tile("Acceptance", shown)', shown=Shown(state, why=KILLED))  # type: ignore[arg-type]
        assert "llama.cpp was ended by SIGKILL." in text
        assert not re.search("last words|out of memory", text)
    unknown = environment("ru").from_string("{{ told(text)|lead }}").render(text="Nobody knows this:\nthe rest")
    assert unknown == '<span lang="en">Nobody knows this:</span>'
    assert brief("Ended. Its last words:\nx") == "Ended."
    assert brief("As it is; whatever:") == "As it is; whatever:"


def test_cannot_tell_keeps_its_value() -> None:
    """Catches an undecided number that is hidden, or looks decided."""
    text = macro("fig(shown)", shown=Shown("cannot tell", value="0.97×", interval="[0.90, 1.05]", n="48 prompts"))
    assert "unsure" in text
    assert "0.97×" in text


def test_a_suspect_value_warns() -> None:
    """Catches a suspect number without its reason."""
    text = macro("fig(shown)", shown=Shown("suspect", value="41%", why="does not close by 114"))
    assert "triangle-alert" in text
    assert "does not close by 114" in text


@pytest.mark.parametrize("state", ["absent", "refused", "pending"])
def test_no_value_is_a_reason_and_nothing_else(state: str) -> None:
    """Catches a dash, a zero or an N/A where a reason belongs."""
    text = macro("fig(shown)", shown=Shown(state, why="no draft was made"))  # type: ignore[arg-type]
    words = re.sub(r"<[^>]+>", "", text)
    assert "no draft was made" in words
    assert not re.search(r"\d|N/A|None|—", words)


def test_a_refusal_leads_to_the_list() -> None:
    """Catches a refusal that cannot be followed, and a tile without the remedy."""
    shown = Shown("refused", why="no tokenizer", remedy="Add it, and the figure appears.")
    assert 'href="#refused"' in macro("fig(shown)", shown=shown)
    assert "Add it, and the figure appears." in macro('tile("Acceptance", shown)', shown=shown)


@pytest.mark.parametrize(
    ("outcome", "css", "word"), [("pays", "pays", "pays"), ("does not pay", "loses", "does not pay"), ("cannot tell", "unsure", "cannot tell")]
)
def test_a_verdict_has_word_glyph_and_fill(outcome: str, css: str, word: str) -> None:
    """Catches a verdict that is colour alone."""
    text = macro("verdict(outcome)", outcome=outcome)
    assert f'class="v {css}"' in text
    assert "<svg" in text
    assert word in re.sub(r"<[^>]+>", "", text)


def test_a_missing_passport_entry_is_said() -> None:
    """Catches a blank in the passport."""
    assert "not recorded" in macro("full_passport(groups)", groups=[("What", [("weights", "", True)])])


def test_hostile_text_stays_text() -> None:
    """Catches text from a runner that becomes markup, in a cell, a caption or the JSON of a plot."""
    table = Table(("Profile",), ((HOSTILE,),))
    plot = Plot("x", HOSTILE, HOSTILE, HOSTILE, table, figure={"data": [{"y": [HOSTILE]}], "layout": {}})
    text = (
        macro("plot(plot)", plot=plot)
        + macro("fig(shown)", shown=Shown("refused", why=HOSTILE))
        + macro("passport(terms)", terms=[("target", HOSTILE)])
    )
    assert "<img" not in text
    assert text.count("</script>") == 1
    assert "\\u003c/script\\u003e" in text


def test_the_stage_of_a_run_is_escaped() -> None:
    """Catches a runner's words in the live stream."""
    assert "<img" not in fragment("_stage.html", "en", text=HOSTILE)


def test_both_languages_speak() -> None:
    """Catches a template environment that mixes languages."""
    assert "окупается" in macro("verdict('pays')", "ru")
    assert "pays" in macro("verdict('pays')", "en")


def test_a_stacked_row_names_its_numbers_and_skips_what_is_empty() -> None:
    """Catches a column that is out of sight on a phone, and a name with nothing behind it."""
    table = Table(("What", "From costs", "Measured"), (("a round", "", Shown("value", value="1.2")),))
    text = macro("table(table, 'Why', stack=True)", table=table)
    assert 'class="scroll"' not in text
    assert 'data-label="Measured"' in text
    assert "From costs" not in text.split("<tbody>")[1]
    assert "data-label" not in macro("table(table, 'Why')", table=table)
