"""Results measured elsewhere, as one file gives them (definitions § 1 and § 5)."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from app.domain.bounds import Short
from app.domain.counts import Counts
from app.domain.outside.reading import Reading
from app.domain.outside.texts import Texts
from app.domain.sentence import Sentence
from app.domain.value import Value

# Requests that one file may tell of one by one, each of which is checked and kept, and together.
MOST_REQUESTS, MOST_TOGETHER = 20_000, 1_000_000
# Counters of a server that are kept of one import.
MOST_SERIES = 20_000


class Carried(Value):
    """The part of a passport that a file carries; None is what it does not tell. `language` and `tokenizer` are there only where the file names them:
    they are never guessed. `load` is in the tool's words, as is all that is no identity; `load_said` tells that it is the word of whoever sent the
    file, and that counts hang on it."""

    target: Short | None = None
    engine: Short | None = None
    engine_version: Short | None = None
    drafter: Short | None = None
    longest_draft: Annotated[int, Field(ge=0, le=10_000)] | None = None
    language: Short | None = None
    tokenizer: Short | None = None
    dtype: Short | None = None
    quantisation: Short | None = None
    chat_template: Short | None = None
    sampling: Short | None = None
    load: Short | None = None
    load_said: bool = False
    suite: Short | None = None
    hardware: Short | None = None
    measured_at: Short | None = None


class Request(Value):
    """One request of a file: `name` is what the file calls it, else its place, from 1. `emitted_by` says whose word its length is."""

    name: Short
    reading: Reading
    characters: Annotated[int, Field(ge=0)] | None = None
    emitted_by: Short | None = None


class Printed(Value):
    """A figure that the tool printed itself, under its own name; `value` in the unit that it has there ("percent", "fraction", "tokens").
    `of_requests` says that by its definition it is the mean of each request's own."""

    name: Short
    value: float
    unit: Short
    figure: Short | None = None
    of_requests: bool = False


class PrintedEach(Value):
    """A figure that the tool printed of every request: `values` are in the order of the requests, None where one has none."""

    name: Short
    unit: Short
    figure: Short
    values: Annotated[tuple[float | None, ...], Field(max_length=MOST_REQUESTS)]


class Difference(Value):
    """How far a server's counter moved between two texts of its /metrics, of all series that have these `labels`."""

    name: Short
    labels: dict[Short, Short] = {}
    by: Annotated[int, Field(ge=0)]


class Imported(Value):
    """What a file tells. Where it tells of single requests, `total` is their sum and `requests` are the clusters of an interval; where it gives
    totals alone, `requests` is empty and no figure has an interval. `said` names the counts of the total that are a person's word, or follow from
    one; `moved` is what the counts of two texts of /metrics were made of, so that a wrong word can be corrected. `remarks` are about this file: what
    was left out (warm-up), what is not told. `texts` is None where the file holds no text of an answer."""

    format: Short
    tool: Short
    tool_version: Short | None = None
    carried: Carried
    total: Reading
    said: tuple[Short, ...] = ()
    moved: Annotated[tuple[Difference, ...], Field(max_length=MOST_SERIES)] = ()
    requests: Annotated[tuple[Request, ...], Field(max_length=MOST_REQUESTS)] = ()
    printed: tuple[Printed, ...] = ()
    printed_each: tuple[PrintedEach, ...] = ()
    texts: Texts | None = None
    remarks: tuple[Sentence, ...] = ()


def summed(readings: list[Reading]) -> Reading:
    """The readings of single requests of one engine together. A count that one of them lacks is lacking in the sum: part of it would be no total.
    Raises ValueError where there is none, or where they are of several engines."""
    if len({(each.engine, each.shape, each.tree) for each in readings}) != 1:
        raise ValueError("counts of several engines, or of none, are not added up")
    first = readings[0]
    names = ("emitted", "rounds", "drafted", "verified", "accepted", "undrafted", "prefill_tokens", "discarded_bonus")
    total = {name: _sum([getattr(each.counts, name) for each in readings]) for name in names}
    longest = [each.counts.longest_draft for each in readings]
    counts = Counts(
        requests=sum(each.counts.requests for each in readings),
        **total,
        longest_draft=None if None in longest else max(each for each in longest if each is not None),
        histogram=_columns([each.counts.histogram for each in readings]),
        kept_at=_columns([each.counts.kept_at for each in readings]),
        drafted_at=_columns([each.counts.drafted_at for each in readings]),
        tried_at=_columns([each.counts.tried_at for each in readings]),
    )
    sources = {each.drafted_source for each in readings}
    return first.model_copy(
        update={
            "counts": counts,
            "drafted_source": sources.pop() if len(sources) == 1 else "absent" if "absent" in sources else "nominal",
            "absent": tuple(dict.fromkeys(absent for each in readings for absent in each.absent)),
            "forced": next((each.forced for each in readings if each.forced), None),
            "ignored": _sum([each.ignored for each in readings]),
            "counts_before_stop": any(each.counts_before_stop for each in readings),
        }
    )


def without_rounds(reading: Reading) -> Reading:
    """A reading that tells 0 rounds tells by it that nothing was drafted and nothing kept, at any position, whether it writes so or not."""
    if reading.counts.rounds != 0:
        return reading
    nothing: dict[str, Any] = {"drafted": 0, "verified": 0, "histogram": (), "kept_at": (), "drafted_at": (), "tried_at": ()}
    untold = {name: value for name, value in nothing.items() if getattr(reading.counts, name) is None}
    return reading.model_copy(
        update={
            "counts": replace(reading.counts, **untold),
            "drafted_source": "observed" if "drafted" in untold else reading.drafted_source,
            "absent": tuple(each for each in reading.absent if each.count not in untold),
        }
    )


def _sum(values: list[int | None]) -> int | None:
    return None if None in values else sum(each for each in values if each is not None)


def _columns(lists: list[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    """Position by position; a shorter list has none further on."""
    told = [each for each in lists if each is not None]
    if len(told) < len(lists):
        return None
    return tuple(sum(each[i] for each in told if i < len(each)) for i in range(max(map(len, told), default=0)))
