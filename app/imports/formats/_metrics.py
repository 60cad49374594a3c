"""Two texts of a server's /metrics: what its counters moved by in between is one total."""

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.outside import prometheus
from app.domain.outside.imported import Carried, Imported
from app.domain.outside.prometheus import Moved, Scrape
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import NotUnderstood
from app.domain.sentence import Sentence, plain
from app.imports.formats._build import drafted
from app.imports.formats._moved import Noted, moved_by
from app.imports.formats._node import Node, top
from app.imports.formats.base import Document, NotImported

_MODEL = "model_name"


@dataclass(frozen=True)
class Server:
    """An engine's server. `counted` takes the differences, the number of requests where it is said, and whether they ran one at a time."""

    name: str
    tool: str
    prefix: str
    counted: Callable[[Moved, int | None, bool], Reading]


def looks_like(document: Document, prefix: str) -> bool:
    value = document.value
    after = value.get("after") if isinstance(value, dict) and "before" in value else None
    return isinstance(after, str) and f"\n{prefix}" in f"\n{after}"


def read(document: Document, server: Server) -> Imported:
    """Where the requests in between are the word of whoever sent the texts, the differences are kept, so that the word can be corrected. Raises
    NotImported."""
    file = top(document)
    requests, concurrency, model = file.count("requests"), file.count("concurrency"), file.text("model")
    before, after = _scrape(file.need("before"), server.prefix), _scrape(file.need("after"), server.prefix)
    said = file.fields.get("said") is True
    try:
        moved = Noted(prometheus.difference(before, after, model=model).series)
    except NotUnderstood as error:
        file.wrong(error.sentence)
    made = _made(server, moved, requests, concurrency, Carried(target=model or _model(after), load_said=said))
    return made.model_copy(update={"moved": moved.kept()}) if said else made


def anew(found: Imported, server: Server, requests: int | None, concurrency: int | None) -> Imported:
    """What the same two texts tell with another word of the requests in between. Raises NotImported, as `read` would of it."""
    made = _made(server, moved_by(found.moved), requests, concurrency, found.carried)
    return made.model_copy(update={"moved": found.moved})


def _made(server: Server, moved: Moved, requests: int | None, concurrency: int | None, carried: Carried) -> Imported:
    total = _counted(server, moved, requests)
    _check(total, requests)
    if concurrency == 1:
        try:
            total = server.counted(moved, requests, True)
        except NotUnderstood as error:
            # It is understood without that word.
            raise NotImported(error.sentence, field="/concurrency") from None
    own = {
        "engine": total.engine,
        "longest_draft": drafted(total.counts.longest_draft),
        "load": None if concurrency is None else f"concurrency {concurrency}",
    }
    return Imported(
        format=server.name, tool=server.tool, carried=carried.model_copy(update=own), total=total, remarks=tuple(_remarks(total)),
    )  # fmt: skip


def _counted(server: Server, moved: Moved, requests: int | None) -> Reading:
    try:
        return server.counted(moved, requests, False)
    except NotUnderstood as error:
        raise NotImported(error.sentence) from None


def _check(total: Reading, said: int | None) -> None:
    """Raises NotImported where nothing happened, and where the number of requests that is `said` cannot be, or is another than the server counted."""
    counted, emitted = total.counts.requests, total.counts.emitted
    if counted == 0:
        raise NotImported(plain("No request ended between the two texts; there is nothing to import."))
    if emitted == 0:
        raise NotImported(plain("No token was delivered between the two texts; there is nothing to import."))
    if emitted is not None and counted > emitted:
        wrong = plain(
            "%(requests)s requests cannot have delivered %(emitted)s tokens; say how many ended between the two texts.",
            requests=str(counted), emitted=str(emitted),
        )  # fmt: skip
        raise NotImported(wrong, field="/requests")
    if said is not None and said != counted:
        wrong = plain(
            "The server counted %(counted)s requests between the two texts, not %(said)s: what else was asked of it is in its counters too.",
            counted=str(counted), said=str(said),
        )  # fmt: skip
        raise NotImported(wrong, field="/requests")


def _remarks(total: Reading) -> list[Sentence]:
    said = [plain("The counters are the whole server's: all that was asked of it between the two texts is in them, warm-up and other clients too.")]
    if total.counts.undrafted is not None:
        said.append(
            plain("Steps without a draft are the steps that are left when each prompt is taken for one: a longer one, cut in pieces, counts more.")
        )
    return said


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
