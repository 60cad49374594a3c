"""The toy experiment (mission), through the same loop, drafters and controllers as every run: facts out as JSON lines.

`python -m runners.toy_experiment` prints one line a run: its name, and one request fact for each of the two arms.
"""

import sys
from dataclasses import dataclass

import torch

from app.domain.bounds import Arm
from app.domain.facts import RequestFact, digest_of
from app.domain.value import Value
from runners.clock import Clock
from runners.controllers.base import Controller
from runners.controllers.constant import Constant, ConstantParams
from runners.controllers.window import Window, WindowParams
from runners.drafters.base import Drafter, Params
from runners.drafters.layerskip import LayerSkip, LayerSkipParams
from runners.drafters.ngram import Ngram, NgramParams
from runners.drafters.none import NoDrafter
from runners.engine.loop import Loop
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.engine.toy import LAYERS, ToyTarget
from runners.verifiers.base import NoParams
from runners.verifiers.exact import Exact

START = (0, 1, 2, 3)
NEW = 252


@dataclass(frozen=True)
class Row:
    """A row of the table: the drafter runs the first `exit_layer` layers, or looks up n-grams where that is None."""

    name: str
    exit_layer: int | None
    adaptive: bool = False

    def drafter(self, target: Target) -> Drafter:
        if self.exit_layer is None:
            return Ngram(NgramParams(), target)
        return LayerSkip(LayerSkipParams(exit_layer=self.exit_layer), target)

    def controller(self) -> Controller:
        return Window(WindowParams()) if self.adaptive else Constant(ConstantParams())


ROWS = (Row("k_skip=1", LAYERS - 1), Row("k_skip=2", LAYERS - 2), Row("adaptive", LAYERS - 1, adaptive=True), Row("ngram", None))


class ToyRun(Value):
    """Both arms of one row."""

    run: str
    plain: RequestFact
    speculative: RequestFact


def decode(drafter: Drafter, controller: Controller) -> Sequence:
    """252 new ids behind the start. Drafts are not shortened near the limit: the source does not, and the digits depend on it."""
    loop = Loop(drafter.target, drafter, controller, Exact(NoParams()), StopRules(limit=NEW), Clock(torch.device("cpu")), cap_at_limit=False)
    return loop.run([Request("toy", START)], 1)[0]


def fact(arm: Arm, sequence: Sequence, longest: int) -> RequestFact:
    """Toy ids stand for no text, so nothing is said of characters, words or language."""
    return RequestFact(
        arm=arm,
        trial=0,
        order=0 if arm == "plain" else 1,
        prompt="toy",
        profile="toy",
        prompt_tokens=len(START),
        prompt_characters=0,
        prompt_words=0,
        longest_draft=longest,
        **sequence.counted(),
        output_digest=digest_of(sequence.output),
        output_characters=0,
        output_words=0,
        answer_kind="other",
    )


def run(row: Row) -> ToyRun:
    target, controller = ToyTarget(), row.controller()
    plain = decode(NoDrafter(Params(), target), Constant(ConstantParams()))
    drafter = row.drafter(target)
    return ToyRun(
        run=row.name, plain=fact("plain", plain, controller.longest), speculative=fact("speculative", decode(drafter, controller), controller.longest)
    )


if __name__ == "__main__":
    # The first loop through torch is slower than any later one.
    run(ROWS[0])
    for row in ROWS:
        sys.stdout.write(run(row).model_dump_json() + "\n")
