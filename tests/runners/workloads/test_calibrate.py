"""The error rates that pages print belong to the limits in force, and come from text that is what it is called."""

from collections import Counter
from pathlib import Path

from app.domain.degenerate import LIMIT, REPEAT, TAIL, is_degenerate
from runners.workloads.calibrate import SUITES, TARGET, Calibration, honest_rates, joined, loop_rates, rate
from runners.workloads.honest import files, messages, pieces
from runners.workloads.language import MIN_LETTERS
from runners.workloads.loops import all_of, counting, looping
from runners.workloads.suite import available, load

# Lists of like lines are a limit of the gate that the page names.
LISTS = {"source code of tests"}
KEPT = Calibration.model_validate_json(TARGET.read_text(encoding="utf-8"))
TEXT = "Первый абзац, в нём сорок с лишним букв.\n\n```js\nalert(1);\n\nalert(2);\n```\n\nВторой абзац, в нём тоже сорок букв и немного смысла."


def test_the_kept_rates_belong_to_the_limits_in_force() -> None:
    """Catches a limit that was changed without calibrating again."""
    assert KEPT.limits == {"repeat_characters": REPEAT, "repeated_share": LIMIT, "closing_cycle_share": TAIL, "letters": MIN_LETTERS}
    assert KEPT.sources


def test_the_gates_are_calibrated_on_both_languages_and_hold() -> None:
    """Catches a gate that fires on honest text of one language or misses loops; 10 % refuse a figure, so 3 % is the most for honest text."""
    for language in ("ru", "en"):
        honest = [one for one in KEPT.rates if one.language == language and one.wanted == "none" and one.n >= 500 and one.texts not in LISTS]
        assert {one.gate for one in honest} == {"degenerate", "other language"}
        assert all(one.high < 0.03 for one in honest)
        loops = [one for one in KEPT.rates if one.language == language and one.wanted == "all"]
        assert len(loops) == 5
        assert all(one.low > 0.98 for one in loops)


def test_every_prompt_of_every_suite_was_judged_in_its_profile() -> None:
    """Catches a suite or a profile, code and tool calling among them, that came after the rates; and a good prompt that a gate flags."""
    for language in ("ru", "en"):
        texts = {prompt.text: prompt.profile for suite in available() for prompt in load(suite).prompts if prompt.language == language}
        for gate in ("degenerate", "other language"):
            own = {one.profile: one for one in KEPT.rates if (one.texts, one.language, one.gate) == (SUITES, language, gate)}
            assert {profile: one.n for profile, one in own.items()} == {None: len(texts), **Counter(texts.values())}
            assert own[None].flagged == 0


def test_what_was_not_measured_again_stays_while_the_limits_do() -> None:
    """Catches rates of folders that are lost because a call had none, and rates that outlive their limits."""
    now = [rate("degenerate", "x", "ru", "40", [False] * 10, "none")]
    kept = joined(now, ("new",), KEPT)
    assert kept.rates == (*now, *KEPT.rates)
    assert kept.sources == (*KEPT.sources, "new")
    again = joined([one for one in KEPT.rates if one.texts == SUITES], (), KEPT)
    assert sorted(map(str, again.rates)) == sorted(map(str, KEPT.rates))
    assert joined(now, (), KEPT.model_copy(update={"limits": {}})).rates == tuple(now)


def test_rates_recount() -> None:
    """Catches a share printed beside other counts."""
    found = rate("degenerate", "x", "ru", "40", [True] * 3 + [False] * 7, "none")
    assert (found.flagged, found.n) == (3, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0667, 0.6525)


def test_undetermined_texts_are_not_counted_as_right() -> None:
    """Catches a language gate that looks good because it could not tell."""
    rates = {one.gate: one for one in honest_rates("x", "ru", "any", ["коротко", "Длинный русский текст, в котором хватает букв для измерения."])}
    assert (rates["degenerate"].n, rates["other language"].n) == (2, 1)


def test_pieces_begin_outside_code_and_do_not_overlap() -> None:
    """Catches code filed as prose, and one text counted twice."""
    assert pieces([TEXT], 10, 9) == ["Первый абз", "```js\naler", "Второй абз"]
    assert pieces([TEXT], 50, 9) == [TEXT[:50], TEXT[TEXT.index("Второй") :][:50]]
    assert pieces([TEXT], 1000, 9) == []
    assert len(pieces([TEXT] * 50, 40, 10)) == 10


def test_files_are_read_in_order(tmp_path: Path) -> None:
    for name, text in (("b.md", "два"), ("a.txt", "раз"), ("c.py", "нет")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert files(tmp_path) == ["раз", "два"]


def test_a_folder_without_catalogues_has_no_messages(tmp_path: Path) -> None:
    broken = tmp_path / "ru" / "LC_MESSAGES" / "x.mo"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no catalogue")
    assert messages(tmp_path, "ru", 40) == []


def test_loops_are_what_they_are_called() -> None:
    """Catches a detection rate over answers that do not loop."""
    text = load("parallel-v1").prompts[20].text
    loop = looping(text, 0.5, 20)
    assert loop is not None
    start = len(text) // 2
    assert loop[:start] == text[:start]
    assert all(loop[at] == loop[at + 20] for at in range(start, len(loop) - 20))
    assert looping("слишком коротко", 0, 20) is None
    items = counting(text, 60)
    assert items is not None
    assert items.startswith("1. ")
    assert "\n2. " in items
    assert sum(one.n for one in loop_rates("ru", [text])) == len(list(all_of(text)))
    assert not is_degenerate(text)
