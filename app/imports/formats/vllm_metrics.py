"""Two texts of a vLLM server's /metrics, before and after."""

from app.domain.outside import vllm
from app.domain.outside.imported import Imported
from app.domain.outside.prometheus import Moved
from app.domain.outside.reading import Reading
from app.imports.formats import _metrics
from app.imports.formats._metrics import Server
from app.imports.formats.base import Document, Format

NAME = "vllm-metrics"
TOOL = "vLLM /metrics"


def _looks_like(document: Document) -> bool:
    return _metrics.looks_like(document, vllm.PREFIX)


def _read(document: Document) -> Imported:
    return _metrics.read(document, SERVER)


def _anew(found: Imported, requests: int | None, concurrency: int | None) -> Imported:
    return _metrics.anew(found, SERVER, requests, concurrency)


def _counted(moved: Moved, _requests: int | None, one_at_a_time: bool) -> Reading:
    total = vllm.counters(moved)
    # Each prompt takes a step of its own where one request runs at a time.
    return vllm.counters(moved, prompt_steps=total.counts.requests) if one_at_a_time else total


SERVER = Server(NAME, TOOL, vllm.PREFIX, _counted)
FORMAT = Format(NAME, TOOL, ("emitted", "rounds", "drafted", "verified", "undrafted", "kept_at"), _looks_like, _read, anew=_anew)
