"""A suite's file, line by line: strict, every wrong line is named at once, and no line is ever quoted: its text may be private."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from app.domain.prompt import LONGEST_TEXT, Fault, Prompt, nearest
from app.domain.sentence import Sentence, plain

MOST_PROMPTS = 10_000
# What a runner's offer can hold, and so what a run can ask for.
MOST_KINDS = 64

_NAME = plain("Write 1 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen, with a letter or a digit first.")
RULES: dict[str, Sentence] = {
    "id": _NAME,
    "parallel": _NAME,
    "profile": _NAME,
    "language": plain("Write a language tag such as ru or en."),
    "answer": plain('Write "prompt" for an answer in the language of the prompt, "code", or "other" for another language.'),
    "text": plain("Write 1 to %(most)s characters, not spaces alone and no NUL.", most=LONGEST_TEXT),
}
SHOWN_NAME = 64

Lines = dict[int, Prompt]


def read_lines(content: bytes) -> tuple[Lines, list[Fault]]:
    """(the prompts of a file by line number, everything that is wrong with it)."""
    prompts: Lines = {}
    wrong: list[Fault] = []
    # No byte of a character in UTF-8 but a line's end itself is 0x0A, so lines can be told apart first.
    for number, line in enumerate(content.removeprefix(BOM_UTF8).split(b"\n"), 1):
        if line.strip():
            found = _decoded(number, line)
            if isinstance(found, Prompt):
                prompts[number] = found
            else:
                wrong += found
    wrong += [*_doubled(prompts), *_unlike(prompts)]
    wrong.sort(key=lambda fault: fault.line or 0)
    return prompts, [*_size(prompts, wrong), *wrong]


def _decoded(number: int, line: bytes) -> Prompt | list[Fault]:
    try:
        return _prompt(number, line.decode())
    except UnicodeDecodeError as error:
        said = plain("This is not UTF-8 at byte %(byte)s of the line; save the file as UTF-8.", byte=error.start + 1)
        return [Fault(line=number, sentence=said)]


def _prompt(number: int, line: str) -> Prompt | list[Fault]:
    """The prompt of a line, or everything that is wrong with it."""

    def fault(sentence: Sentence, field: str | None = None) -> Fault:
        return Fault(line=number, field=field, sentence=sentence)

    twice: list[str] = []

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        twice.extend(name for place, name in enumerate(names) if name in names[:place])
        return dict(pairs)

    try:
        fields = json.loads(line, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        return [fault(plain("This is no JSON from character %(place)s on; a line is one JSON object in braces.", place=error.colno))]
    except (RecursionError, ValueError):
        return [fault(plain("This is nested too deep or holds too long a number; a prompt is an object of six texts."))]
    if not isinstance(fields, dict):
        return [fault(plain("This is no JSON object; a line is one object in braces."))]
    if twice:
        return [fault(plain("This field is given twice."), _shown(twice[0]))]
    try:
        return Prompt.model_validate(fields)
    except ValidationError as error:
        return [fault(_rule(item["type"], str(item["loc"][0])), _shown(str(item["loc"][0]))) for item in error.errors(include_input=False)]


def _rule(kind: str, field: str) -> Sentence:
    if kind == "missing":
        return plain("This field is missing.")
    if field in RULES:
        return RULES[field]
    known = tuple(Prompt.model_fields)
    close = nearest(field, known)
    if close:
        return plain("There is no such field; did you mean %(close)s?", close=close)
    return plain("There is no such field; a prompt has %(known)s.", known=", ".join(known))


def _shown(name: str) -> str:
    """A field's name as somebody wrote it, short and printable."""
    return "".join(sign if sign.isprintable() else "?" for sign in name[:SHOWN_NAME])


def _size(prompts: Mapping[int, Prompt], wrong: list[Fault]) -> Iterator[Fault]:
    if not prompts and not wrong:
        yield Fault(sentence=plain("The file has no prompt; write one JSON object a line."))
    if len(prompts) > MOST_PROMPTS:
        yield Fault(sentence=plain("The file has %(prompts)s; a suite has %(most)s at most.", prompts=len(prompts), most=MOST_PROMPTS))
    for field, kinds in (("profile", {p.profile for p in prompts.values()}), ("language", {p.language for p in prompts.values()})):
        if len(kinds) > MOST_KINDS:
            said = plain("The file has %(count)s different values here; a suite has %(most)s at most.", count=len(kinds), most=MOST_KINDS)
            yield Fault(field=field, sentence=said)


def _doubled(prompts: Mapping[int, Prompt]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    twins: dict[tuple[str, str], int] = {}
    for number, prompt in prompts.items():
        if (line := first.setdefault(prompt.id, number)) != number:
            yield Fault(line=number, field="id", sentence=plain("The prompt of line %(line)s has this id already.", line=line))
        elif prompt.parallel and (line := twins.setdefault((prompt.parallel, prompt.language), number)) != number:
            said = plain("The prompt of line %(line)s is the one of this parallel id in this language already.", line=line)
            yield Fault(line=number, field="parallel", sentence=said)


def _unlike(prompts: Mapping[int, Prompt]) -> Iterator[Fault]:
    """Twins of two kinds would be selected apart, and no pair of runs would be of the same prompts."""
    first: dict[str, int] = {}
    for number, prompt in prompts.items():
        if prompt.parallel:
            line = first.setdefault(prompt.parallel, number)
            if (prompts[line].profile, prompts[line].answer) != (prompt.profile, prompt.answer):
                said = plain("The twin of line %(line)s has another profile or another kind of answer; twins have the same.", line=line)
                yield Fault(line=number, field="parallel", sentence=said)


def unpaired(prompts: Mapping[int, Prompt]) -> list[Fault]:
    """What of a suite in several languages cannot be compared between them."""
    languages = {prompt.language for prompt in prompts.values()}
    if len(languages) < 2:
        return []
    spoken: dict[str, set[str]] = {}
    for prompt in prompts.values():
        if prompt.parallel:
            spoken.setdefault(prompt.parallel, set()).add(prompt.language)
    found = []
    for number, prompt in prompts.items():
        missing = sorted(languages - spoken.get(prompt.parallel, set())) if prompt.parallel else None
        if missing is None:
            said = plain("Without a parallel id this prompt is compared with no other language.")
        elif missing:
            said = plain("This prompt has no twin in %(tags)s, so it is not compared there.", tags=", ".join(missing))
        else:
            continue
        found.append(Fault(line=number, field="parallel", sentence=said))
    return found
