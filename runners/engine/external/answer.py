"""One request to a served engine, what was heard of its answer, and the answer put together from it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.outside.streamed import Ended, Event, error_words
from app.domain.outside.untrusted import NotUnderstood
from runners.engine.external.faults import EngineFault
from runners.engine.external.words import tellable

DONE = b"[DONE]"
WORDS = 300


@dataclass(frozen=True)
class Ask:
    """`prompt` is what the model reads, with its chat template applied, or the ids of it. `planned_at` is when it is to be sent, None is at once."""

    prompt: str | tuple[int, ...]
    most_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    ignore_eos: bool = False
    stream: bool = True
    planned_at: float | None = None


@dataclass(frozen=True)
class Heard:
    """The events of one answer as they came, each with the time on the trial's clock; nothing is read before the last one is here, so that reading
    delays no other answer. `streamed` is false for an answer in one piece."""

    planned_at: float | None
    sent_at: float
    ended_at: float
    events: tuple[tuple[float, bytes], ...]
    streamed: bool


@dataclass(frozen=True)
class Delivery:
    """What came at once, with its number of tokens where ids or a running count are told."""

    at: float
    tokens: int | None
    characters: int


@dataclass(frozen=True)
class Answer:
    """`emitted` are the tokens delivered, by the server's word or by ids, never by pieces. `ids` is None, with the reason in `without_ids`, unless
    there is one for each of them. `body` is the last object that was sent, which holds what the engine counted."""

    text: str
    emitted: int | None
    ids: tuple[int, ...] | None
    without_ids: str | None
    finish: Ended
    body: Mapping[str, object]
    deliveries: tuple[Delivery, ...]
    planned_at: float | None
    sent_at: float
    ended_at: float

    @property
    def first_at(self) -> float | None:
        """Of the first token; None where none was delivered."""
        return self.deliveries[0].at if self.deliveries else None

    @property
    def last_at(self) -> float | None:
        return self.deliveries[-1].at if self.deliveries else None


# An event's object and what is known of the answer before it: its text and the number of its ids.
Read = Callable[[Mapping[str, object], str, int], Event]


def assemble(called: str, heard: Heard, read: Read, *, ends_with_done: bool) -> Answer:
    """Raises EngineFault for an answer that is cut short, is an error, or is not understood: a part of an answer is none."""
    text, ids_told, emitted, finish, whole = "", True, None, None, not heard.streamed
    ids: tuple[int, ...] = ()
    body: Mapping[str, object] = {}
    deliveries: list[Delivery] = []
    counted: int | None = 0
    for at, data in heard.events:
        if data == DONE:
            whole = True
            continue
        body = parsed(called, data)
        try:
            event = read(body, text, len(ids))
        except NotUnderstood as error:
            raise EngineFault("engine_unreadable", f"the answer of {called} is not understood: {error}") from error
        if event.error is not None:
            raise EngineFault("engine_refused", f"{called} broke off with an error: {shortened(event.error)}")
        after = _counted(counted, event)
        fresh = None if after is None or counted is None else max(0, after - counted)
        if event.text or event.ids or fresh:
            deliveries.append(Delivery(at, fresh, len(event.text)))
            # A token that ends within a character may be counted and not told.
            ids_told = ids_told and (event.ids is not None or not event.text)
        counted = after
        text, ids = text + event.text, ids + (event.ids or ())
        emitted = emitted if event.emitted is None else event.emitted
        finish = event.finish or finish
        whole = whole or (event.last and not ends_with_done)
    if finish is None or not whole:
        raise EngineFault("engine_cut", f"the answer of {called} was cut off after {len(text)} characters, before its end")
    known, lacking = _ids(called, ids if ids_told else None, emitted)
    count = len(known) if emitted is None and known is not None else emitted
    return Answer(text, count, known, lacking, finish, body, tuple(deliveries), heard.planned_at, heard.sent_at, heard.ended_at)


def _counted(before: int | None, event: Event) -> int | None:
    """The tokens of an answer up to this event, by the server's own count or by ids; None where it tells neither."""
    if event.emitted is not None:
        return event.emitted
    if event.ids is None and not event.text:
        return before
    return None if before is None or event.ids is None else before + len(event.ids)


def _ids(called: str, ids: tuple[int, ...] | None, emitted: int | None) -> tuple[tuple[int, ...] | None, str | None]:
    if ids is None or (not ids and emitted):
        return None, f"{called} told no token ids"
    if emitted is not None and len(ids) != emitted:
        return None, f"{called} told the ids of {len(ids)} of {emitted} tokens"
    return ids, None


def parsed(called: str, data: bytes) -> Mapping[str, object]:
    """The object that `data` is. Raises EngineFault for anything else, NaN and infinity included."""
    try:
        found = json.loads(data.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise EngineFault("engine_unreadable", f"{called} sent what is no JSON: {shortened(data[:WORDS].decode(errors='replace'))}") from error
    if not isinstance(found, dict):
        raise EngineFault("engine_unreadable", f"{called} sent {type(found).__name__} where an object is expected")
    return found


def _no_number(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def words_of(data: bytes) -> str:
    """What a server says with an error, in its own words."""
    try:
        found = json.loads(data.decode())
    except (ValueError, RecursionError):
        found = None
    own = error_words(found) if isinstance(found, dict) else None
    return shortened(own if own is not None else data.decode(errors="replace"))


def shortened(words: str) -> str:
    """On one line, without folders of this machine, of 300 characters at most."""
    line = " ".join(tellable(words).split())
    return line if len(line) <= WORDS else line[: WORDS - 1] + "…"
