"""What could only fail, said before it waits in line. Pre-flight checks the same once more, with the prompts and the model in hand."""

from collections.abc import Iterator

from app.domain.spec import GENERATIONS, RunSpec
from app.errors import InvalidInput

PLAIN_ARM = "none"
EXIT = "exit_layer"


class CouldOnlyFail(InvalidInput):
    """This run could only fail"""


def require(spec: RunSpec, prompts: int | None, layers: int | None) -> None:
    """`prompts` are those of its suite, language and profiles, its limit apart; `layers` are the model's. None where the service does not know.

    Raises CouldOnlyFail naming the fields."""
    fields = [{"pointer": pointer, "detail": said} for pointer, said in (*_drafter(spec, layers), *_prompts(spec, prompts))]
    if fields:
        raise CouldOnlyFail(" ".join(field["detail"] for field in fields), fields=fields)


def _drafter(spec: RunSpec, layers: int | None) -> Iterator[tuple[str, str]]:
    if spec.drafter.name == PLAIN_ARM:
        yield "/drafter/name", "The drafter none is plain decoding itself, which every run is compared with; choose another one."
    layer = spec.drafter.params.get(EXIT)
    if layers is not None and isinstance(layer, int) and layer >= layers:
        said = f"The model has {layers} layers, and a draft that leaves after layer {layer} skips none of them; choose 1 to {layers - 1}."
        yield f"/drafter/params/{EXIT}", said


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
