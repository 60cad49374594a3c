"""Counters in the text exposition of Prometheus or of OpenMetrics: one scrape, and how far a server's counters moved between two.

Of the text only the lines of one engine are read; gauges say nothing about a run and are never asked for. The grammar of a line is left to
prometheus_client's parser."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from app.domain.outside.untrusted import LARGEST, NotUnderstood, quoted
from app.domain.sentence import plain

LARGEST_TEXT = 4 * 1024 * 1024
LONGEST_LINE = 16 * 1024
# An engine has some hundred series of some hundred characters, each rank as many again; the parser takes a second for so much.
MOST_READ = 1024 * 1024

Labels = frozenset[tuple[str, str]]
Series = Mapping[tuple[str, Labels], float]

# When the process began, by the convention of every client library: another one has other counters.
_STARTED = "process_start_time_seconds"
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_COUNTED = ("_total", "_count")
_MODEL = "model_name"


@dataclass(frozen=True)
class Scrape:
    """The series of one engine at one moment, by name and labels."""

    series: Series


@dataclass(frozen=True)
class Moved:
    """What was added to each counter between two scrapes. Labels other than the one that is asked for are summed over: ranks are one server."""

    series: Series

    def total(self, name: str, **labels: str) -> int | None:
        """Of the series with these `labels`; None where the server has no such counter. Raises NotUnderstood where it is no whole number."""
        asked = set(labels.items())
        found = [_whole(name, value) for (own, told), value in self.series.items() if own == name and asked <= told]
        return sum(found) if found else None

    def by_position(self, name: str, label: str) -> tuple[int, ...] | None:
        """The counter by the places that `label` numbers from 0. Raises NotUnderstood where they do not run from 0 without a gap."""
        found: dict[str, int] = {}
        for (own, labels), value in self.series.items():
            if own == name:
                place = dict(labels).get(label, "")
                found[place] = found.get(place, 0) + _whole(name, value)
        if not found:
            return None
        if set(found) != {str(place) for place in range(len(found))}:
            raise NotUnderstood(plain("The places under %(label)s of %(name)s are to run from 0 without a gap.", label=label, name=name))
        return tuple(found[str(place)] for place in range(len(found)))


def parse(text: str, prefix: str) -> Scrape:
    """The series whose names begin with `prefix` (`vllm:`), and the time the process began. Raises NotUnderstood for a text of more than 4 MiB, of
    which the series take more than one, for one that has no such series, for a line that is none, and for a series that stands there twice: it would
    be added up."""
    if len(text) > LARGEST_TEXT:
        raise NotUnderstood(plain("A scrape of metrics is to have at most %(most)s characters.", most=str(LARGEST_TEXT)))
    found: dict[tuple[str, Labels], float] = {}
    for number, line in _lines(text, prefix):
        for name, labels, value in _samples(number, line):
            if (name, labels) in found:
                raise NotUnderstood(plain("Line %(line)s of the metrics repeats a series of %(name)s.", line=number, name=quoted(name)))
            found[name, labels] = value
    if not any(name != _STARTED for name, _ in found):
        raise NotUnderstood(plain("The metrics have no series whose name begins with %(prefix)s.", prefix=prefix))
    return Scrape(found)


def _lines(text: str, prefix: str) -> Iterator[tuple[int, str]]:
    """The lines of samples that can be asked for. Buckets and times of creation cannot, and are most of a large text."""
    taken = 0
    for number, line in enumerate(text.split("\n"), 1):
        own = _NAME.match(line)
        name = own.group() if own else ""
        if name != _STARTED and (not name.startswith(prefix) or name.endswith(("_created", "_bucket"))):
            continue
        if len(line) > LONGEST_LINE:
            raise NotUnderstood(plain("Line %(line)s of the metrics is to have at most %(most)s characters.", line=number, most=str(LONGEST_LINE)))
        taken += len(line)
        if taken > MOST_READ:
            raise NotUnderstood(
                plain("The series of one engine in a scrape of metrics are to have at most %(most)s characters.", most=str(MOST_READ))
            )
        yield number, line


def _samples(number: int, line: str) -> list[tuple[str, Labels, float]]:
    try:
        found = [each for family in text_string_to_metric_families(line) for each in family.samples]
        return [(each.name, frozenset(each.labels.items()), float(each.value)) for each in found]
    except (ValueError, IndexError, KeyError, OverflowError):
        raise NotUnderstood(plain("Line %(line)s of the metrics is not in the format of Prometheus.", line=number)) from None


def difference(before: Scrape, after: Scrape, *, model: str | None = None) -> Moved:
    """How far the counters of the server, or of the `model` that it serves under this name, moved. A series that is new began at 0. Raises
    NotUnderstood where the server was restarted in between, and where it serves several models and none of them is meant."""
    first, last = before.series, after.series
    key = (_STARTED, frozenset[tuple[str, str]]())
    if key in first and key in last and first[key] != last[key]:
        raise _restarted(_STARTED)
    _one_model({**first, **last}, model)
    moved = {}
    for (name, labels), value in last.items():
        if not name.endswith(_COUNTED) or (model is not None and dict(labels).get(_MODEL, model) != model):
            continue
        start = first.get((name, labels), 0.0)
        if value < start:
            raise _restarted(name)
        moved[name, labels] = value - start
    gone = next((name for name, labels in first if name.endswith(_COUNTED) and (name, labels) not in last), None)
    if gone is not None:
        raise _restarted(gone)
    return Moved(moved)


def _restarted(name: str) -> NotUnderstood:
    return NotUnderstood(
        plain("The server was restarted between the two scrapes, as %(name)s shows: what it counted before is lost.", name=quoted(name))
    )


def _one_model(series: Series, model: str | None) -> None:
    names = sorted({dict(labels)[_MODEL] for _, labels in series if _MODEL in dict(labels)})
    shown = quoted(", ".join(names))
    if model is None and len(names) > 1:
        raise NotUnderstood(plain("The metrics are of several models (%(names)s); say which one is meant.", names=shown))
    if model is not None and names and model not in names:
        raise NotUnderstood(plain("The metrics are not of the model %(model)s but of %(names)s.", model=quoted(model), names=shown))


def _whole(name: str, value: float) -> int:
    if not 0 <= value <= LARGEST or value != int(value):
        raise NotUnderstood(plain("%(name)s is a counter and is to be a whole number from 0 to %(most)s.", name=name, most=str(LARGEST)))
    return int(value)
