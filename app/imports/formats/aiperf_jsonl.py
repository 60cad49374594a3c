"""AIPerf's profile_export.jsonl, one request a line (read from and run with 0.13).

The warm-up stands in it beside the measurement. `output_sequence_length` is the client's count unless the tool was told to take the server's;
`usage_completion_tokens` is the server's in any case and is preferred. The histogram is an object there, without its zeros."""

from app.domain.counts import Counts
from app.domain.outside.imported import Carried, Imported, PrintedEach, Request
from app.domain.outside.reading import Engine
from app.domain.sentence import Sentence, plain
from app.imports.formats._build import absent, gathered, histogram, one_name, reading, together
from app.imports.formats._node import Node, bodies, first_object
from app.imports.formats.base import Document, Format

NAME = "aiperf-jsonl"
TOOL = "AIPerf"
_MEASURED = "profiling"
_OBJECT = "spec_decode_acceptance"
_USAGE, _CLIENT = "usage_completion_tokens", "output_sequence_length"
_NAMES = {"rounds": "num_spec_steps", "drafted": "num_draft_tokens", "verified": "num_accepted_draft_tokens"}
# As the tool names them, and whether they count drafts before their stop check.
_ENGINES: dict[str, tuple[Engine, bool]] = {"vllm": ("vllm", True), "sglang": ("sglang", False), "trtllm": ("tensorrt-llm", False)}
# The tool's own figures of a request: name, unit, the figure of ours that it corresponds to.
_PRINTED = (
    ("spec_decode_draft_acceptance_rate", "percent", "acceptance_rate"),
    ("spec_decode_acceptance_length", "tokens", "tokens_per_round"),
    ("spec_decode_accepted_per_verified", "fraction", "verified_per_position"),
)
# Of a server that told nothing of its drafts.
_UNTOLD: tuple[Engine, bool] = ("openai", False)


def _looks_like(document: Document) -> bool:
    first = first_object(document)
    metadata = first.get("metadata")
    return isinstance(metadata, dict) and "benchmark_phase" in metadata and isinstance(first.get("metrics"), dict)


def _read(document: Document) -> Imported:
    records = bodies(document)
    measured = [each for each in records if each.need("metadata").text("benchmark_phase") == _MEASURED]
    ended = [each for each in measured if not _broke_off(each)]
    objects = [found for each in ended if (found := each.at(_OBJECT)) is not None]
    longest = {found.count("num_spec_tokens") for found in objects}
    # An answer without drafts of its own, one that ended on a stop string say, is of the same server as the others.
    engine = _engine(objects[0]) if objects else _UNTOLD
    requests = gathered(_request(each, *engine) for each in ended)
    carried = Carried(engine=one_name(objects, "engine"), longest_draft=longest.pop() if len(longest) == 1 else None)
    printed = [_printed(ended, *each) for each in _PRINTED]
    return together(NAME, TOOL, requests, carried, printed_each=printed, remarks=_remarks(records, measured, ended, requests))


def _printed(records: list[Node], name: str, unit: str, figure: str) -> PrintedEach:
    found = [each.need("metrics").within(name, "value") for each in records]
    return PrintedEach(name=name, unit=unit, figure=figure, values=tuple(None if each is None else each.as_number() for each in found))


def _broke_off(record: Node) -> bool:
    return record.at("error") is not None or record.need("metadata").fields.get("was_cancelled") is True


def _request(record: Node, engine: Engine, before_stop: bool) -> Request:
    metrics = record.need("metrics")
    usage, client = _metric(metrics, _USAGE), _metric(metrics, _CLIENT)
    emitted, by = (client, _CLIENT) if usage is None else (usage, _USAGE)
    found = record.at(_OBJECT)
    told = {count: None if found is None else found.count(name) for count, name in _NAMES.items()}
    missing = absent(**{count: f"{_OBJECT}.{_NAMES[count]}" for count, value in told.items() if value is None})
    missing += () if emitted is not None else absent(emitted=(_USAGE, _CLIENT))
    counts = Counts(
        requests=1,
        emitted=emitted,
        rounds=told["rounds"],
        drafted=told["drafted"],
        verified=told["verified"],
        longest_draft=None if found is None else found.count("num_spec_tokens"),
        histogram=None if found is None else histogram(found, "acceptance_histogram"),
    )
    name = record.need("metadata").text("x_request_id") or f"line {record.line}"
    return Request(name=name, reading=reading(engine, NAME, counts, missing, before_stop=before_stop), emitted_by=None if emitted is None else by)


def _metric(metrics: Node, name: str) -> int | None:
    found = metrics.within(name, "value")
    return None if found is None else found.as_count()


def _engine(found: Node) -> tuple[Engine, bool]:
    name = found.need("engine")
    known = _ENGINES.get(name.as_text())
    if known is None:
        name.wrong(plain("This engine is not known here: %(known)s are.", known=", ".join(_ENGINES)))
    return known


def _remarks(records: list[Node], measured: list[Node], ended: list[Node], requests: list[Request]) -> list[Sentence]:
    said = []
    if len(measured) < len(records):
        said.append(plain("%(n)s requests of the warm-up are in the file and are left out.", n=len(records) - len(measured)))
    if len(ended) < len(measured):
        said.append(plain("%(n)s requests failed or were broken off, and are left out.", n=len(measured) - len(ended)))
    clients = sum(each.emitted_by == _CLIENT for each in requests)
    if clients:
        said.append(
            plain("For %(n)s requests the length is the client's own count, by its own tokenizer: single requests can be off by one.", n=clients)
        )
    other = sum(_differs(each) for each in ended)
    if other:
        said.append(
            plain("For %(n)s requests the client counted another length than the server; the server's is taken.", n=other),
        )
    return said


def _differs(record: Node) -> bool:
    metrics = record.need("metrics")
    usage, client = _metric(metrics, _USAGE), _metric(metrics, _CLIENT)
    return usage is not None and client is not None and usage != client


FORMAT = Format(NAME, TOOL, ("emitted", "rounds", "drafted", "verified", "histogram"), _looks_like, _read, singles=True)
