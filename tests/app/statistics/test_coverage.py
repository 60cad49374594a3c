"""Nominal 95 % intervals against simulated truth, with the obvious ways as negative controls that must fail."""

import numpy as np
import pytest

from app.statistics.clusters import geometric_mean, mean_share, ratio, share
from app.statistics.differences import product_quotient, share_difference
from app.statistics.pairs import excludes_one, noise_floor, speedup
from app.statistics.verdict import Evidence, rule
from tests.app.statistics.simulate import acceptance, bootstrap, coverage, paired_seconds, places

SIMULATIONS = 4000
# Three standard errors of a share that is 0.05 over as many simulations.
BY_CHANCE = 3 * (0.05 * 0.95 / SIMULATIONS) ** 0.5


@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize("prompts", [8, 24, 48])
def test_acceptance_covers(prompts: int, follows: bool) -> None:
    """Catches residuals, degrees of freedom or a transform that make the interval too narrow or too wide."""
    verified, drafted, truth = acceptance(np.random.default_rng(prompts), SIMULATIONS, prompts, follows=follows)
    found = [share(v, d) for v, d in zip(verified, drafted, strict=True)]
    assert 0.93 <= coverage(found, truth) <= 0.97


@pytest.mark.parametrize("prompts", [8, 24, 48])
def test_tokens_per_round_covers(prompts: int) -> None:
    """Catches the offset of 1 being put on the wrong side of the logarithm."""
    verified, drafted, truth = acceptance(np.random.default_rng(50 + prompts), SIMULATIONS, prompts, follows=False)
    found = [ratio(v, d / 4, offset=1.0) for v, d in zip(verified, drafted, strict=True)]
    assert 0.93 <= coverage(found, 1 + 4 * truth) <= 0.97


@pytest.mark.parametrize("prompts", [8, 24])
@pytest.mark.parametrize("shape", [0.5, 4.0])
def test_means_of_what_is_never_below_one_cover_and_stay_there(prompts: int, shape: float) -> None:
    """Catches tokens per forward of "0.94 to 1.6", which no prompt can have, and a limit that is cut off at 1 in place of being one."""
    source = np.random.default_rng(70 + prompts)
    truth = float(np.exp(np.log1p(source.gamma(shape, 0.5 / shape, 1_000_000)).mean()))
    values = 1 + source.gamma(shape, 0.5 / shape, (SIMULATIONS, prompts))
    found = [geometric_mean(each, least=1.0) for each in values]
    assert all(each.low is not None and each.low > 1 for each in found)
    assert 0.93 <= coverage(found, truth) <= 0.97


def test_percentile_bootstrap_covers_too_little_at_eight_prompts() -> None:
    """The negative control: if the obvious way passed this bar, the bar would prove nothing."""
    source = np.random.default_rng(8)
    verified, drafted, truth = acceptance(source, 2000, 8, follows=False)

    def covers(v: np.ndarray, d: np.ndarray) -> bool:
        low, high = bootstrap(lambda i: v[i].sum(axis=1) / d[i].sum(axis=1), source, 8)
        return low <= truth <= high

    assert np.mean([covers(v, d) for v, d in zip(verified, drafted, strict=True)]) < 0.93


@pytest.mark.parametrize("prompts", [8, 24, 48])
def test_speedup_covers_under_drift(prompts: int) -> None:
    """Catches machine drift leaking into the interval, and prompts treated as if they were requests."""
    seconds, _ = paired_seconds(np.random.default_rng(100 + prompts), SIMULATIONS, prompts, effect=1.2)
    means = seconds.mean(axis=1)
    found = [speedup(each[:, 0], each[:, 1]) for each in means]
    assert 0.93 <= coverage(found, 1.2) <= 0.97


def test_bootstrapping_prompts_of_unpaired_trials_covers_hardly_at_all() -> None:
    """The second negative control, definitions § 3: 48 prompts, two trials an arm, 5 % noise shared by a whole trial."""
    source = np.random.default_rng(48)
    prompts, simulations = 48, 600
    length = source.uniform(0.5, 3.0, (simulations, 1, prompts))

    def arm(effect: float) -> np.ndarray:
        shared, own = source.normal(0, 0.05, (simulations, 2, 1)), source.normal(0, 0.02, (simulations, 2, prompts))
        return (length * np.exp(shared + own) / effect).mean(axis=1)

    plain, speculative = arm(1.0), arm(1.2)

    def covers(p: np.ndarray, s: np.ndarray) -> bool:
        low, high = bootstrap(lambda i: p[i].sum(axis=1) / s[i].sum(axis=1), source, prompts)
        return low <= 1.2 <= high

    assert np.mean([covers(p, s) for p, s in zip(plain, speculative, strict=True)]) < 0.5


@pytest.mark.parametrize("prompts", [8, 24])
def test_equal_arms_seldom_seem_to_pay(prompts: int) -> None:
    """A/A: the same arm twice. `pays` at margin 0 in at most 2.5 %, `the bench is not level` in at most 5 %, beyond chance."""
    seconds, plain_first = paired_seconds(np.random.default_rng(prompts + 1), SIMULATIONS, prompts, spread=0.0)
    means, (first, second) = seconds.mean(axis=1), places(seconds, plain_first)
    floors = [noise_floor(a, b) for a, b in zip(first, second, strict=True)]
    seen = [Evidence("speedup_end_to_end", 0.0, speedup(m[:, 0], m[:, 1]), floor, blocks=3) for m, floor in zip(means, floors, strict=True)]
    assert np.mean([rule(each).outcome == "pays" for each in seen]) <= 0.025 + BY_CHANCE
    assert np.mean([excludes_one(floor) for floor in floors]) <= 0.05 + BY_CHANCE


def test_an_order_effect_is_found() -> None:
    """Whoever runs second is 6 % slower: the noise floor must say so, or `the bench is not level` is an empty promise."""
    seconds, plain_first = paired_seconds(np.random.default_rng(3), 300, 24, order_effect=0.06)
    floors = [noise_floor(a, b) for a, b in zip(*places(seconds, plain_first), strict=True)]
    assert np.mean([excludes_one(floor) for floor in floors]) > 0.9


@pytest.mark.parametrize("pairs", [8, 24, 48])
def test_differences_of_parallel_pairs_cover(pairs: int) -> None:
    """Two languages on the same prompts: guessable prompts are guessable in both, which the pairing must use and not be fooled by."""
    source = np.random.default_rng(pairs)
    common = source.normal(0, 0.6, (SIMULATIONS, pairs))
    # Means over the common part, so that the truths are known: logistic of a normal, by 64-point Gauss-Hermite quadrature.
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    sides, truths = [], []
    for base in (-0.8, 0.2):
        chance = 1 / (1 + np.exp(-(base + common + source.normal(0, 0.3, common.shape))))
        drafted = 4.0 * source.integers(10, 60, common.shape)
        sides.append((source.binomial(drafted.astype(int), chance).astype(float), drafted))
        truths.append(float((weights / (1 + np.exp(-(base + np.hypot(0.6, 0.3) * nodes)))).sum() / weights.sum()))
    (va, da), (vb, db) = sides
    rows = range(SIMULATIONS)
    assert 0.93 <= coverage([share_difference((va[i], da[i]), (vb[i], db[i])) for i in rows], truths[0] - truths[1]) <= 0.97
    quotients = [product_quotient([(va[i], 1), (da[i], -1)], [(vb[i], 1), (db[i], -1)]) for i in rows]
    assert 0.93 <= coverage(quotients, truths[0] / truths[1]) <= 0.97


@pytest.mark.parametrize("prompts", [8, 24])
def test_macro_covers(prompts: int) -> None:
    """The mean over prompts has its own truth and its own spread."""
    verified, drafted, truth = acceptance(np.random.default_rng(prompts + 9), SIMULATIONS, prompts, follows=False)
    found = [mean_share(v / d) for v, d in zip(verified, drafted, strict=True)]
    assert 0.93 <= coverage(found, truth) <= 0.97


def test_prompts_without_drafts_do_not_narrow_the_interval() -> None:
    """Half of the prompts draft nothing: counting them as knowledge (n − 1 of all) covers 92–93 % only. They are not counted."""
    source = np.random.default_rng(5)
    verified, drafted, truth = acceptance(source, SIMULATIONS, 24, follows=False)
    silent = source.random(drafted.shape) < 0.5
    found = [share(np.where(s, 0, v), np.where(s, 0, d)) for v, d, s in zip(verified, drafted, silent, strict=True)]
    assert 0.935 <= coverage([each for each in found if each.low is not None], truth) <= 0.97


def test_differences_cover_where_one_side_seldom_drafts() -> None:
    """Catches degrees of freedom of the side with drafts given to a difference whose spread is that of the other: it covered 89 %."""
    source, pairs, drafting = np.random.default_rng(6), 24, 6
    sides, truths = [], []
    for base, carrying in ((-0.5, drafting), (0.2, pairs)):
        logits = base + source.normal(0, 0.64, (SIMULATIONS, pairs))
        drafted = source.integers(20, 200, logits.shape) * (np.arange(pairs) < carrying)
        sides.append((source.binomial(drafted, 1 / (1 + np.exp(-logits))).astype(float), drafted.astype(float)))
        nodes, weights = np.polynomial.hermite_e.hermegauss(64)
        truths.append(float((weights / (1 + np.exp(-(base + 0.64 * nodes)))).sum() / weights.sum()))
    (va, da), (vb, db) = sides
    found = [share_difference((va[i], da[i]), (vb[i], db[i])) for i in range(SIMULATIONS)]
    assert {(each.n, each.of) for each in found} == {(drafting, pairs)}
    assert 0.93 <= coverage(found, truths[0] - truths[1]) <= 0.975
