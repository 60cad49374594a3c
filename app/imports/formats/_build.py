"""What every format does with the requests that it found."""

from collections.abc import Iterable, Sequence

from app.domain.counts import Counts
from app.domain.outside.imported import MOST_REQUESTS, Carried, Imported, Printed, PrintedEach, Request, summed, without_rounds
from app.domain.outside.reading import Absent, Engine, Reading, Source
from app.domain.outside.texts import texts_of
from app.domain.outside.untrusted import LONGEST_DRAFT, quoted
from app.domain.sentence import Sentence, plain
from app.imports.formats._node import Node
from app.imports.formats.base import NotImported

# Of all lists by position together. A file of one number a request may ask for ten thousand places a request.
MOST_PLACES = 2_000_000
TOO_LONG = plain("The drafts of this file are longer than any drafter writes them.")


def absent(**looked_for: str | tuple[str, ...]) -> tuple[Absent, ...]:
    """absent(rounds="num_drafts"): the count and the names that were looked for."""
    return tuple(Absent(count=count, looked_for=(names,) if isinstance(names, str) else names) for count, names in looked_for.items())


def reading(engine: Engine, shape: str, counts: Counts, missing: tuple[Absent, ...] = (), *, before_stop: bool = False) -> Reading:
    source: Source = "absent" if counts.drafted is None else "observed"
    return Reading(engine=engine, shape=shape, counts=counts, drafted_source=source, absent=missing, counts_before_stop=before_stop)


def gathered(found: Iterable[Request]) -> list[Request]:
    """The requests, as long as they are not too many; one that had no round drafted nothing. Raises NotImported."""
    requests: list[Request] = []
    places = 0
    for each in found:
        request = each.model_copy(update={"reading": without_rounds(each.reading)})
        counts = request.reading.counts
        places += sum(len(told or ()) for told in (counts.histogram, counts.kept_at, counts.drafted_at, counts.tried_at))
        if len(requests) == MOST_REQUESTS:
            raise NotImported(plain("The file holds more than %(most)s requests; import it in parts.", most=MOST_REQUESTS))
        if places > MOST_PLACES:
            raise NotImported(TOO_LONG)
        drafted(counts.longest_draft)
        requests.append(request)
    return requests


def drafted(longest: int | None) -> int | None:
    """The longest draft that a file tells of. Raises NotImported for one so long that it would excuse any gap between counts."""
    if longest is not None and longest > LONGEST_DRAFT:
        raise NotImported(TOO_LONG)
    return longest


def together(
    name: str,
    tool: str,
    requests: Sequence[Request],
    carried: Carried,
    *,
    tool_version: str | None = None,
    printed: Sequence[Printed] = (),
    printed_each: Sequence[PrintedEach] = (),
    texts: Iterable[str] = (),
    remarks: Sequence[Sentence] = (),
) -> Imported:
    """A file that tells of single requests. Raises NotImported where there are none, where one stands twice, or where they are of several engines."""
    if not requests:
        raise NotImported(plain("No request of this file has ended well; there is nothing to import."))
    seen: set[str] = set()
    for each in requests:
        if each.name in seen:
            raise NotImported(
                plain("%(name)s stands twice; two runs were perhaps written into one file. Keep one run a file.", name=quoted(each.name))
            )
        seen.add(each.name)
    if len({(each.reading.engine, each.reading.shape, each.reading.tree) for each in requests}) > 1:
        raise NotImported(plain("The file holds answers of several engines, or of several versions of one; import them one by one."))
    return Imported(
        format=name,
        tool=tool,
        tool_version=tool_version,
        carried=carried,
        total=summed([each.reading for each in requests]),
        requests=tuple(requests),
        printed=tuple(printed),
        printed_each=tuple(each for each in printed_each if any(value is not None for value in each.values)),
        texts=texts_of(texts),
        remarks=tuple(remarks),
    )


def one_name(nodes: Sequence[Node], field: str) -> str | None:
    """The text of a field that all entries share; None where none has it. Raises NotImported where they differ."""
    found: str | None = None
    for node in nodes:
        name = node.text(field)
        if found is None:
            found = name
        elif name is not None and name != found:
            node.wrong(plain("The field %(name)s differs between entries; a file is about one of them.", name=field))
    return found


def histogram(node: Node, name: str) -> tuple[int, ...] | None:
    """{"0": 1, "3": 2} → (1, 0, 0, 2): rounds by the drafts that they kept. Raises NotImported for a key that is no length of a draft."""
    kept = node.at(name)
    if kept is None:
        return None
    rounds = {}
    for length in kept.fields:
        if not (length.isascii() and length.isdecimal() and len(length) <= 5 and int(length) <= LONGEST_DRAFT):
            kept.wrong(plain("The keys of a histogram are to be numbers from 0 to %(most)s.", most=LONGEST_DRAFT))
        rounds[int(length)] = kept.count(length) or 0
    return tuple(rounds.get(j, 0) for j in range(max(rounds, default=-1) + 1))
