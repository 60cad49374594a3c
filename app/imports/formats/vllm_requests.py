"""Answers of a vLLM server that was started with --per-request-spec-decode-metrics, as they came: one, a list, or one a line."""

from itertools import chain

from app.domain.outside import vllm
from app.domain.outside.imported import Carried, Imported, PrintedEach, Request
from app.domain.sentence import plain
from app.imports.formats._build import gathered, one_name, together
from app.imports.formats._node import Node, answers_of, bodies, first_object
from app.imports.formats.base import Document, Format

NAME = "vllm-requests"
TOOL = "vLLM"
# The server's own figures of an answer: name, unit, the figure of ours that it corresponds to.
_PRINTED = (("draft_acceptance_rate", "fraction", "acceptance_rate"), ("mean_acceptance_length", "tokens", "tokens_per_round"))


def _looks_like(document: Document) -> bool:
    first = first_object(document)
    metrics = first.get("metrics")
    return isinstance(first.get("usage"), dict) and isinstance(metrics, dict) and "benchmark_phase" not in metrics and "timings" not in first


def _read(document: Document) -> Imported:
    answers = bodies(document)
    requests = gathered(_request(each, place) for place, each in enumerate(answers, 1))
    lacking = sum(each.reading.counts.rounds is None for each in requests)
    remarks = [plain("Steps without a draft are in no answer of vLLM; tokens per target forward cannot be formed.")]
    if lacking:
        remarks.append(
            plain(
                "%(n)s of %(all)s answers do not tell their drafts: speculation was off, or the answer ended on a stop string, of which vLLM tells "
                "nothing although it drafted.",
                n=lacking,
                all=len(requests),
            )
        )
    longest = {each.reading.counts.longest_draft for each in requests} - {None}
    carried = Carried(
        target=one_name(answers, "model"),
        engine="vllm",
        engine_version=one_name(answers, "system_fingerprint"),
        longest_draft=longest.pop() if len(longest) == 1 else None,
    )
    printed, texts = [_printed(answers, *each) for each in _PRINTED], chain.from_iterable(map(answers_of, answers))
    return together(NAME, TOOL, requests, carried, printed_each=printed, texts=texts, remarks=remarks)


def _printed(answers: list[Node], name: str, unit: str, figure: str) -> PrintedEach:
    found = [each.within("metrics", "speculative_decoding", name) for each in answers]
    return PrintedEach(name=name, unit=unit, figure=figure, values=tuple(None if each is None else each.as_number() for each in found))


def _request(answer: Node, place: int) -> Request:
    return Request(name=answer.text("id") or str(place), reading=answer.understood(vllm.speculative_decoding), emitted_by="usage")


FORMAT = Format(NAME, TOOL, ("emitted", "rounds", "drafted", "verified", "histogram", "kept_at", "drafted_at"), _looks_like, _read, singles=True)
