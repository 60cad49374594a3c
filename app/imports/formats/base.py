"""What every format of a file has, and the one error that reading a file may end with."""

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.outside.imported import Imported
from app.domain.prompt import Fault
from app.domain.sentence import Sentence


class NotImported(ValueError):
    """`fault` says what is wrong, at which line of the file and at which field (a JSON pointer). Of the file's own text nothing is repeated but the
    names of fields, at most 80 characters, escaped."""

    def __init__(self, sentence: Sentence, *, line: int | None = None, field: str | None = None) -> None:
        self.fault = Fault(line=line, field=field, sentence=sentence)
        super().__init__(str(self.fault))


@dataclass(frozen=True)
class Document:
    """What a file holds, parsed. `value` is that of its JSON; the list of all lines for JSON Lines, whose numbers are `lines` then; the text itself
    for Prometheus's exposition. Two such texts are one document whose value is {"before": text, "after": text}, with `requests` (how many ended in
    between) and `concurrency` beside them where these are known, and `said` where whoever sent the texts said them."""

    value: object
    lines: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Format:
    """One kind of file. `looks_like` sees a document of any shape and is quick and cautious: a file that another tool wrote is not its. `read` raises
    NotImported alone. `gives` names the fields of Counts that such a file can tell; `singles` says that it tells them of single requests, `said`
    which of them are a person's word in every such file. `anew` makes of what was kept of two texts of /metrics what they tell with other `requests`
    and `concurrency`; it raises what `read` would."""

    name: str
    tool: str
    gives: tuple[str, ...]
    looks_like: Callable[[Document], bool]
    read: Callable[[Document], Imported]
    singles: bool = False
    said: tuple[str, ...] = ()
    anew: Callable[[Imported, int | None, int | None], Imported] | None = None
