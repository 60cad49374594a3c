"""What somebody else counted: a served engine of its own work, or a tool of an engine that it loaded."""

from typing import Annotated, Literal

from pydantic import Field

from app.domain.bounds import Short
from app.domain.counts import Closure, Counts
from app.domain.value import Value

Engine = Literal["llama.cpp", "vllm", "sglang", "tensorrt-llm", "lmstudio", "openai", "transformers"]
Source = Literal["observed", "nominal", "absent"]


class Absent(Value):
    """A count that was not told, and the names under which it was looked for."""

    count: Short
    looked_for: Annotated[tuple[Short, ...], Field(min_length=1, max_length=16)]


class Reading(Value):
    """Counts of one request, or of `counts.requests` of them together, as `engine` told them in the key names of `shape` (a version or a generation
    of them). A count that is None is among `absent`, or follows from none of the engine's words. `counts_before_stop` says that the engine is known
    to count drafts before its stop check; `tree`, that drafted tokens are nodes; `forced`, that acceptance was made up, and by which word; `ignored`
    counts drafts, beside the drafted ones, that the engine says its verifier never saw."""

    engine: Engine
    shape: Short
    counts: Counts
    drafted_source: Source = "observed"
    absent: tuple[Absent, ...] = ()
    counts_before_stop: bool = False
    tree: bool = False
    forced: Short | None = None
    ignored: Annotated[int, Field(ge=0)] | None = None

    @property
    def closure(self) -> Closure:
        return self.counts.closure(counts_before_stop=self.counts_before_stop)
