"""The toy experiment to the digit (mission), through the same loop and figures as every run."""

import pytest

from app.toy.table import ToyRow, row_of
from runners.toy_experiment import ROWS, run

EXPECTED = {
    "k_skip=1": {"verified": 195, "accepted": 195, "rounds": 57, "drafted": 228, "emitted": 252, "discarded_drafts": 0, "discarded_bonus": 0,
                 "draft_layer_passes": 1140, "verify_layer_passes": 1710, "plain_layer_passes": 1512},
    "k_skip=2": {"verified": 189, "accepted": 189, "rounds": 63, "drafted": 252, "emitted": 252, "discarded_drafts": 0, "discarded_bonus": 0,
                 "draft_layer_passes": 1008, "verify_layer_passes": 1890, "plain_layer_passes": 1512},
    "adaptive": {"verified": 209, "accepted": 206, "rounds": 47, "drafted": 265, "emitted": 252, "discarded_drafts": 3, "discarded_bonus": 1,
                 "draft_layer_passes": 1325, "verify_layer_passes": 1872, "plain_layer_passes": 1512},
}  # fmt: skip
FIGURES = {
    "k_skip=1": {"acceptance_rate": 0.855, "kept_per_new": 0.774, "mean_block": 4.42, "layer_passes_saved": -0.885},
    "k_skip=2": {"acceptance_rate": 0.750, "kept_per_new": 0.750, "mean_block": 4.00, "layer_passes_saved": -0.917},
    "adaptive": {"acceptance_rate": 0.789, "kept_per_new": 0.829, "mean_block": 5.36, "layer_passes_saved": -1.114, "accepted_share": 0.817},
}


@pytest.fixture(scope="module")
def rows() -> dict[str, ToyRow]:
    return {row.name: row_of(run(row).model_dump(mode="json")) for row in ROWS}


@pytest.mark.parametrize("name", EXPECTED)
def test_counts_to_the_digit(rows: dict[str, ToyRow], name: str) -> None:
    """Catches any change of loop, drafter, controller or counting."""
    assert {field: getattr(rows[name], field) for field in EXPECTED[name]} == EXPECTED[name]
    assert rows[name].lossless


@pytest.mark.parametrize("name", FIGURES)
def test_figures_as_published(rows: dict[str, ToyRow], name: str) -> None:
    """Catches a figure whose definition moved: values as the table prints them."""
    digits = {"mean_block": 2}
    found = {field: round(getattr(rows[name], field), digits.get(field, 3)) for field in FIGURES[name]}
    assert found == FIGURES[name]


def test_adaptive_figures(rows: dict[str, ToyRow]) -> None:
    adaptive = rows["adaptive"]
    assert adaptive.tokens_per_round == pytest.approx(1 + 209 / 47)
    assert adaptive.tokens_per_target_forward == pytest.approx(252 / 47)
    assert len(set(adaptive.blocks)) > 3, "the controller never moved"


def test_ngram_is_lossless_and_has_undrafted_steps(rows: dict[str, ToyRow]) -> None:
    """Catches undrafted steps that vanish: a lookup that finds nothing is a step of its own."""
    ngram = rows["ngram"]
    assert ngram.lossless
    assert ngram.undrafted > 0
    assert ngram.emitted == ngram.accepted + ngram.rounds + ngram.undrafted - ngram.discarded_bonus
