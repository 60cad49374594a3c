"""AIPerf's profile_export_aiperf.json: totals of the measured phase, without its warm-up, and means over requests (read from and run with 0.13)."""

from app.domain.counts import Counts
from app.domain.outside.imported import MOST_TOGETHER, Carried, Imported, Printed
from app.domain.sentence import plain
from app.imports.formats._build import absent, histogram, reading
from app.imports.formats._node import Node, first_object, top
from app.imports.formats.base import Document, Format

NAME = "aiperf-summary"
TOOL = "AIPerf"
_EMITTED = ("total_usage_completion_tokens", "total_output_tokens")
_NAMES = {"rounds": "total_spec_decode_steps", "drafted": "total_draft_tokens", "verified": "total_accepted_draft_tokens"}
# The tool's own figures: name, unit, the figure of ours that it corresponds to, and whether it is a mean over requests.
_PRINTED = (
    ("spec_decode_overall_draft_acceptance_rate", "percent", "acceptance_rate", False),
    ("spec_decode_token_weighted_acceptance_length", "tokens", "tokens_per_round", False),
    ("output_token_throughput", "tokens per second", "throughput", False),
    ("spec_decode_draft_acceptance_rate", "percent", "acceptance_rate", True),
    ("spec_decode_acceptance_length", "tokens", "tokens_per_round", True),
    ("spec_decode_accepted_per_verified", "fraction", "verified_per_position", True),
)


def _looks_like(document: Document) -> bool:
    names = first_object(document).keys()
    # The export of server metrics has both as well.
    return not isinstance(document.value, list) and names >= {"aiperf_version", "input_config"} and "metrics" not in names


def _read(document: Document) -> Imported:
    file = top(document)
    if _phases(file, "warmup") and file.at("warmup_metrics") is None:
        file.wrong(plain("This is the summary of one phase and does not say of which: it may be the warm-up. Import that of the whole run."))
    requests = _total(file, "completed_request_count")
    if not requests:
        file.wrong(plain("No request of this file has ended well; there is nothing to import."))
    if requests > MOST_TOGETHER:
        file.wrong(plain("The file holds %(given)s requests; at most %(most)s are taken.", given=requests, most=MOST_TOGETHER))
    usage, client = (_total(file, name) for name in _EMITTED)
    rounds, drafted, verified = (_total(file, name) for name in _NAMES.values())
    counts = Counts(
        requests=requests,
        emitted=client if usage is None else usage,
        rounds=rounds,
        drafted=drafted,
        verified=verified,
        histogram=histogram(file, "pooled_spec_decode_acceptance_histogram"),
    )
    looked_for: dict[str, str | tuple[str, ...]] = {**_NAMES, "emitted": _EMITTED}
    missing = absent(**{count: names for count, names in looked_for.items() if getattr(counts, count) is None})
    # The summary does not name the server; what is known of an engine is known of none here.
    told = reading("openai", NAME, counts, missing)
    remarks = [
        plain("The summary does not name the server's engine; profile_export.jsonl of the same run does, and tells of single requests."),
        plain("Rates and lengths named without “overall” or “token weighted” are means over requests: a short answer weighs like a long one."),
    ]
    return Imported(
        format=NAME,
        tool=TOOL,
        tool_version=file.text("aiperf_version"),
        carried=_carried(file),
        total=told,
        printed=_printed(file),
        remarks=tuple(remarks),
    )


def _total(file: Node, name: str) -> int | None:
    found = file.within(name, "avg")
    return None if found is None else found.as_count()


def _phases(file: Node, kind: str) -> list[Node]:
    phases = file.need("input_config").at("phases")
    return [each for each in ([] if phases is None else phases.entries()) if each.text("kind") == kind]


def _carried(file: Node) -> Carried:
    config = file.need("input_config")
    models = config.within("models", "items")
    names = [] if models is None else models.entries()
    tokenizer = config.at("tokenizer")
    measured = _phases(file, "profiling")
    load = [f"{name} {found.as_written()}" for each in measured for name in ("concurrency", "rate") if (found := each.at(name)) is not None]
    return Carried(
        target=names[0].text("name") if len(names) == 1 else None,
        tokenizer=None if tokenizer is None else tokenizer.text("name"),
        load=", ".join(load[:8]) or None,
        measured_at=file.text("start_time"),
    )


def _printed(file: Node) -> tuple[Printed, ...]:
    found = [(file.within(name, "avg"), name, unit, figure, mean) for name, unit, figure, mean in _PRINTED]
    return tuple(
        Printed(name=name, value=value.as_number(), unit=unit, figure=figure, of_requests=mean)
        for value, name, unit, figure, mean in found
        if value is not None
    )


FORMAT = Format(NAME, TOOL, ("emitted", "rounds", "drafted", "verified", "histogram"), _looks_like, _read)
