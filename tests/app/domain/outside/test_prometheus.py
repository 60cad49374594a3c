"""Counters of servers that nobody vouches for."""

from pathlib import Path

import pytest

from app.domain.outside import prometheus
from app.domain.outside.prometheus import Moved, difference, parse
from app.domain.outside.untrusted import NotUnderstood


def moved(before: str, after: str, model: str | None = None) -> Moved:
    return difference(parse(before, "e:"), parse(after, "e:"), model=model)


def test_what_was_there_before_is_not_the_run() -> None:
    """Catches a warm-up inside a run's counts; a series that is new began at 0."""
    found = moved("e:a_total 5\n", 'e:a_total 7.0\ne:b_total{position="0"} 3\n')
    assert (found.total("e:a_total"), found.total("e:b_total"), found.total("e:c_total")) == (2, 3, None)


def test_labels_are_added_up_but_for_the_asked() -> None:
    """Catches one rank of two, and positions sorted as text: 10 comes after 9."""
    lines = [f'e:a_total{{position="{i}",engine="{rank}"}} {20 - i}' for i in range(11) for rank in "01"]
    found = moved("e:z_total 0\n", "\n".join([*reversed(lines), "e:z_total 0"]))
    assert found.by_position("e:a_total", "position") == tuple(2 * (20 - i) for i in range(11))
    assert found.total("e:a_total", engine="1") == sum(20 - i for i in range(11))
    assert found.by_position("e:b_total", "position") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("e:a_total 5\n", "e:a_total 4\n"),
        ("e:a_total 5\ne:b_total 1\n", "e:a_total 6\n"),
        ("e:a_total 0\nprocess_start_time_seconds 10.5\n", "e:a_total 6\nprocess_start_time_seconds 12.5\n"),
    ],
)
def test_a_server_that_was_restarted(before: str, after: str) -> None:
    """Catches the counts of a second server passing for the run's, also where they have outgrown the first one's."""
    with pytest.raises(NotUnderstood, match="The server was restarted between the two scrapes"):
        moved(before, after)


def test_a_gauge_may_fall() -> None:
    """Catches a restart seen in a gauge."""
    assert moved("e:a_total 5\ne:running 3\n", "e:a_total 5\ne:running 0\n").total("e:a_total") == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no series whose name begins with e:"),
        ("other_total 5\n", "no series whose name begins with e:"),
        ("<html>e:a_total 5</html>\n", "no series whose name begins with e:"),
        ("e:a_total 1\ne:a_total 1\n", "Line 2 of the metrics repeats a series of e:a_total"),
        ('e:a_total{x="1"} 1\ne:a_total{x="1",} 2\n', "Line 2 of the metrics repeats"),
        ("e:a_total\n", "Line 1 of the metrics is not in the format"),
        ("e:a_total one\n", "Line 1 of the metrics is not in the format"),
        ('# TYPE e:a counter\ne:a_total{x="1} 1\n', "Line 2 of the metrics is not in the format"),
        ('e:a_total{x="' + "x" * prometheus.LONGEST_LINE + '"} 1\n', "Line 1 of the metrics is to have at most 16384 characters"),
        ("x" * (prometheus.LARGEST_TEXT + 1), "at most 4194304 characters"),
    ],
)
def test_a_text_that_is_no_scrape(text: str, said: str) -> None:
    """Catches a page of errors read as a server without counters, and a line that stands there twice counted twice."""
    with pytest.raises(NotUnderstood, match=said):
        parse(text, "e:")


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "1.5", "1e300", "1" + "0" * 5000])
def test_a_counter_is_a_whole_number(value: str) -> None:
    """Catches a number that cannot be a count; nobody minds it in a series that is not asked for."""
    with pytest.raises(NotUnderstood, match="e:a_total"):
        moved("e:z_total 1\n", f"e:z_total 1\ne:a_total {value}\n").total("e:a_total")
    assert moved("e:z_total 1\n", f"e:z_total 2\ne:gauge {value}\n").total("e:z_total") == 1


def test_openmetrics_and_plain() -> None:
    """Catches an exemplar, a time or an end mark that spoils a counter, and a time of creation taken for one."""
    lines = ["# TYPE e:a counter", "# UNIT e:a tokens", 'e:a_total{x="}"} 17 # {trace_id="ab"} 1.0 1520879607.789', 'e:a_created{x="}"} 1.7e9']
    text = "\n".join([*lines, "e:b_total 4 1520879607789", "# EOF", ""])
    found = moved("e:b_total 0\n", text)
    assert (found.total("e:a_total"), found.total("e:b_total"), found.total("e:a_created")) == (17, 4, None)


def test_many_series_are_refused() -> None:
    """Catches a text of a million one-character labels that is added up all the same."""
    with pytest.raises(NotUnderstood, match="are to have at most 1048576 characters"):
        parse("".join(f'e:a_total{{x="{i}"}} 1\n' for i in range(50_000)), "e:")


def test_a_model_that_is_named() -> None:
    """Catches a model's name that is repeated at any length, or with its control characters."""
    text = 'e:a_total{model_name="a\\n' + "b" * 300 + '"} 1\ne:a_total{model_name="c"} 2\n'
    with pytest.raises(NotUnderstood) as caught:
        moved(text, text)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)
    assert (
        moved(
            'e:a_total{model_name="c"} 0\n' + 'e:a_total{model_name="d"} 0\n', 'e:a_total{model_name="c"} 2\ne:a_total{model_name="d"} 1\n', "c"
        ).total("e:a_total")
        == 2
    )


def test_a_runner_knows_no_key_names() -> None:
    """Catches a second place that knows how an engine calls a count: it would miss the next change of names."""
    names = ("spec_verify_ct", "draft_n_accepted", "num_accepted_draft_tokens", "spec_decode_num_drafts_total", "accepted_draft_tokens_count")
    files = list((Path(__file__).parents[4] / "runners").rglob("*.py"))
    assert files
    assert [(file.name, name) for file in files for name in names if name in file.read_text("utf-8")] == []
