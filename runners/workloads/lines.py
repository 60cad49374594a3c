"""A suite's file, line by line: strict, and every wrong line is named at once."""

import json
from collections.abc import Sequence

from pydantic import ValidationError

from runners.workloads.prompt import Prompt, SuiteError, did_you_mean


def prompts_of(suite: str, content: bytes) -> tuple[Prompt, ...]:
    """The prompts of a file in the order of their ids. Raises SuiteError."""
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise SuiteError(f"suite {suite} is not UTF-8 at byte {error.start}") from error
    prompts: dict[int, Prompt] = {}
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                prompts[number] = _prompt(line)
            except ValueError as error:
                wrong.append(f"line {number}: {error}")
    wrong += _doubled(prompts)
    if not wrong:
        wrong = _unpaired(tuple(prompts.values())) if prompts else ["it has no prompt"]
    if wrong:
        raise SuiteError("\n".join(f"suite {suite}, {text}" for text in wrong))
    return tuple(sorted(prompts.values(), key=lambda prompt: prompt.id))


def _prompt(line: str) -> Prompt:
    """Raises ValueError with a sentence for each wrong field."""
    try:
        fields = json.loads(line, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"is no JSON: {error.msg} at character {error.colno}") from error
    except RecursionError as error:
        raise ValueError("is nested too deep") from error
    if not isinstance(fields, dict):
        raise ValueError("is no JSON object")
    try:
        return Prompt.model_validate(fields)
    except ValidationError as error:
        raise ValueError("; ".join(_said(item["loc"], item["type"], item["msg"]) for item in error.errors())) from error


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field is given twice")
    return fields


def _said(place: tuple[int | str, ...], kind: str, message: str) -> str:
    field = ".".join(map(str, place))
    if kind == "missing":
        return f"the field {field!r} is missing"
    if kind == "extra_forbidden":
        return f"unknown field {field!r}{did_you_mean(field, tuple(Prompt.model_fields))}"
    return f"{field!r}: {message}"


def _doubled(prompts: dict[int, Prompt]) -> list[str]:
    first: dict[str, int] = {}
    twins: dict[tuple[str, str], int] = {}
    wrong = []
    for number, prompt in prompts.items():
        if (line := first.setdefault(prompt.id, number)) != number:
            wrong.append(f"line {number}: the id {prompt.id} is that of line {line} already")
        elif prompt.parallel and (line := twins.setdefault((prompt.parallel, prompt.language), number)) != number:
            wrong.append(f"line {number}: {prompt.parallel} has a prompt in {prompt.language} at line {line} already")
    return wrong


def _unpaired(prompts: Sequence[Prompt]) -> list[str]:
    """In a suite of several languages every parallel prompt exists in each, with one profile and one kind of answer."""
    languages = {prompt.language for prompt in prompts}
    if len(languages) == 1:
        return []
    wrong = [f"prompt {prompt.id}: has no parallel id, which a suite of several languages needs" for prompt in prompts if prompt.parallel is None]
    groups: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        if prompt.parallel:
            groups.setdefault(prompt.parallel, []).append(prompt)
    for parallel, group in sorted(groups.items()):
        missing = sorted(languages - {prompt.language for prompt in group})
        if missing:
            wrong.append(f"prompt {parallel}: has no twin in {', '.join(missing)}")
        if len({(prompt.profile, prompt.answer) for prompt in group}) > 1:
            wrong.append(f"prompt {parallel}: its twins differ in profile or kind of answer")
    return wrong
