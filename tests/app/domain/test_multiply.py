"""A product of axes."""

from app.domain.multiply import bodies, size


def test_every_combination_once_and_what_is_shared_untouched() -> None:
    """Catches an axis that is lost, one that writes into its neighbour's body, and a count that is not the number of runs."""
    shared = {"sampling": {"seed": 7}, "trials": 2}
    axes = [
        [{"language": "ru"}, {"language": "en"}],
        [{"sampling.temperature": t} for t in (0, 1)],
        [{"drafter": "a", "controller": "b"}, {"drafter": "c"}],
    ]
    made = list(bodies(shared, axes))
    assert size(axes) == len(made) == 8
    assert len({str(sorted(body.items())) for body in made}) == 8
    assert made[0] == {"sampling": {"seed": 7, "temperature": 0}, "trials": 2, "language": "ru", "drafter": "a", "controller": "b"}
    assert made[1] == {"sampling": {"seed": 7, "temperature": 0}, "trials": 2, "language": "ru", "drafter": "c"}
    assert shared == {"sampling": {"seed": 7}, "trials": 2}
