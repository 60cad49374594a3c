"""A simulated engine: known costs, known acceptance and known noise on a virtual clock, through the real loop, protocol, facts and report."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from app.domain.facts import FACT, AnyFact, RequestFact, TrialFact
from app.domain.prompt import Prompt
from app.domain.spec import Load, RunSpec
from app.domain.status import RunState
from app.reports.build import build
from app.reports.record import RunRecord
from app.reports.report import Report
from runners.clock import Clock
from runners.controllers.constant import Constant, ConstantParams
from runners.drafters.base import Drafter, More, Params
from runners.engine.draft import Batch, Draft
from runners.engine.law import Law
from runners.engine.sequence import Request
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.environment import Quiet
from runners.parts import Chosen
from runners.protocol.bench import Bench
from runners.protocol.closed import ClosedTrials
from runners.protocol.paired import PairedTrials
from runners.protocol.trials import Trials
from runners.verifiers.base import NoParams
from runners.verifiers.exact import Exact
from tests import factories

_TEXT = """
river mountain window garden yellow silver kitchen morning evening summer winter history science teacher student letter market village station
bridge island forest harbour castle engine bottle button carpet dinner finger flower guitar hammer jacket ladder mirror needle orange pencil pepper
pillow pocket rabbit rocket saddle sailor shadow singer sister spider spring square stream street sugar sunday ticket tongue tunnel turtle uncle
valley violin wagon weather
"""
WORDS = _TEXT.split()


@dataclass(frozen=True)
class World:
    """Seconds of each stage with s sequences, and what is added to them. Noises are standard deviations of a logarithm: shared by a whole trial, by
    all that is done for one prompt in one trial, and of every step; `drift` is the slope of the logarithm in a virtual second."""

    prefill: float = 0.02
    step: float = 0.01
    per_sequence: float = 0.1
    per_draft: float = 0.05
    propose: float = 0.002
    trial_noise: float = 0.0
    step_noise: float = 0.0
    drift: float = 0.0
    acceptance: Callable[[str], float] = field(default=lambda _: 0.7)

    def forward(self, sequences: int, drafts: int) -> float:
        return self.step * (1 + self.per_sequence * (sequences - 1)) * (1 + self.per_draft * drafts)


class VirtualClock(Clock):
    """Moves only when told to; `start` begins a trial, and with it another draw of the noise that the whole trial shares."""

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(torch.device("cpu"))
        self.world, self._source = world, np.random.default_rng(seed)
        self._time = self._zero = 0.0
        self._shared = 0.0

    def start(self) -> None:
        self._zero = self._time
        self._shared = float(self._source.normal(0, self.world.trial_noise)) if self.world.trial_noise else 0.0

    def now(self) -> float:
        return self._time - self._zero

    def wait_until(self, seconds: float) -> None:
        self._time = max(self._time, self._zero + seconds)

    def spend(self, seconds: float) -> None:
        noise = float(self._source.normal(0, self.world.step_noise)) if self.world.step_noise else 0.0
        self._time += seconds * float(np.exp(self._shared + noise + self.world.drift * self._time))


def chance(key: str, position: int) -> float:
    """A number in [0, 1) that belongs to one place of one prompt: every arm and every repeat meets the same one."""
    return int.from_bytes(hashlib.blake2b(f"{key}:{position}".encode(), digest_size=6).digest()) / 2**48


class SimulatedTarget(Target):
    """The token at a position depends on prompt and position alone, so a draft is right or wrong whatever stands before it."""

    def __init__(self, world: World, clock: VirtualClock, *, slots: int, context: int = 512) -> None:
        super().__init__(slots)
        self.world, self.clock = world, clock
        self.layers, self.vocabulary, self.context = 1, len(WORDS), context
        self.eos, self.device = frozenset(), torch.device("cpu")
        self.keys = [""] * slots
        self._logits = torch.eye(len(WORDS))

    def token(self, slot: int, position: int) -> int:
        return int(chance(f"token {self.keys[slot]}", position) * len(WORDS))

    def _prefill(self, slot: int, ids: Sequence[int]) -> Tensor:
        self.keys[slot] = " ".join(map(str, ids))
        self.clock.spend(self.world.prefill)
        return self._logits[self.token(slot, len(ids))]

    def verify(self, batch: Batch, draft: Draft) -> Tensor:
        self.clock.spend(self.world.forward(len(batch), draft.width))
        rows = [[self.token(slot, len(ids) + depth) for depth in range(draft.width + 1)] for slot, ids in zip(batch.slots, batch.ids, strict=True)]
        return self._logits[torch.tensor(rows)]

    def early(self, batch: Batch, tokens: Tensor, depth: int, exit_layer: int) -> tuple[Tensor, None]:
        raise NotImplementedError("the simulated target has no layers to leave early")


class SimulatedDrafter(Drafter):
    """Right with the world's acceptance of the prompt, at every position on its own; a proposal costs as much as its longest row."""

    name = "simulated"
    summary = "right with a known chance"
    always_drafts = True
    target: SimulatedTarget

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        del more
        world = self.target.world
        self.target.clock.spend(world.propose * max(limits, default=0))
        return Draft.from_lists(
            [self._row(slot, len(ids), n) for slot, ids, n in zip(batch.slots, batch.ids, limits, strict=True)], self.target.device
        )

    def _row(self, slot: int, start: int, n: int) -> list[int]:
        key = self.target.keys[slot]
        rate = self.target.world.acceptance(key)
        right = [chance(f"draft {key}", start + depth) < rate for depth in range(n)]
        tokens = [self.target.token(slot, start + depth) for depth in range(n)]
        return [token if good else (token + 1) % len(WORDS) for token, good in zip(tokens, right, strict=True)]


class WordTokenizer:
    """A word an id, so that answers are English that the gates can read."""

    def decode(self, ids: Sequence[int], **_: Any) -> str:
        return " ".join(WORDS[i] for i in ids)

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        return {"input_ids": list(range(len(text.split())))}


class NoWatch:
    """A virtual machine is its own."""

    def __init__(self, cores: list[int]) -> None:
        del cores

    def read(self) -> Quiet:
        return Quiet(None, None, None, None)


@dataclass(frozen=True)
class Ready:
    """What trials read of a pre-flight."""

    spec: RunSpec
    prompts: tuple[Prompt, ...]
    requests: list[Request]
    tokenizer: Any = field(default_factory=WordTokenizer)


@dataclass(frozen=True)
class Simulation:
    """One virtual run. `change` may falsify facts on their way, as a broken engine would."""

    world: World = field(default_factory=World)
    prompts: int = 8
    tokens: int = 24
    blocks: int = 2
    draft: int = 4
    concurrency: int = 1
    seed: int = 1
    margin: float = 0.0
    target: type[SimulatedTarget] = SimulatedTarget
    change: Callable[[AnyFact], AnyFact] = lambda fact: fact

    def ready(self) -> Ready:
        spec = factories.run_spec(
            language="en", trials=self.blocks, max_new_tokens=self.tokens, margin=self.margin, load=Load(concurrency=self.concurrency).model_dump()
        )
        texts = [f"question {self.seed} {index} about the weather" for index in range(self.prompts)]
        asked = tuple(Prompt(id=f"p{i}", language="en", profile="chat", answer="prompt", text=text) for i, text in enumerate(texts))
        # The ids name the prompt to the target, so that other seeds ask other prompts.
        spec = spec.model_copy(update={"sampling": spec.sampling.model_copy(update={"seed": self.seed})})
        return Ready(spec, asked, [Request(p.id, (self.seed % 251, i, 7), spec.sampling.seed) for i, p in enumerate(asked)])

    def facts(self, tell: Callable[[int, AnyFact], None] = lambda _run, _fact: None) -> list[AnyFact]:
        ready: Any = self.ready()
        clock = VirtualClock(self.world, self.seed)
        target = self.target(self.world, clock, slots=self.concurrency)
        chosen = Chosen(SimulatedDrafter, Params(), Constant, ConstantParams(length=self.draft), Exact(NoParams()), Law())
        bench = Bench(target, {0: chosen}, StopRules(self.tokens), clock)
        watch: Any = NoWatch
        kind: type[Trials] = PairedTrials if self.concurrency == 1 else ClosedTrials
        told = kind({0: ready}, bench, [0], tell, watch).headline()
        return [FACT.validate_json(self.change(fact).model_dump_json()) for _, fact in told]

    def report(self) -> Report:
        facts = self.facts()
        requests = [fact for fact in facts if isinstance(fact, RequestFact)]
        # The library's own decoding costs here what the plain arm does, so that its place takes nothing from the virtual clock.
        control = factories.controls(requests) if self.concurrency == 1 else []
        return build(
            RunRecord(
                run=self.seed,
                state=RunState.SUCCEEDED,
                spec=self.ready().spec,
                preflight=factories.preflight_fact(dtype="float32"),
                environment=factories.environment_fact(),
                warmup=factories.warmup_fact(),
                requests=(*requests, *control),
                trials=tuple(fact for fact in facts if isinstance(fact, TrialFact)),
                finish=factories.finish_fact(),
            )
        )

    def quiet(self) -> "Simulation":
        """The same engine without any noise or drift: what it gives is the truth."""
        return replace(self, world=replace(self.world, trial_noise=0.0, step_noise=0.0, drift=0.0))
