"""What reading the answers of an import refuses, and what it leaves open (definitions § 5)."""

from app.domain.outside.imported import Imported
from app.domain.outside.texts import FEWEST_LETTERS, Script, Texts, script_of
from app.domain.sentence import Quantity, Sentence, plain
from app.reports import gates
from app.reports.gates import TOLERATED
from app.reports.words import mark

UNREAD = plain(
    "Nobody has read the answers: whether they are in that language, or repeat their prompts, is not checked of results measured elsewhere."
)
OTHER_LANGUAGE = plain("Enter the language that the answers are written in; import answers of several languages in parts.")
_ANSWERS_IN: dict[Script, str] = {
    "Cyrl": mark("Refused as %(language)s: %(failing)s of %(n)s answers are written in Cyrillic letters."),
    "Latn": mark("Refused as %(language)s: %(failing)s of %(n)s answers are written in Latin letters."),
}
_LETTERS_IN: dict[Script, str] = {
    "Cyrl": mark("Refused as %(language)s: %(share)s of the letters of the answers are Cyrillic."),
    "Latn": mark("Refused as %(language)s: %(share)s of the letters of the answers are Latin."),
}
_READ_FOR: dict[Script, str] = {
    "Cyrl": mark(
        "Of %(answers)s answers in the file %(read)s were read for loops and for Cyrillic letters alone: whether they are in %(language)s and not in "
        "another language of these letters, or repeat their prompts, is not checked."
    ),
    "Latn": mark(
        "Of %(answers)s answers in the file %(read)s were read for loops and for Latin letters alone: whether they are in %(language)s and not in "
        "another language of these letters, or repeat their prompts, is not checked."
    ),
}
_OTHER: dict[Script, Script] = {"Cyrl": "Latn", "Latn": "Cyrl"}


def refusal(imported: Imported, language: str | None) -> tuple[str, Sentence, Sentence] | None:
    """What the answers refuse every figure by, why, and what helps; None where nobody could read them, or nothing is wrong with them."""
    texts = imported.texts
    if texts is None:
        return None
    script = None if language is None else script_of(language)
    said = None if language is None or script is None else _other_script(texts, language, script)
    if said is not None:
        return "language", said, OTHER_LANGUAGE
    if texts.looping > TOLERATED * texts.read:
        looping = plain(
            "Refused: %(failing)s of %(n)s answers repeat themselves. Loops are easy to guess, so acceptance would flatter.",
            failing=texts.looping, n=texts.read,
        )  # fmt: skip
        return "degenerate", looping, gates.REMEDIES["degenerate"]
    return None


def _other_script(texts: Texts, language: str, script: Script) -> Sentence | None:
    """Answers in the other script, as a language is refused in runs; where answers are too short for that, the letters of all of them."""
    others, own = texts.answers_in(_OTHER[script]), texts.letters_in(script)
    whole = own + texts.letters_in(_OTHER[script])
    if others > TOLERATED * texts.judged:
        return plain(_ANSWERS_IN[_OTHER[script]], language=language, failing=others, n=texts.judged)
    if whole >= FEWEST_LETTERS and own < whole / 2:
        return plain(_LETTERS_IN[_OTHER[script]], language=language, share=Quantity(kind="share", value=1 - own / whole))
    return None


def notes(imported: Imported, language: str | None) -> list[Sentence]:
    """For what the answers were read, and for what not."""
    texts = imported.texts
    if texts is None:
        return [] if language is None else [UNREAD]
    found = []
    # Answers that are refused by their letters are told of there.
    script = None if language is None else script_of(language)
    if language is not None and (script is None or _other_script(texts, language, script) is None):
        found.append(_read_for(texts, language))
    if 0 < texts.looping <= TOLERATED * texts.read:
        found.append(
            plain(
                "%(failing)s of %(n)s answers repeat themselves; all stay in, since up to %(limit)s may.",
                failing=texts.looping,
                n=texts.read,
                limit=Quantity(kind="share", value=TOLERATED),
            )
        )
    return found


def _read_for(texts: Texts, language: str) -> Sentence:
    script = script_of(language)
    said: dict[str, str | int | Quantity] = {"read": texts.read, "answers": texts.answers, "language": language}
    if script is None:
        return plain(
            "Of %(answers)s answers in the file %(read)s were read for loops alone: whether they are in %(language)s is not checked.",
            **said,
        )
    if texts.letters_in("Cyrl") + texts.letters_in("Latn") < FEWEST_LETTERS:
        return plain(
            "Of %(answers)s answers in the file %(read)s were read for loops; they have too few letters to tell whether they are in %(language)s.",
            **said,
        )
    return plain(_READ_FOR[script], **said)
