"""What one event of a served engine's stream says, in the key names of the three interfaces that are spoken here; an answer that is not streamed is
one event. Shapes were read from llama-server b11434, vLLM 0.32.0 and SGLang 0.5.23."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.domain.outside.untrusted import NotUnderstood, count, counts, section
from app.domain.sentence import plain

Ended = Literal["eos", "length", "stop"]


@dataclass(frozen=True)
class Event:
    """`text` and `ids` are what is new, `ids` None where they are not told; `emitted` is the server's own count of the answer so far. `finish` says
    how the answer ended, `last` that nothing of it follows; `error` are the server's words instead of an answer."""

    text: str = ""
    ids: tuple[int, ...] | None = None
    emitted: int | None = None
    finish: Ended | None = None
    last: bool = False
    error: str | None = None


def llama_event(data: Mapping[str, object]) -> Event:
    """An event of llama-server's own /completion. A token that ends within a character has none: the ids of a stream may lack some."""
    if (error := error_words(data)) is not None:
        return Event(error=error)
    last = data.get("stop") is True
    kinds: dict[object, Ended] = {"eos": "eos", "limit": "length", "word": "stop"}
    return Event(
        text=_text(data, "content"),
        ids=counts(data, "tokens"),
        emitted=count(data, "tokens_predicted"),
        finish=kinds.get(data.get("stop_type")) if last else None,
        last=last,
    )


def openai_event(data: Mapping[str, object], *, stops: bool) -> Event:
    """An event of /v1/completions or /v1/chat/completions with one choice. `stops` says that the request named stop strings: a server that tells no
    `stop_reason` does not say whether the end was one of them."""
    if (error := error_words(data)) is not None:
        return Event(error=error)
    emitted = count(section(data, "usage"), "usage.completion_tokens")
    choices = data.get("choices")
    if not isinstance(choices, list) or len(choices) > 1 or not all(isinstance(each, Mapping) for each in choices):
        raise NotUnderstood(plain("%(key)s is to be a list of one object.", key="choices"))
    if not choices:
        return Event(emitted=emitted)
    choice: Mapping[str, object] = choices[0]
    said = section(choice, "delta") or section(choice, "message")
    text = _text(choice, "text") if said is None else _text(said, "reasoning_content") + _text(said, "content")
    return Event(text=text, ids=counts(choice, "token_ids"), emitted=emitted, finish=_finish(choice, stops))


def _finish(choice: Mapping[str, object], stops: bool) -> Ended | None:
    reason = choice.get("finish_reason")
    if reason is None or reason == "length":
        return "length" if reason else None
    if reason != "stop":
        raise NotUnderstood(plain("%(key)s is to be stop or length.", key="finish_reason"))
    if "stop_reason" in choice:
        return "eos" if choice["stop_reason"] is None else "stop"
    return "stop" if stops else "eos"


def sglang_event(data: Mapping[str, object], before: str, ids_before: int) -> Event:
    """An event of SGLang's own /generate, which repeats the answer from its beginning: `before` and `ids_before` are how much of it is known."""
    if (error := error_words(data)) is not None:
        return Event(error=error)
    told, text, ids = section(data, "meta_info"), _text(data, "text"), counts(data, "output_ids")
    if not text.startswith(before):
        raise NotUnderstood(plain("%(key)s is to repeat what was sent before.", key="text"))
    reason = section(told, "meta_info.finish_reason")
    kind = None if reason is None else reason.get("type")
    if kind not in (None, "stop", "length"):
        return Event(error=str(reason))
    finish: Ended | None = None if reason is None else "length" if kind == "length" else "stop" if isinstance(reason.get("matched"), str) else "eos"
    emitted = count(told, "meta_info.completion_tokens")
    return Event(text[len(before) :], None if ids is None else ids[ids_before:], emitted, finish)


def model_of(data: Mapping[str, object]) -> str | None:
    """The name under which the server says that it answered; some answer with another model than they were asked for."""
    name = data.get("model")
    return name if isinstance(name, str) else None


def error_words(data: Mapping[str, object]) -> str | None:
    """The server's own words where it answers with an error; None where it does not."""
    error = data.get("error")
    if error is None and data.get("object") == "error":
        error = data
    if error is None and "detail" in data:
        error = data["detail"]
    if isinstance(error, Mapping):
        error = error.get("message", error)
    return None if error is None else str(error)


def _text(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    if value is None:
        return ""
    # Half of a pair of surrogates can be written in JSON, and nowhere else.
    if not isinstance(value, str) or any("\ud800" <= each <= "\udfff" for each in value):
        raise NotUnderstood(plain("%(key)s is to be a text.", key=key))
    return value
