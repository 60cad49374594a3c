"""The result of llama.cpp's speed_bench.py (read from and run with b11434). It has no rounds, and writes 0 drafted where the server said nothing: off
and never drafted look alike."""

from app.domain.counts import Counts
from app.domain.outside.imported import Carried, Imported, Printed, Request
from app.domain.sentence import Sentence, plain
from app.imports.formats._build import absent, gathered, reading, together
from app.imports.formats._node import Node, first_object, top
from app.imports.formats.base import Document, Format

NAME = "speed-bench"
TOOL = "llama.cpp speed_bench.py"
_KNOWN_BY = {"config", "results", "summary", "completed_samples"}
_OVERALL = "overall"


def _looks_like(document: Document) -> bool:
    return first_object(document).keys() >= _KNOWN_BY


def _read(document: Document) -> Imported:
    file = top(document)
    samples = file.need("results").entries()
    ended = [each for each in samples if each.need("ok").value is True]
    speculated = any(each.count("draft_n") for each in ended)
    config = file.need("config")
    concurrency = config.count("concurrency")
    carried = Carried(
        target=config.text("model"),
        engine="llama.cpp",
        suite=config.text("bench"),
        load=None if concurrency is None else f"concurrency {concurrency}",
        sampling=_sampling(config),
    )
    requests = gathered(_request(each, speculated) for each in ended)
    remarks = _remarks(len(samples) - len(ended), speculated)
    return together(NAME, TOOL, requests, carried, printed=_printed(file), remarks=remarks)


def _request(sample: Node, speculated: bool) -> Request:
    """One sample, which may have several turns. Where nothing was drafted in the whole file it is not known that speculation was on."""
    counts = Counts(
        requests=sample.count("turns") or 1,
        emitted=sample.need("completion_tokens").as_count(),
        rounds=None,
        drafted=sample.count("draft_n") if speculated else None,
        verified=sample.count("draft_n_accepted") if speculated else None,
    )
    missing = absent(rounds="num_drafts", **({} if speculated else {"drafted": "draft_n", "verified": "draft_n_accepted"}))
    told = reading("llama.cpp", NAME, counts, missing, before_stop=True)
    return Request(name=sample.need("id").as_name(), reading=told, emitted_by="completion_tokens")


def _sampling(config: Node) -> str | None:
    """What was asked for beside the tool's own defaults, in its words."""
    extra = config.at("extra_inputs")
    if extra is None:
        return None
    told = [f"{name} {found.as_written()}" for name in ("temperature", "top_p", "top_k", "seed") if (found := extra.at(name)) is not None]
    return ", ".join(told) or None


def _printed(file: Node) -> list[Printed]:
    """The line over all categories."""
    found = next((each for each in file.need("summary").entries() if each.text("category") == _OVERALL), None)
    if found is None:
        return []
    rate, speed = found.number("accept_rate"), found.number("avg_pred_t_s")
    return [
        *([Printed(name="accept_rate", value=rate, unit="fraction", figure="acceptance_rate")] if rate is not None else []),
        # A mean of what the server says of each request, n − 1 tokens by its own clock.
        *([Printed(name="avg_pred_t_s", value=speed, unit="tokens per second")] if speed is not None else []),
    ]


def _remarks(failed: int, speculated: bool) -> list[Sentence]:
    said = [plain("This tool does not write the number of rounds: tokens per round cannot be formed from its file.")]
    if failed:
        said.append(plain("%(failed)s requests failed and are left out.", failed=failed))
    if not speculated:
        said.append(plain("Nothing was drafted in this file: speculation that is off and a drafter that found nothing look alike in it."))
    return said


FORMAT = Format(NAME, TOOL, ("emitted", "drafted", "verified"), _looks_like, _read, singles=True)
