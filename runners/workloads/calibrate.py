"""Error rates of the gates over texts: `python -m runners.workloads.calibrate --text ru=FOLDER --text en=FOLDER --write`.

Judges text that people wrote (a gate that fires is wrong) and loops made from it (a gate that stays silent is wrong). With `--model` the answers of a
real model are judged too; nobody says which of those loop, so the share is printed and no rate.
"""

import argparse
import datetime
import json
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest

from app.domain.degenerate import LIMIT, REPEAT, TAIL, is_degenerate
from app.domain.value import Value
from runners.workloads.honest import LENGTHS, files, messages, pieces, sources
from runners.workloads.language import MIN_LETTERS, agrees, measure
from runners.workloads.loops import all_of
from runners.workloads.suite import Prompt, available, load

# Beside the coverage of intervals: the service shows both and never looks into the laboratory.
TARGET = Path(__file__).parents[2] / "app" / "statistics" / "calibration.json"
LOCALES = Path("/usr/share/locale")
LANGUAGES = ("en", "ru")
GateName = Literal["degenerate", "other language"]
Wanted = Literal["none", "all", "unknown"]
SUITES = "prompts of the suites"
MOST = 1000  # texts of one source, language and length


class Rate(Value):
    """`flagged` of `n` texts made the gate fire; `low` and `high` are the exact 95 % interval of that share (Clopper and Pearson 1934)."""

    gate: GateName
    texts: str
    profile: str | None = None
    language: str
    characters: str
    flagged: int
    n: int
    low: float
    high: float
    wanted: Wanted


class Calibration(Value):
    """What was judged, when and by which limits."""

    date: str
    limits: dict[str, float]
    sources: tuple[str, ...]
    rates: tuple[Rate, ...]


def rate(gate: GateName, name: str, language: str, size: str, fired: list[bool], wanted: Wanted, profile: str | None = None) -> Rate:
    flagged, n = sum(fired), len(fired)
    found = binomtest(flagged, n).proportion_ci(method="exact")
    named = {"gate": gate, "texts": name, "profile": profile, "language": language, "characters": size, "wanted": wanted}
    return Rate.model_validate({**named, "flagged": flagged, "n": n, "low": found.low, "high": found.high})


def honest_rates(name: str, language: str, size: str, texts: list[str], profile: str | None = None) -> Iterator[Rate]:
    """Both gates on text that people wrote; undetermined languages are not counted."""
    if texts:
        yield rate("degenerate", name, language, size, [is_degenerate(text) for text in texts], "none", profile)
        measured = [found.language for found in (measure(text, declared=language) for text in texts) if found.language is not None]
        if measured:
            yield rate("other language", name, language, size, [not agrees(found, language) for found in measured], "none", profile)


def prompts(language: str) -> list[Prompt]:
    """The prompts of all suites; a text that stands in two of them is there once."""
    found = [prompt for suite in available() for prompt in load(suite).prompts if prompt.language == language]
    return list({prompt.text: prompt for prompt in found}.values())


def suite_rates(language: str) -> Iterator[Rate]:
    """Both gates on the prompts of the suites, all together and by profile."""
    found = prompts(language)
    yield from honest_rates(SUITES, language, "any", [prompt.text for prompt in found])
    for profile in dict.fromkeys(prompt.profile for prompt in found):
        yield from honest_rates(SUITES, language, "any", [prompt.text for prompt in found if prompt.profile == profile], profile)


def code_rates(folder: Path) -> Iterator[Rate]:
    """Source code is honest and says much again. It is no text in a language, so that gate is not asked."""
    for name, tests in (("source code", False), ("source code of tests", True)):
        texts = sources(folder, tests=tests)
        for length in LENGTHS[1:3]:
            found = pieces(texts, length, MOST)
            yield rate("degenerate", name, "en", str(length), [is_degenerate(text) for text in found], "none")


def loop_rates(language: str, texts: Iterable[str]) -> Iterator[Rate]:
    fired: dict[str, list[bool]] = {}
    for text in texts:
        for kind, loop in all_of(text):
            fired.setdefault(kind, []).append(is_degenerate(loop))
    for kind, flags in sorted(fired.items()):
        yield rate("degenerate", kind, language, "all lengths", flags, "all")


def language_rates(language: str, folders: list[Path]) -> Iterator[Rate]:
    """Everything about one language: prompts, message catalogues and folders of text, and loops made from the folders."""
    yield from suite_rates(language)
    yield from honest_rates("messages of programs", language, "any", messages(LOCALES, language, MIN_LETTERS)[: 10 * MOST])
    texts = [text for folder in folders for text in files(folder)]
    cut = {length: pieces(texts, length, MOST) for length in LENGTHS}
    for length, found in cut.items():
        yield from honest_rates("other texts", language, str(length), found)
    yield from loop_rates(language, (text for found in cut.values() for text in found[::10]))


def model_rates(path: str, file: str | None, tokens: int) -> Iterator[Rate]:
    from runners.workloads.answers import greedy_answers

    asked = [prompt for language in LANGUAGES for prompt in prompts(language)]
    answers = greedy_answers(path, file, [prompt.text for prompt in asked], tokens)
    for language in LANGUAGES:
        own = [(prompt, answer) for prompt, answer in zip(asked, answers, strict=True) if prompt.language == language]
        size = f"{tokens} tokens"
        yield rate("degenerate", "answers of a model", language, size, [is_degenerate(answer) for _, answer in own], "unknown")
        measured = [measure(answer, declared=language, quoted=prompt.text).language for prompt, answer in own if prompt.answer == "prompt"]
        known = [found for found in measured if found is not None]
        if known:
            yield rate("other language", "answers of a model", language, size, [not agrees(found, language) for found in known], "unknown")


def show(rates: Iterable[Rate]) -> None:
    table = Table("gate", "texts", "language", "characters", "fired", "of", "share", "95 % interval", "should fire on", box=None)
    for one in rates:
        share = f"{one.flagged / one.n:.2%}"
        interval = f"[{one.low:.2%}, {one.high:.2%}]"
        name = " ".join(filter(None, (one.texts, one.profile)))
        table.add_row(one.gate, name, one.language, one.characters, str(one.flagged), str(one.n), share, interval, one.wanted)
    Console(width=150).print(table)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m runners.workloads.calibrate", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--text", action="append", default=[], metavar="LANGUAGE=FOLDER", help="a folder of .md, .txt and .rst files")
    parser.add_argument("--source", action="append", default=[], help="what those texts are, kept with the rates")
    parser.add_argument("--model", help="a model folder whose answers to the suites are judged too")
    parser.add_argument("--file", help="the GGUF file in that folder")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--write", action="store_true", help=f"keep the rates in {TARGET.name}")
    options = parser.parse_args(arguments)
    folders = [(language, Path(folder)) for language, _, folder in (text.partition("=") for text in options.text)]
    rates = [one for language in LANGUAGES for one in language_rates(language, [folder for own, folder in folders if own == language])]
    rates += code_rates(Path(sysconfig.get_paths()["stdlib"]))
    if options.model:
        rates += model_rates(options.model, options.file, options.tokens)
    show(rates)
    if options.write:
        result = joined(rates, tuple(options.source), Calibration.model_validate_json(TARGET.read_text(encoding="utf-8")))
        TARGET.write_text(json.dumps(result.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def joined(rates: list[Rate], sources: tuple[str, ...], before: Calibration) -> Calibration:
    """What was measured now, and of `before` the kinds of text that were not, as long as the limits are the same."""
    limits = {"repeat_characters": REPEAT, "repeated_share": LIMIT, "closing_cycle_share": TAIL, "letters": MIN_LETTERS}
    again = {one.texts for one in rates}
    kept = [one for one in before.rates if before.limits == limits and one.texts not in again]
    named = dict.fromkeys([*(before.sources if kept else ()), *sources])
    return Calibration(date=datetime.date.today().isoformat(), limits=limits, sources=tuple(named), rates=(*rates, *kept))


if __name__ == "__main__":
    main(sys.argv[1:])
