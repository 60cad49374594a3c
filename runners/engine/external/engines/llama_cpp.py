"""llama.cpp's llama-server, started by the runner; flags of b11434."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import Field, TypeAdapter, model_validator

from app.domain.drafting import crossed, uneven
from app.domain.outside import llama_cpp as told
from app.domain.outside.reading import Engine as Kind
from app.domain.outside.reading import Reading
from app.domain.outside.streamed import Event, llama_event
from runners.engine.external.aliases import Alias, LlamaServer
from runners.engine.external.answer import Answer, Ask
from runners.engine.external.client import Client, Posted
from runners.engine.external.engines.base import Engine, Few, Longest, Memory, Mode, Plain, SecondModel, Setup
from runners.engine.external.faults import EngineFault
from runners.engine.external.ports import LOOPBACK
from runners.engine.external.process import Command

Rate = Annotated[float, Field(ge=0, le=1)]
Got = TypeVar("Got")
Matching = Annotated[Few, Field(title="Length of the n-gram", description="tokens that must match")]


class _Ngram(Mode):
    """All of them keep n-grams of a slot, or of the whole server, from one request to the next."""

    memory: ClassVar[Memory] = "process"


class NgramSimple(_Ngram):
    summary = "copies what followed the same n-gram in what its slot has seen; no weights"
    mode: Literal["ngram-simple"]
    size_n: Matching = 3
    size_m: Longest = 8


class NgramMapK(_Ngram):
    summary = "copies what followed the same n-gram, found by a map of n-grams; no weights"
    mode: Literal["ngram-map-k"]
    size_n: Matching = 3
    size_m: Longest = 8


class NgramMod(_Ngram):
    summary = "copies by a table of n-grams that all requests share; no weights"
    mode: Literal["ngram-mod"]
    n_match: Matching = 4
    n_min: Annotated[Few, Field(title="Shortest draft", description="a shorter one is not made")] = 2
    n_max: Longest = 8

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if (wrong := crossed(self.model_dump())) is not None:
            raise ValueError(wrong)
        return self


class NgramCache(_Ngram):
    summary = "drafts by statistics of n-grams over all requests; no weights"
    mode: Literal["ngram-cache"]
    n_max: Longest = 8


class DraftModel(Mode):
    """`rates` make acceptance up: the probability that the first i drafts are all kept, for i from 1 to n_max."""

    summary = "drafts with a second, smaller model that has a cache of its own"
    mode: Literal["draft-model"]
    model: SecondModel
    n_max: Longest = 3
    rates: Annotated[
        tuple[Rate, ...] | None,
        Field(max_length=64, title="Made-up acceptance", description="shares of rounds that keep a draft and all before it; to test a measurement"),
    ] = None

    @model_validator(mode="after")
    def _a_rate_for_each(self) -> Self:
        if (wrong := uneven(self.model_dump())) is not None:
            raise ValueError(wrong)
        return self


Modes = Annotated[Plain | NgramSimple | NgramMapK | NgramMod | NgramCache | DraftModel, Field(discriminator="mode")]


class LlamaCpp(Engine):
    """The ids of a streamed answer lack the tokens that end within a character."""

    name: ClassVar[Kind] = "llama.cpp"
    ways = (NgramSimple, NgramMapK, NgramMod, NgramCache, DraftModel)
    modes = TypeAdapter(Modes)
    launched = True
    metrics = "/metrics"
    prefix = told.PREFIX
    ends_with_done = False
    past_limit = False
    unaltered = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "repeat_penalty": 1.0}

    def command(self, alias: Alias, setup: Setup) -> Command:
        if not isinstance(alias, LlamaServer):
            raise EngineFault("engine_unfit", f"llama.cpp is started from an alias of its own kind, and not of kind {alias.kind}")
        # A thread more than there are cores to itself makes llama-server spin: 30 times slower beside one busy neighbour.
        threads = str(max(1, len(setup.cores)))
        serving = ("--host", LOOPBACK, "--port", str(setup.port), "--alias", self.served_as, "--metrics", "--slots", "--no-ui")
        size = ("-c", str(setup.context * setup.slots), "-np", str(setup.slots), "-t", threads, "-tb", threads)
        arguments = (str(alias.server), "-m", str(setup.model), *serving, *size, *_speculation(self.mode, setup, threads), *alias.arguments)
        return Command(arguments, cores=setup.cores)

    @property
    def forced(self) -> str | None:
        return "--spec-synth-rates" if isinstance(self.mode, DraftModel) and self.mode.rates is not None else None

    @property
    def longest_draft(self) -> int | None:
        return getattr(self.mode, "n_max", None) or getattr(self.mode, "size_m", None)

    def posted(self, ask: Ask) -> Posted:
        body = {
            "prompt": ask.prompt,
            "n_predict": ask.most_tokens,
            "temperature": ask.temperature,
            "stream": ask.stream,
            "stop": list(ask.stop),
            "ignore_eos": ask.ignore_eos,
            # Both arms read every prompt whole, and the ids are wanted.
            "cache_prompt": False,
            "return_tokens": True,
        }
        return Posted("/completion", body | self.unaltered | ({} if ask.seed is None else {"seed": ask.seed}))

    def event(self, data: Mapping[str, object], text: str, ids: int, ask: Ask) -> Event:
        return llama_event(data)

    def reading(self, answer: Answer) -> Reading:
        return told.timings(answer.body, longest_draft=self.longest_draft, forced=self.forced)

    def readings(self, answers: Sequence[Answer]) -> list[Reading]:
        return told.nothing_drafted(super().readings(answers))

    def total(self, before: str, after: str, *, requests: int, prompt_steps: int | None = None) -> Reading:
        return told.counters(
            self.moved(before, after),
            requests=requests,
            prompt_calls=prompt_steps,
            longest_draft=self.longest_draft,
            forced=self.forced,
        )

    async def version(self, client: Client) -> str | None:
        return told.build(await client.told("/props"))

    async def context(self, client: Client, setup: Setup | None) -> int | None:
        """As /slots tells: a server rounds up what it was started with."""
        return await _of_slots(client, told.slot_context) or await super().context(client, setup)

    async def check_speculation(self, client: Client) -> None:
        """A draft model that does not fit is left out by the server, which then serves plainly and says so in /slots alone."""
        speculates = await _of_slots(client, told.speculates)
        if speculates and self.mode.mode == "plain":
            raise EngineFault("engine_not_speculating", f"{self.name} speculates although it is the plain arm")
        if not speculates and self.mode.mode != "plain":
            raise EngineFault("engine_not_speculating", f"{client.called} does not speculate; does its draft model fit the target?")
        await super().check_speculation(client)


async def _of_slots(client: Client, read: Callable[[object], Got]) -> Got:
    """What `read` finds in /slots. A fault on the way to them is a ValueError too, and is told as it is."""
    said = await client.get("/slots")
    try:
        return read(json.loads(said))
    except (ValueError, RecursionError) as error:
        raise EngineFault("engine_unreadable", f"what {client.called} says of its slots is not understood: {error}") from error


def _speculation(mode: Mode, setup: Setup, threads: str) -> tuple[str, ...]:
    match mode:
        case NgramSimple() | NgramMapK():
            flag = f"--spec-{mode.mode}-size"
            return ("--spec-type", mode.mode, f"{flag}-n", str(mode.size_n), f"{flag}-m", str(mode.size_m))
        case NgramMod():
            sizes = (("match", mode.n_match), ("min", mode.n_min), ("max", mode.n_max))
            return ("--spec-type", mode.mode, *(word for name, size in sizes for word in (f"--spec-ngram-mod-n-{name}", str(size))))
        case NgramCache():
            return ("--spec-type", mode.mode, "--spec-draft-n-max", str(mode.n_max))
        case DraftModel():
            if setup.draft is None:
                raise EngineFault("engine_unfit", "speculation with a draft model needs one")
            made_up = () if mode.rates is None else ("--spec-synth-rates", ",".join(map(str, mode.rates)))
            return ("-md", str(setup.draft), "--spec-type", "draft-simple", "--spec-draft-n-max", str(mode.n_max), "-td", threads, *made_up)
        case _:
            return ()
