"""Whether an answer that parts from plain's does so for numerics or for a fault (definitions § 2, losslessness). Greedy only."""

import math
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from itertools import zip_longest

import torch
from torch import Tensor

from app.domain.facts import RequestFact
from app.domain.observations import DivergenceFact
from runners.engine.draft import Batch, Draft
from runners.engine.target import Target
from runners.protocol.trials import Told, Trials

# Judged in a run's trials of one purpose; the report counts those that are left.
MOST = 64
ULPS = 2
CHARACTERS = 400

ARMS = ("plain", "speculative")

Decode = Callable[[Many[int]], str]
Key = tuple[int, str, str, int, int]  # run, purpose, prompt, seed, trial


@dataclass(frozen=True)
class Parting:
    """A speculative answer of run `run` that is not plain's of the same pass."""

    run: int
    plain: RequestFact
    speculative: RequestFact


def judged(trials: Trials, target: Target, told: Iterator[Told]) -> Iterator[Told]:
    """Passes the facts of these trials on and, when the last has gone, adds what is to be said of each answer that parted.

    Nothing is timed any more by then: the forwards go through the trials' own `target`, whose first slot they overwrite.
    """
    ready = trials.ready
    if ready.spec.sampling.temperature > 0:
        yield from told
        return
    pairs: dict[Key, dict[str, RequestFact]] = {}
    for run, fact in told:
        yield run, fact
        if isinstance(fact, RequestFact) and fact.arm != "control" and fact.output_ids is not None:
            pair = pairs.setdefault((run, fact.purpose, fact.prompt, fact.seed, fact.trial), {})
            pair[fact.arm] = fact
            if len(pair) == len(ARMS) and pair["plain"].output_ids == pair["speculative"].output_ids:
                pair.clear()
    apart = [Parting(key[0], pair["plain"], pair["speculative"]) for key, pair in pairs.items() if len(pair) == len(ARMS)]
    prompts = {request.prompt: request.ids for request in ready.requests}
    yield from Oracle(target, prompts, ready.tokenizer.decode).judge(apart)


def ulp(value: float, dtype: torch.dtype) -> float:
    """The distance between neighbouring numbers of `dtype` at the magnitude of `value`."""
    info = torch.finfo(dtype)
    _, exponent = math.frexp(max(abs(value), info.smallest_normal))
    return float(info.eps) * 2.0 ** (exponent - 1)


class Oracle:
    """Looks at the place where two answers part through a plain forward over the text that they share.

    Equal logits may fall either way when several positions are computed at once, since sums are taken in another order; a token that the target
    puts clearly below its best may not. `tie`: both tokens lie within 2 units in the last place of the largest logit. To ask whether the two largest
    logits are that close would excuse a wrong third token beside them.

    `prompts` holds the ids that went in.
    """

    def __init__(self, target: Target, prompts: Mapping[str, Many[int]], decode: Decode) -> None:
        self.target, self.prompts, self.decode = target, prompts, decode
        # Greedy repeats part at the same place, and several runs share one plain arm.
        self._seen: dict[tuple[str, tuple[int, ...]], Tensor] = {}

    def judge(self, apart: Many[Parting]) -> Iterator[Told]:
        counts: dict[int, int] = {}
        for parting in apart:
            counts[parting.run] = counts.get(parting.run, 0) + 1
            if counts[parting.run] <= MOST:
                yield parting.run, self._fact(parting)

    def _fact(self, parting: Parting) -> DivergenceFact:
        ours, own = parting.plain.output_ids or (), parting.speculative.output_ids or ()
        place = next(i for i, (left, right) in enumerate(zip_longest(ours, own)) if left != right)
        tokens = [ids[place] if place < len(ids) else None for ids in (ours, own)]
        gap, tolerance = self._gap(parting.plain.prompt, ours[:place], tokens)
        spoken = parting.plain.output_text is not None and parting.speculative.output_text is not None
        return DivergenceFact(
            purpose=parting.speculative.purpose,
            trial=parting.speculative.trial,
            prompt=parting.speculative.prompt,
            seed=parting.speculative.seed,
            position=place,
            judgement="violation" if gap is None or gap > tolerance else "tie",
            gap=gap,
            tolerance=tolerance,
            plain_token=tokens[0],
            speculative_token=tokens[1],
            plain_text=self._onward(ours, place) if spoken else None,
            speculative_text=self._onward(own, place) if spoken else None,
        )

    def _gap(self, prompt: str, shared: tuple[int, ...], tokens: Many[int | None]) -> tuple[float | None, float]:
        """(distance from the largest logit down to the lower of the two tokens, what is tolerated there). An answer that merely ends has no token to
        weigh: None."""
        logits = self._logits(prompt, shared)
        best = float(logits.max())
        known = [best - float(logits[token]) for token in tokens if token is not None]
        return max(known) if len(known) == len(tokens) else None, ULPS * ulp(best, logits.dtype)

    def _logits(self, prompt: str, shared: tuple[int, ...]) -> Tensor:
        key = (prompt, shared)
        if key not in self._seen:
            ids = [*self.prompts[prompt], *shared]
            found = self.target.prefill(0, ids)
            if found is None:
                found = self.target.verify(Batch((0,), (ids,)), Draft.empty(1, self.target.device))[0, 0]
            self._seen[key] = found.cpu()
        return self._seen[key]

    def _onward(self, ids: Many[int], place: int) -> str:
        """What is said from `place` on. A character may be spread over tokens, so the shared text is cut off the whole one."""
        whole, shared = self.decode(ids), self.decode(ids[:place]).rstrip("\ufffd")
        onward = whole[len(shared) :] if whole.startswith(shared) else self.decode(ids[place:])
        return onward[:CHARACTERS]
