"""The words of a server that nobody vouches for: what is there is a count or is refused, what is not there is absent."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypedDict

from app.domain.outside.reading import Absent
from app.domain.sentence import Sentence, plain

# Beyond what any server counts, and below 2^53, up to which a float is exact.
LARGEST = 10**15
LONGEST_LIST = 1_000_000
LONGEST_DRAFT = 10_000
LONGEST_QUOTE = 80
LONGEST_WORD = 256


class NotUnderstood(ValueError):
    """A server's answer is of a shape that is not known here; `sentence` names the key and what it is to be."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        super().__init__(sentence.text % sentence.values)


class Told(TypedDict):
    """The four counts that most engines tell, or None where one does not."""

    emitted: int | None
    rounds: int | None
    drafted: int | None
    verified: int | None


def whole(value: object, key: str) -> int:
    """A count. Raises NotUnderstood for all else: true is no 1, and 3.0 is no 3 in JSON."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise NotUnderstood(plain("%(key)s is to be a whole number from 0 to %(most)s.", key=key, most=str(LARGEST)))
    return value


def count(values: Mapping[str, object] | None, key: str) -> int | None:
    """The count under the last name of the dotted `key`; None where it, or what would hold it, is absent or null."""
    value = None if values is None else values.get(key.rpartition(".")[2])
    return None if value is None else whole(value, key)


def counts(values: Mapping[str, object] | None, key: str) -> tuple[int, ...] | None:
    """A list of counts, as `count`."""
    value = None if values is None else values.get(key.rpartition(".")[2])
    if value is None:
        return None
    if not isinstance(value, list | tuple) or len(value) > LONGEST_LIST:
        raise NotUnderstood(plain("%(key)s is to be a list of at most %(most)s whole numbers.", key=key, most=str(LONGEST_LIST)))
    return tuple(whole(each, f"{key}[{place}]") for place, each in enumerate(value))


def section(values: Mapping[str, object] | None, key: str) -> Mapping[str, object] | None:
    """The object under the last name of the dotted `key`, as `count`."""
    value = None if values is None else values.get(key.rpartition(".")[2])
    if value is not None and not isinstance(value, Mapping):
        raise NotUnderstood(plain("%(key)s is to be an object.", key=key))
    return value


def word(values: Mapping[str, object], key: str) -> str | None:
    """A name of at most 256 printable characters, as `count`."""
    value = values.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > LONGEST_WORD or not value.isprintable():
        raise NotUnderstood(plain("%(key)s is to be a name of at most %(most)s printable characters.", key=key, most=LONGEST_WORD))
    return value


def quoted(text: str) -> str:
    """A piece of the server's own text as it may be repeated: printable ASCII, at most 80 characters."""
    return text[:LONGEST_QUOTE].encode("unicode_escape").decode("ascii")[:LONGEST_QUOTE]


def absences(looked_for: Mapping[str, Iterable[str]], told: Mapping[str, object]) -> tuple[Absent, ...]:
    """The counts of `looked_for` that are None in `told`, each with the names under which it was looked for."""
    return tuple(Absent(count=name, looked_for=tuple(names)) for name, names in looked_for.items() if told.get(name) is None)


def steps_without_draft(steps: int | None, rounds: int | None, prompt_steps: int | None, shared: Callable[[str, str, str], Sentence]) -> int | None:
    """U out of a server's counter of steps: those that are neither a prompt's nor a round. Raises NotUnderstood, with what `shared` says of steps,
    those of prompts and rounds, where requests shared them."""
    if steps is None or rounds is None or prompt_steps is None:
        return None
    if steps < prompt_steps + rounds:
        raise NotUnderstood(shared(str(steps), str(prompt_steps), str(rounds)))
    return steps - prompt_steps - rounds


def known_steps(steps: int | None, rounds: int | None, undrafted: int | None) -> int | None:
    """What stands for U among `absences`: with steps and rounds counted only the prompts' share of steps is missing, which no counter tells."""
    return undrafted if rounds is None else steps
