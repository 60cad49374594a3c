"""Two texts of a server's /metrics: what its counters moved by in between is one total."""

from collections.abc import Callable

from app.domain.outside import prometheus
from app.domain.outside.imported import Carried, Imported
from app.domain.outside.prometheus import Moved, Scrape
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import NotUnderstood
from app.domain.sentence import plain
from app.imports.formats._build import drafted
from app.imports.formats._node import Node, top
from app.imports.formats.base import Document, NotImported

_MODEL = "model_name"


def looks_like(document: Document, prefix: str) -> bool:
    value = document.value
    after = value.get("after") if isinstance(value, dict) and "before" in value else None
    return isinstance(after, str) and f"\n{prefix}" in f"\n{after}"


def read(document: Document, name: str, tool: str, prefix: str, counted: Callable[[Moved, bool], Reading]) -> Imported:
    """`counted` takes the differences, and whether requests ran one at a time. Raises NotImported, also where the server counted another number of
    requests than is said."""
    file = top(document)
    requests, concurrency, model = file.count("requests"), file.count("concurrency"), file.text("model")
    before, after = _scrape(file.need("before"), prefix), _scrape(file.need("after"), prefix)
    try:
        total = counted(prometheus.difference(before, after, model=model), concurrency == 1)
    except NotUnderstood as error:
        file.wrong(error.sentence)
    if total.counts.requests == 0:
        file.wrong(plain("No request ended between the two texts; there is nothing to import."))
    emitted = total.counts.emitted
    if emitted == 0:
        file.wrong(plain("No token was delivered between the two texts; there is nothing to import."))
    if emitted is not None and total.counts.requests > emitted:
        said = plain(
            "%(requests)s requests cannot have delivered %(emitted)s tokens; say how many ended between the two texts.",
            requests=str(total.counts.requests), emitted=str(emitted),
        )  # fmt: skip
        raise NotImported(said, field="/requests")
    if requests is not None and requests != total.counts.requests:
        said = plain(
            "The server counted %(counted)s requests between the two texts, not %(said)s: what else was asked of it is in its counters too.",
            counted=str(total.counts.requests), said=str(requests),
        )  # fmt: skip
        raise NotImported(said, field="/requests")
    carried = Carried(
        target=model or _model(after),
        engine=total.engine,
        longest_draft=drafted(total.counts.longest_draft),
        load=None if concurrency is None else f"concurrency {concurrency}",
        load_said=file.fields.get("said") is True,
    )
    remarks = [
        plain("The counters are the whole server's: all that was asked of it between the two texts is in them, warm-up and other clients too.")
    ]
    if total.counts.undrafted is not None:
        remarks.append(
            plain("Steps without a draft are the steps that are left when each prompt is taken for one: a longer one, cut in pieces, counts more.")
        )
    return Imported(format=name, tool=tool, carried=carried, total=total, remarks=tuple(remarks))


def _scrape(text: Node, prefix: str) -> Scrape:
    if not isinstance(text.value, str):
        text.wrong(plain("This is to be the text of /metrics."))
    try:
        return prometheus.parse(text.value, prefix)
    except NotUnderstood as error:
        text.wrong(error.sentence)


def _model(scrape: Scrape) -> str | None:
    """The one model that the series name; a name that cannot be shown in one line is none."""
    names = {dict(labels).get(_MODEL) for _, labels in scrape.series} - {None}
    name = names.pop() if len(names) == 1 else None
    return name if name and len(name) <= 256 and name.isprintable() else None
