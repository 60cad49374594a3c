"""Trees: D counts nodes, positions count depth, and no figure of chains is made of them."""

from typing import Any

import pytest

from app.domain.facts import RequestFact
from app.domain.sentence import Sentence
from app.metrics.catalogue import METRICS, points
from app.metrics.frame import from_facts
from app.reports.build import build
from app.reports.figures import lengths
from app.reports.report import Report
from app.reports.shown import find
from tests.app.metrics.test_figures import BY_HAND, PLAIN
from tests.factories import record, request_fact, requests

# Rounds of 8, 8 and 5 nodes, 3, 3 and 2 deep, that keep 3, 0 and 1: the tokens are those of BY_HAND less one.
TREE: dict[str, Any] = BY_HAND | {
    "drafted": 21,
    "verified": 4,
    "accepted": 4,
    "undrafted": 2,
    "longest_draft": 8,
    "round_drafted": (8, 8, 5),
    "round_verified": (3, 0, 1),
    "round_depth": (3, 3, 2),
    "step_tokens": (1, 4, 1, 2, 1, 1),
    "step_end": (1.5, 2.0, 2.4, 2.8, 2.9, 3.0),
}


def tree(**over: Any) -> list[RequestFact]:
    return [request_fact(**(TREE | over)), request_fact(**(PLAIN | over))]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("acceptance_rate_nodes", 4 / 21),
        ("verified_per_position", 7 / 24),
        ("accepted_per_round", 4 / 3),
        ("tokens_per_round", 1 + 4 / 3),
        ("tokens_per_target_forward", 9 / 5),
        ("acceptance_at[1]", 2 / 3),
        ("acceptance_at[2]", 1 / 3),
        ("acceptance_at[3]", 1 / 2),
        ("acceptance_at_all_rounds[3]", 1 / 3),
        ("acceptance_given_previous[3]", 1 / 1),
    ],
)
def test_by_hand(key: str, expected: float) -> None:
    """Catches nodes that are counted as positions: three deep has three positions, whatever stands beside the path."""
    assert points(tree())[key] == pytest.approx(expected)


def test_positions_end_at_the_depth() -> None:
    """Catches a fourth position of trees that are three deep."""
    assert not any(key.startswith("acceptance_at[") and key.endswith(("[4]", "[8]")) for key in points(tree()))


@pytest.mark.parametrize("id", ["acceptance_rate", "acceptance_by_position", "acceptance_by_context", "break_even_acceptance"])
def test_figures_of_chains_say_why_trees_have_none(id: str) -> None:
    """Catches V/D over nodes that is printed under the name of a chain's acceptance, and its contrast with one."""
    frames = from_facts(tree())
    (found,) = METRICS[id].compute(frames)
    assert found.pooled.point is None
    assert isinstance(found.pooled.reason, Sentence)
    assert found.pooled.reason.text.startswith("Trees were drafted")
    assert METRICS[id].sums is None or METRICS[id].sums(frames) == []


def test_chains_have_no_figure_of_trees() -> None:
    """Catches two acceptances of one run, and a tree's that is contrasted with a chain's."""
    frames = from_facts(requests(prompts=8, passes=1))
    assert METRICS["acceptance_rate_nodes"].compute(frames) == []
    sums = METRICS["acceptance_rate_nodes"].sums
    assert sums is not None
    assert sums(frames) == []


def of_trees() -> Report:
    """A run like any other, whose every draft has two nodes more beside its path."""
    made = record(passes=4)
    wide = [
        fact
        if fact.arm == "plain"
        else fact.model_copy(
            update={
                "round_drafted": tuple(n + 2 for n in fact.round_drafted),
                "drafted": fact.drafted + 2 * fact.rounds,
                "longest_draft": fact.longest_draft + 2,
            }
        )
        for fact in made.requests
    ]
    return build(made.model_copy(update={"requests": tuple(wide)}))


def test_a_report_of_trees_shows_their_own_acceptance() -> None:
    """Catches a report of trees whose acceptance is missing, or is printed as a chain's."""
    report = of_trees()
    assert report.acceptance == "acceptance_rate_nodes"
    assert find(report, "acceptance_rate", "en").state == "absent"
    assert find(report, report.acceptance, "en").n.endswith("of tree nodes")
    said = report.answer.values["acceptance"]
    assert not isinstance(said, str | int)
    assert said.kind == "share_of_nodes"
    assert report.economics is None


def test_a_report_of_chains_keeps_its_acceptance() -> None:
    assert build(record()).acceptance == "acceptance_rate"


def test_lengths_are_depths() -> None:
    """Catches a plot of draft lengths that shows nodes above kept tokens of one path."""
    chains, trees = build(record(passes=4)), of_trees()
    assert [row.drafted for row in trees.lengths] == [row.drafted for row in chains.lengths]
    assert "longest path" in lengths.build([trees], "en").caption
    assert "longest path" not in lengths.build([chains], "en").caption
