"""Answers of SGLang's /generate as they came: one, a list, or one a line. The key names moved twice; a file is of one generation of them."""

from app.domain.outside import sglang
from app.domain.outside.imported import Carried, Imported, Request
from app.domain.sentence import plain
from app.imports.formats._build import gathered, together
from app.imports.formats._node import Node, bodies, first_object
from app.imports.formats.base import Document, Format

NAME = "sglang-generate"
TOOL = "SGLang /generate"


def _looks_like(document: Document) -> bool:
    return isinstance(first_object(document).get("meta_info"), dict)


def _read(document: Document) -> Imported:
    answers = bodies(document)
    requests = gathered(_request(each, place) for place, each in enumerate(answers, 1))
    texts = [text for each in answers if isinstance(text := each.fields.get("text"), str)]
    remarks = [
        plain("SGLang does not count what it drafts: it multiplies rounds by the longest draft, so V/D is of a nominal D."),
        plain("An answer does not tell whether drafts were chains or trees; a rate of nodes of trees is not comparable with one of chains."),
    ]
    return together(NAME, TOOL, requests, Carried(engine="sglang"), texts=texts, remarks=remarks)


def _request(answer: Node, place: int) -> Request:
    found = answer.need("meta_info")
    return Request(name=found.text("id") or str(place), reading=answer.understood(sglang.meta_info), emitted_by="meta_info")


FORMAT = Format(NAME, TOOL, ("emitted", "rounds", "drafted", "verified", "histogram"), _looks_like, _read, singles=True)
