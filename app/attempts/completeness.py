"""What a run must have before it may be called a success; a report over less, or over something else, would look like a report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from app.domain.bounds import Arm
from app.domain.drafting import innermost
from app.domain.facts import PreflightFact
from app.domain.prompt import Prompt
from app.domain.spec import OWN_ENGINE, PASSES, RunSpec

Pass = tuple[str, str, int]
Kind = tuple[str, str, str]
HALF = ("float16", "bfloat16")
ARMS: tuple[Arm, ...] = ("plain", "speculative")
# The purposes whose passes are each over all prompts; costs are profiled on some of them.
WHOLE = ("headline", "losslessness")
SHOWN = 6


class Block(NamedTuple):
    """`passes` is the most that an arm has in it."""

    passes: int
    disturbed: bool


@dataclass(frozen=True)
class Seen:
    """What has come of one attempt; a pass is (purpose, arm, trial), once of its requests, with their prompts, and once of its trial facts.
    `drafted` is D of the speculative headline, None where it is not told; `always_drafts` says that its drafter drafts whatever the text; `kinds` are
    its prompts with their profile and the language that their answers are judged by; `blocks` are those of the headline. `shares_cache` says whether
    its drafter drafts with the target's layers, None where that is not known; `with_layers` and `without_layers` count the requests that drafted and
    tell of such passes, or of none."""

    environment: bool
    preflight: PreflightFact | None
    warmup: bool
    requests: Mapping[Pass, frozenset[str]]
    trials: frozenset[Pass]
    drafted: int | None
    always_drafts: bool
    kinds: frozenset[Kind] = frozenset()
    blocks: Mapping[int, Block] = field(default_factory=dict)
    shares_cache: bool | None = None
    with_layers: int = 0
    without_layers: int = 0


def lacking(seen: Seen, spec: RunSpec, asked: Sequence[Prompt] | None = None) -> list[str]:
    """What is not there, in words; empty when all is. `asked` are the prompts that the run asks for, None where runners alone know them."""
    once = {"an environment fact": seen.environment, "a preflight fact": seen.preflight is not None, "a warmup fact": seen.warmup}
    found = [name for name, there in once.items() if not there]
    passes = list(_passes(seen, spec))
    untold = [f"the trial fact of {purpose} {arm} {trial}" for purpose, arm, trial in sorted(seen.requests.keys() - seen.trials)]
    found += [*passes, *_beyond(seen, spec), *_asked(seen, asked or ())]
    found += _some(list(_prompts(seen)), "more passes") + _some(untold, "trial facts more")
    if seen.always_drafts and not passes and seen.drafted == 0:
        found.append("a draft: speculation was not active")
    return [*found, *_drafter(seen, spec)]


def _passes(seen: Seen, spec: RunSpec) -> Iterator[str]:
    wanted = {"headline": spec.trials * PASSES}
    if spec.engine == OWN_ENGINE and seen.preflight is not None and seen.preflight.dtype in HALF and spec.sampling.temperature == 0:
        # A half-precision run shows whether its rule is lossless in a pass of its own, in float32.
        wanted["losslessness"] = 1
    for purpose, least in wanted.items():
        arms = ARMS if seen.preflight is None or seen.preflight.plain_arm else ("speculative",)
        for arm in (*arms, "control") if purpose == "headline" and spec.controlled else arms:
            there = sum((purpose, arm) == key[:2] for key in seen.requests)
            if not there:
                yield f"{purpose} requests of the {arm} arm"
            elif there < least:
                yield f"{least} {purpose} passes of the {arm} arm ({there} are here)"


def _beyond(seen: Seen, spec: RunSpec) -> Iterator[str]:
    """Trials added after looking make a new run (definitions § 4): a block is repeated once, and only where it was disturbed."""
    quiet = sum(not block.disturbed for block in seen.blocks.values())
    if quiet > spec.trials:
        yield f"the {spec.trials} blocks of trials that the run asks for alone ({quiet} undisturbed ones are here)"
    if len(seen.blocks) > 2 * spec.trials:
        yield f"blocks of trials that are repeated once at most ({len(seen.blocks)} are here for {spec.trials})"
    most = max((block.passes for block in seen.blocks.values()), default=0)
    if most > PASSES:
        yield f"blocks of {PASSES} passes of each arm alone ({most} are here in one)"
    for arm in ARMS:
        again = sum(("losslessness", arm) == key[:2] for key in seen.requests)
        if again > 1:
            yield f"one losslessness pass of the {arm} arm alone ({again} are here)"


def _asked(seen: Seen, asked: Sequence[Prompt]) -> Iterator[str]:
    """Other prompts under the name of the suite would be chosen by whoever measured them."""
    wanted = {(prompt.id, prompt.profile, prompt.answer) for prompt in asked}
    if not wanted or not seen.kinds:
        return
    absent, strange = sorted(wanted - seen.kinds), sorted(seen.kinds - wanted)
    if absent:
        yield f"the prompts that the run asks for ({_first(absent)} are not here as the suite has them)"
    if strange:
        yield f"prompts of the suite alone ({_first(strange)} are not among those that the run asks for)"


def _drafter(seen: Seen, spec: RunSpec) -> Iterator[str]:
    """Drafts of the text alone run no layer of the target, and its own drafts run some for each token: the one is no figure of the other."""
    name = innermost(spec.drafter).name
    if seen.shares_cache and seen.without_layers:
        yield f"the draft layer passes of {name}, which drafts with the target's layers ({seen.without_layers} requests drafted without any)"
    if seen.shares_cache is False and seen.with_layers:
        yield f"drafts of {name} alone, which runs no layer of the target ({seen.with_layers} requests tell of draft layer passes)"


def _first(kinds: Sequence[Kind]) -> str:
    return ", ".join(id for id, *_ in kinds[:SHOWN]) + (" …" if len(kinds) > SHOWN else "")


def _prompts(seen: Seen) -> Iterator[str]:
    """A pass over fewer prompts, or over others, is paired with none."""
    if seen.preflight is None:
        return
    wanted = sum(seen.preflight.profiles.values())
    whole = {key: prompts for key, prompts in sorted(seen.requests.items()) if key[0] in WHOLE}
    every = frozenset[str]().union(*whole.values())
    for (purpose, arm, trial), prompts in whole.items():
        if len(prompts) != wanted:
            yield f"the {wanted} prompts of pre-flight in {purpose} {arm} {trial} ({len(prompts)} are here)"
        elif prompts != every:
            yield f"the prompts of the other passes in {purpose} {arm} {trial}"


def _some(found: list[str], more: str) -> list[str]:
    return found[:SHOWN] + ([f"{len(found) - SHOWN} {more}"] if len(found) > SHOWN else [])
