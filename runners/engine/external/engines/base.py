"""One shape for all served engines: how each is started, asked, watched and read."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from app.domain.outside.prometheus import Moved, difference, parse
from app.domain.outside.reading import Engine as Kind
from app.domain.outside.reading import Reading
from app.domain.outside.streamed import Event, model_of, openai_event
from app.domain.outside.untrusted import NotUnderstood
from app.domain.spec import ModelSource
from runners.engine.external.aliases import Alias
from runners.engine.external.answer import Answer, Ask, Heard, assemble
from runners.engine.external.client import Client, Posted
from runners.engine.external.faults import EngineFault
from runners.engine.external.process import READY_SECONDS, Command
from runners.engine.external.words import without_folders
from runners.models.named import source_of

# Copies of itself are all that it can go on with, so that whatever looks for repeats drafts.
REPEATING = "The red boat left the quiet harbour at dawn. " * 12
TRIES = 3

Memory = Literal["request", "process"]
Few = Annotated[int, Field(ge=1, le=1024)]
Longest = Annotated[Few, Field(title="Longest draft", description="tokens drafted in a round at most")]


def _named(name: str) -> str:
    source_of(name)
    return name


SecondModel = Annotated[
    str,
    AfterValidator(_named),
    Field(min_length=1, max_length=512, title="Drafter's model", description="as it stands in the list of models: package:NAME, or path:FOLDER"),
]


class Mode(BaseModel):
    """How an engine speculates, as a spec says it; `plain` is without. `memory` process: something of one request stays for the next one, so that the
    engine is started anew for every trial."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    summary: ClassVar[str] = ""
    memory: ClassVar[Memory] = "request"
    mode: str

    @property
    def second(self) -> ModelSource | None:
        """The model that it drafts with beside the target, by its source."""
        named = getattr(self, "model", None)
        return None if named is None else source_of(named)


class Plain(Mode):
    mode: Literal["plain"] = "plain"


class AsServed(Mode):
    """A server that runs already speculates as it was set up; `longest_draft` is what whoever did so says of it."""

    summary: ClassVar[str] = "speculates as the server was set up"
    mode: Literal["as-served"]
    longest_draft: Annotated[Few | None, Field(title="Longest draft", description="tokens drafted in a round at most")] = None


@dataclass(frozen=True)
class Rounds:
    """Draft tokens made and kept in each round of one answer, both `[R]`."""

    drafted: tuple[int, ...]
    verified: tuple[int, ...]


@dataclass(frozen=True)
class Setup:
    """What one process is started with. `slots` requests fit at a time, each with `context` tokens; `cores` are those that it may use."""

    model: Path
    port: int
    slots: int
    context: int
    cores: tuple[int, ...]
    dtype: str = "auto"
    draft: Path | None = None


class Engine(ABC):
    """One arm on one engine. `launched` engines are started by the runner, the others run already. `served_as` is the name under which the model is
    asked for, `ways` are the modes that speculate, and `modes` validates what is said of one. Every method raises EngineFault when the engine
    does not do its part."""

    name: ClassVar[Kind]
    ways: ClassVar[tuple[type[Mode], ...]] = (AsServed,)
    modes: ClassVar[TypeAdapter[Any]] = TypeAdapter(Annotated[Plain | AsServed, Field(discriminator="mode")])
    launched: ClassVar[bool] = False
    # How long it may take to be ready; one that has exited is known at once.
    ready_seconds: ClassVar[float] = READY_SECONDS
    health: ClassVar[str] = "/health"
    metrics: ClassVar[str | None] = None
    prefix: ClassVar[str] = ""
    ends_with_done: ClassVar[bool] = True
    # Whether it drafts past the token limit of an answer.
    past_limit: ClassVar[bool] = True
    # What takes from the model's own distribution besides the temperature; a server's or a model's defaults would differ from engine to engine.
    unaltered: ClassVar[Mapping[str, Any]] = {"top_p": 1.0}

    def __init__(self, served_as: str, mode: Mode | None = None) -> None:
        self.served_as, self.mode = served_as, mode or Plain()

    def command(self, alias: Alias, setup: Setup) -> Command:
        """Raises EngineFault where an engine is only attached to."""
        raise EngineFault("engine_attached", f"{self.name} is not started by a runner; name a server that runs already by its url")

    @property
    def restart_between_trials(self) -> bool:
        return self.mode.memory == "process"

    @property
    def forced(self) -> str | None:
        """What makes acceptance up; None where nothing does."""
        return None

    @property
    def longest_draft(self) -> int | None:
        """None where nobody knows it, and where nothing is drafted."""
        return getattr(self.mode, "longest_draft", None)

    def posted(self, ask: Ask) -> Posted:
        """The request of /v1/completions: the prompt as it is, without another chat template."""
        options = {"stop": list(ask.stop) or None, "seed": ask.seed, "ignore_eos": ask.ignore_eos or None}
        streamed = {"stream": True, "stream_options": {"include_usage": True}} if ask.stream else {"stream": False}
        body = {"model": self.served_as, "prompt": ask.prompt, "max_tokens": ask.most_tokens, "temperature": ask.temperature}
        return Posted(
            "/v1/completions", body | dict(self.unaltered) | streamed | {name: value for name, value in options.items() if value is not None}
        )

    def event(self, data: Mapping[str, object], text: str, ids: int, ask: Ask) -> Event:
        """What one event adds to an answer of which `text` and so many `ids` are known. Raises NotUnderstood."""
        return openai_event(data, stops=bool(ask.stop))

    async def ask(self, client: Client, ask: Ask) -> Answer:
        return self.answer(client, ask, await self.hear(client, ask))

    async def hear(self, client: Client, ask: Ask) -> Heard:
        """The answer unread: reading one would delay what is heard of another."""
        return await client.hear(self.posted(ask), ask.planned_at)

    def answer(self, client: Client, ask: Ask, heard: Heard) -> Answer:
        if ask.stream and not heard.streamed:
            raise EngineFault("engine_unreadable", f"{client.called} answered in one piece where a stream was asked for, so no token has a time")
        answer = assemble(client.called, heard, lambda data, text, ids: self.event(data, text, ids, ask), ends_with_done=self.ends_with_done)
        if (model := model_of(answer.body)) not in (None, self.served_as):
            raise EngineFault(
                "engine_wrong_model", f"{client.called} was asked for the model {self.served_as} and answered as {without_folders(str(model))}"
            )
        return answer

    @abstractmethod
    def reading(self, answer: Answer) -> Reading:
        """What the engine counted of one answer. Raises NotUnderstood."""

    def readings(self, answers: Sequence[Answer]) -> list[Reading]:
        """The same of several answers, of which one may prove what another one does not say."""
        return [self.reading(answer) for answer in answers]

    def rounds(self, answer: Answer) -> Rounds | None:
        """The rounds of an answer one by one, where the engine tells them. Raises NotUnderstood."""
        return None

    def total(self, before: str, after: str, *, requests: int, prompt_steps: int | None = None) -> Reading | None:
        """What the engine counted of `requests` requests between two scrapes; None where it counts nothing. `prompt_steps`: the steps that their
        prompts took, where they ran one at a time; without it nobody can tell the steps that drafted nothing. Raises NotUnderstood."""
        return None

    async def scrape(self, client: Client) -> str | None:
        """The text of its metrics, None where it has none."""
        return None if self.metrics is None else (await client.get(self.metrics)).decode(errors="replace")

    async def version(self, client: Client) -> str | None:
        """What the server says of itself; None where it says nothing."""
        return None

    async def context(self, client: Client, setup: Setup | None) -> int | None:
        """Tokens that a sequence may have in this server, its prompt among them: those that it was started with. None where nobody here knows."""
        return None if setup is None else setup.context

    async def check_speculation(self, client: Client) -> None:
        """Raises EngineFault unless the engine speculates: its counters move with a text that only repeats itself."""
        if self.mode.mode == "plain":
            return
        for _ in range(TRIES):
            if await self._drafted(client):
                return
        raise EngineFault(
            "engine_not_speculating", f"{client.called} does not speculate: it drafted nothing in {TRIES} requests whose text only repeats itself"
        )

    async def _drafted(self, client: Client) -> bool:
        ask = Ask(REPEATING, 32)
        before = await self.scrape(client)
        answer = await self.ask(client, ask)
        after = await self.scrape(client)
        try:
            told = [self.reading(answer)]
            if before is not None and after is not None and (total := self.total(before, after, requests=1)) is not None:
                told = [total]
        except NotUnderstood as error:
            raise EngineFault("engine_unreadable", f"what {client.called} counts is not understood: {error}") from error
        return any((reading.counts.drafted or 0) > 0 for reading in told)

    def moved(self, before: str, after: str, model: str | None = None) -> Moved:
        """Between two scrapes. Raises NotUnderstood."""
        return difference(parse(before, self.prefix), parse(after, self.prefix), model=model)


def span(cores: Sequence[int]) -> str:
    """Cores as the engines' options take them: 0,1,2."""
    return ",".join(map(str, cores))
