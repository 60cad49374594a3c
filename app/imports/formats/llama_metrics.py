"""Two texts of llama-server's /metrics, before and after, with the number of requests in between, which the server does not count."""

from app.domain.outside import llama_cpp
from app.domain.outside.imported import Imported
from app.domain.outside.prometheus import Moved
from app.domain.outside.reading import Reading
from app.domain.sentence import plain
from app.imports.formats import _metrics
from app.imports.formats._metrics import Server
from app.imports.formats.base import Document, Format, NotImported

NAME = "llama-metrics"
TOOL = "llama-server /metrics"
# The prefill gives each request a token; the decode calls that are no prompt's are left for steps without a draft.
SAID = ("requests", "prefill_tokens", "undrafted")


def _looks_like(document: Document) -> bool:
    return _metrics.looks_like(document, llama_cpp.PREFIX)


def _read(document: Document) -> Imported:
    return _metrics.read(document, SERVER)


def _anew(found: Imported, requests: int | None, concurrency: int | None) -> Imported:
    return _metrics.anew(found, SERVER, requests, concurrency)


def _counted(moved: Moved, requests: int | None, one_at_a_time: bool) -> Reading:
    if requests is None:
        said = plain("llama-server does not count its requests: say under %(name)s how many ended between the two texts.", name="requests")
        raise NotImported(said, field="/requests")
    return llama_cpp.counters(moved, requests=requests, prompt_calls=requests if one_at_a_time else None)


SERVER = Server(NAME, TOOL, llama_cpp.PREFIX, _counted)
FORMAT = Format(NAME, TOOL, ("emitted", "rounds", "drafted", "verified", "undrafted", "kept_at"), _looks_like, _read, anew=_anew, said=SAID)
