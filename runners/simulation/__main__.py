"""`python -m runners.simulation`: every controller on every kind of text, by simulation.

Prints tokens per virtual second, regret against the oracle, mean draft length, and steps until a switch was followed.
"""

import argparse
import sys
from collections.abc import Iterator

from runners.parts import controllers
from runners.simulation.costs import Costs
from runners.simulation.simulate import Score, score
from runners.simulation.traces import PROCESSES

COLUMNS = f"{'text':<16}{'controller':<14}{'tokens/s':>9}{'regret':>9}{'drafted':>9}{'reaction':>10}"

CAVEAT = "Confidence is calibrated here: of drafts with confidence c a share c is kept. A real drafter's may not be, and then it helps less."


def table(costs: Costs, rows: int, tokens: int, seeds: int) -> Iterator[str]:
    """Lines of the table; means over seeds. Every controller has its default parameters."""
    yield COLUMNS
    for text, process in PROCESSES.items():
        for name, kind in controllers().items():
            found = [score(kind(kind.Params()), process, costs, rows=rows, tokens=tokens, seed=seed) for seed in range(1, seeds + 1)]
            yield line(text, name, found)


def line(text: str, name: str, found: list[Score]) -> str:
    rate, regret, drafted = (sum(values) / len(found) for values in zip(*((s.rate, s.regret, s.mean_drafted) for s in found), strict=True))
    reactions = [s.reaction for s in found if s.reaction is not None]
    # A mean over those that reacted would hide those that never did.
    steps = f"{sum(reactions) / len(reactions):.0f}" if len(reactions) == len(found) else f"{len(reactions)} of {len(found)}" if reactions else "–"
    return f"{text:<16}{name:<14}{rate:>9.3f}{regret:>9.1%}{drafted:>9.2f}{steps:>10}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m runners.simulation", description="Draft-length controllers on texts drawn by known processes.")
    parser.add_argument("--rows", type=int, default=1, help="sequences in the batch")
    parser.add_argument("--tokens", type=int, default=3000, help="tokens of each text")
    parser.add_argument("--seeds", type=int, default=3, help="texts of each kind")
    parser.add_argument("--token-cost", type=float, default=Costs.token, help="seconds a position takes, where reading the weights takes 1")
    parser.add_argument("--draft-cost", type=float, default=Costs.draft, help="seconds a draft token takes, where reading the weights takes 1")
    asked = parser.parse_args()
    costs = Costs(token=asked.token_cost, draft=asked.draft_cost)
    for text in table(costs, asked.rows, asked.tokens, asked.seeds):
        sys.stdout.write(text + "\n")
    sys.stdout.write(CAVEAT + "\n")


if __name__ == "__main__":
    main()
