"""Answers of llama-server as they came, of /completion or of its chat interface: one, a list, or one a line."""

from collections.abc import Iterator
from itertools import chain

from app.domain.outside import llama_cpp
from app.domain.outside.imported import Carried, Imported, Request
from app.domain.outside.reading import Reading
from app.domain.sentence import plain
from app.imports.formats._build import gathered, one_name, together
from app.imports.formats._node import Node, answers_of, bodies, first_object
from app.imports.formats.base import Document, Format

NAME = "llama-timings"
TOOL = "llama-server"


def _looks_like(document: Document) -> bool:
    return isinstance(first_object(document).get("timings"), dict)


def _read(document: Document) -> Imported:
    answers = bodies(document)
    readings = llama_cpp.nothing_drafted([_reading(each) for each in answers])
    requests = gathered(
        Request(name=answer.text("id") or str(place), reading=told, emitted_by="server")
        for place, (answer, told) in enumerate(zip(answers, readings, strict=True), 1)
    )
    carried = Carried(
        target=one_name(answers, "model"), engine="llama.cpp", engine_version=one_name(answers, "system_fingerprint"), sampling=_sampling(answers)
    )
    remarks = [plain("An answer does not tell its rounds: tokens per round cannot be formed. The server's /metrics from before and after tell them.")]
    if all(each.counts.drafted is None for each in readings):
        remarks.append(plain("Nothing was drafted in this file: speculation that is off and a drafter that found nothing look alike in it."))
    return together(NAME, TOOL, requests, carried, texts=chain.from_iterable(map(_texts, answers)), remarks=remarks)


def _texts(answer: Node) -> Iterator[str]:
    """Of /completion, or of the chat interface."""
    content = answer.fields.get("content")
    if isinstance(content, str):
        yield content
    yield from answers_of(answer)


def _reading(answer: Node) -> Reading:
    answer.need("timings")
    return answer.understood(llama_cpp.timings)


def _sampling(answers: list[Node]) -> str | None:
    """The temperature, where all answers tell the same one."""
    found = [each.within("generation_settings", "temperature") for each in answers]
    told = {None if each is None else each.as_written() for each in found}
    value = told.pop() if len(told) == 1 else None
    return None if value is None else f"temperature {value}"


FORMAT = Format(NAME, TOOL, ("emitted", "drafted", "verified"), _looks_like, _read, singles=True)
