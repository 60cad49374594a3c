"""Two texts of TensorRT-LLM's /prometheus/metrics, before and after."""

from app.domain.outside import tensorrt_llm
from app.domain.outside.imported import Imported
from app.domain.outside.prometheus import Moved
from app.domain.outside.reading import Reading
from app.imports.formats import _metrics
from app.imports.formats._metrics import Server
from app.imports.formats.base import Document, Format

NAME = "tensorrt-metrics"
TOOL = "TensorRT-LLM /prometheus/metrics"


def _looks_like(document: Document) -> bool:
    return _metrics.looks_like(document, tensorrt_llm.PREFIX)


def _read(document: Document) -> Imported:
    return _metrics.read(document, SERVER)


def _anew(found: Imported, requests: int | None, concurrency: int | None) -> Imported:
    return _metrics.anew(found, SERVER, requests, concurrency)


def _counted(moved: Moved, _requests: int | None, _one_at_a_time: bool) -> Reading:
    return tensorrt_llm.counters(moved)


SERVER = Server(NAME, TOOL, tensorrt_llm.PREFIX, _counted)
FORMAT = Format(NAME, TOOL, ("emitted", "rounds", "drafted", "verified", "kept_at", "drafted_at"), _looks_like, _read, anew=_anew)
