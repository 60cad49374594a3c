"""What could only fail, said before it waits in line. Pre-flight checks the same once more, with the prompts and the model in hand."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from app.domain.catalogue import Offer
from app.domain.fit import Wrong, beyond
from app.domain.spec import GENERATIONS, RunSpec
from app.errors import Conflict, InvalidInput
from app.runners_registry.fitting import NO_OFFER
from app.runners_registry.unfit import EXIT, at_odds, exits_late, unfit

PLAIN_ARM = "none"
IN_PART = (
    "Nothing was queued, and without a runner this was checked in part: which engines, drafters, parameters and models there are, and which prompts "
    "that nobody uploaded, only a runner tells."
)


class NobodyOffers(Conflict):
    """Nothing can be measured yet"""


class CouldOnlyFail(InvalidInput):
    """This run could only fail"""


def require(spec: RunSpec, prompts: int | None, layers: int | None, offers: Sequence[Offer] = ()) -> None:
    """`prompts` are those of its suite, language and profiles, its limit apart; `layers` are the model's. None where the service does not know.
    `offers` are those that have each part of it; what goes with one of them may succeed.

    Raises CouldOnlyFail naming the fields."""
    parts = min((list(unfit(spec, offer, layers)) for offer in offers), key=len, default=[])
    _refuse((*_drafter(spec, layers), *parts, *_prompts(spec, prompts)))


def refuse_alone(spec: RunSpec, prompts: int | None) -> NoReturn:
    """While no runner has ever said what it offers: raises CouldOnlyFail for what is wrong whoever would measure it, else NobodyOffers. Both say what
    was not checked."""
    alone = f"{NO_OFFER} {IN_PART}"
    _refuse((*_drafter(spec, None), *beyond(spec), *at_odds(spec), *_prompts(spec, prompts)), alone)
    raise NobodyOffers(alone)


def _refuse(wrong: Iterable[Wrong], *more: str) -> None:
    fields = [{"pointer": pointer, "detail": said} for pointer, said in wrong]
    if fields:
        raise CouldOnlyFail(" ".join((*(_whole(**field) for field in fields), *more)), fields=fields)


def _whole(pointer: str, detail: str) -> str:
    # The name of a parameter is written as it is given.
    word = detail.split(" ", 1)[0]
    begun = detail if "_" in word or word in pointer.split("/") else detail[0].upper() + detail[1:]
    return begun + ("" if begun.endswith((".", "?")) else ".")


def _drafter(spec: RunSpec, layers: int | None) -> Iterator[tuple[str, str]]:
    if spec.drafter.name == PLAIN_ARM:
        yield "/drafter/name", "The drafter none is plain decoding itself, which every run is compared with; choose another one."
    yield from exits_late(spec.drafter.params.get(EXIT), layers, f"/drafter/params/{EXIT}")


def _prompts(spec: RunSpec, prompts: int | None) -> Iterator[tuple[str, str]]:
    limit, at_once = spec.suite.limit, spec.load.concurrency
    if limit is not None and prompts is not None and limit > prompts:
        yield "/suite/limit", f"Suite {spec.suite.id} has {prompts} prompts for this run, and the limit is {limit}; lower it or leave it out."
        return
    taken = limit if limit is not None else prompts
    least = GENERATIONS * at_once
    if spec.load.regime == "closed" and taken is not None and taken < least:
        said = f"{at_once} requests at a time need at least {least} prompts, and this run takes {taken}; "
        yield "/suite/limit" if limit is not None else "/load/concurrency", said + "take more prompts or fewer requests at a time."
