"""The language in which a text is really written, measured; a declared one is only a claim."""

import re
from collections.abc import Iterable
from functools import cache

from lingua import Language as Known
from lingua import LanguageDetector, LanguageDetectorBuilder

from app.domain.degenerate import REPEAT
from app.domain.language import base_of, standard_tag
from app.domain.value import Value
from runners.workloads.suite import Prompt
from runners.workloads.words import count_letters

MIN_LETTERS = 40
# What a model falls into when it leaves the asked language, and near neighbours that must be told apart. The asked one joins the list where it is
# missing. Twenty take 2 s and 0.5 GB, all of it at the first use in pre-flight, so that memory stays level during the trials.
_CANDIDATES = (
    "ru", "uk", "be", "bg", "sr", "en", "de", "fr", "es", "it", "pt", "pl", "tr", "el", "ar", "he", "hi", "zh", "ja", "ko",
)  # fmt: skip
_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]*`")
_TAGGED = re.compile(r"<(code|pre)\b.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>\n]*>", re.IGNORECASE)
_URL = re.compile(r"(?:https?://|www\.)\S+|\b[\w.+-]+@[\w-]+\.\w+", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")


class Measured(Value):
    """`language` is a BCP-47 tag; None is undetermined: fewer than 40 letters, or nothing that the detector can tell. `letters` were judged."""

    language: str | None
    letters: int


class Mismatch(Value):
    """A prompt that is not in the language it is said to be in."""

    prompt: str
    declared: str
    measured: str
    letters: int


def measure(text: str, *, declared: str, quoted: str = "") -> Measured:
    """The language of an answer, judged on its own words: without code, digits, addresses and what it repeats of the prompt (`quoted`).

    `declared` is the language asked for: it joins the candidates, and where no detector knows it nothing is determined.
    """
    own = own_words(text, quoted)
    letters = count_letters(own)
    detector = _detector(base_of(declared))
    if letters < MIN_LETTERS or detector is None:
        return Measured(language=None, letters=letters)
    found = detector.detect_language_of(own)
    return Measured(language=None if found is None else standard_tag(found.iso_code_639_1.name.lower()), letters=letters)


def verify_prompts(prompts: Iterable[Prompt], language: str) -> tuple[Mismatch, ...]:
    """The prompts whose measured language has another base than the declared one; an undetermined prompt passes."""
    measured = ((prompt, measure(prompt.text, declared=language)) for prompt in prompts)
    return tuple(
        Mismatch(prompt=prompt.id, declared=language, measured=found.language, letters=found.letters)
        for prompt, found in measured
        if found.language is not None and not agrees(found.language, language)
    )


def agrees(measured: str, declared: str) -> bool:
    """Whether two tags name one language: equal bases, and either written norm of Norwegian for `no`."""
    norwegian = {"no", "nb", "nn"}
    return base_of(measured) == base_of(declared) or {base_of(measured), base_of(declared)} <= norwegian


def own_words(text: str, quoted: str = "") -> str:
    """The text without code (also in a fence that the token limit left open), markup, addresses, digits and quotes of the prompt."""
    for pattern in (_FENCE, _INLINE, _TAGGED, _TAG, _URL, _DIGITS):
        text = pattern.sub(" ", text)
    return _without_quotes(text, quoted)


def _without_quotes(text: str, quoted: str) -> str:
    """Drops every stretch of at least 24 characters that the prompt holds too; case and the amount of space do not matter."""
    words, source = " ".join(text.split()), " ".join(quoted.split()).lower()
    lowered = words.lower()
    if len(lowered) != len(words):  # a few capitals grow when lowered, and positions would shift
        words = lowered
    known = {source[start : start + REPEAT] for start in range(len(source) - REPEAT + 1)}
    keep = [True] * len(words)
    for start in range(len(words) - REPEAT + 1):
        if lowered[start : start + REPEAT] in known:
            keep[start : start + REPEAT] = [False] * REPEAT
    return "".join(sign if kept else " " for sign, kept in zip(words, keep, strict=True))


@cache
def _detector(declared: str) -> LanguageDetector | None:
    """High accuracy, since answers are short. None where no detector knows the language."""
    known = {language.iso_code_639_1.name.lower(): language for language in Known.all()}
    aliases = {"fil": ["tl"], "no": ["nb", "nn"]}
    asked = aliases.get(declared, [declared])
    if not all(code in known for code in asked):
        return None
    chosen = [known[code] for code in sorted({*_CANDIDATES, *asked})]
    return LanguageDetectorBuilder.from_languages(*chosen).with_preloaded_language_models().build()
