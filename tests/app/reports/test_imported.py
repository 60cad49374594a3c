"""Reports of results measured elsewhere: the same figures as a run's, refused without a passport, never with a verdict."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.domain.counts import Counts
from app.domain.estimate import Absent, Refusal
from app.domain.outside.imported import Carried, Imported, Printed
from app.domain.outside.supplied import Supplied
from app.reports.format import say
from app.reports.imported import ImportedCell, ImportedFigure, ImportedReport, report
from app.reports.imported_figures import FIGURES
from app.reports.spoken import spoken
from tests.factories_imported import KEPT, NAMED, absent, counts, imported, totals

WHOLE = Supplied.model_validate(NAMED)


def of(cell: ImportedCell | None) -> ImportedFigure:
    assert isinstance(cell, ImportedFigure), cell
    return cell


def point(found: ImportedReport, id: str, **part: str) -> float:
    value = of(found.find(id, **part)).pooled.point
    assert value is not None
    return value


def reason(found: ImportedReport, id: str) -> str:
    cell = found.find(id)
    assert isinstance(cell, Absent | Refusal)
    return say(cell.reason)


def test_requests_are_the_clusters_of_an_interval() -> None:
    """Catches an interval over anything else than requests, or one that is missing where each of them tells its counts."""
    found = report(imported(), WHOLE)
    rate = of(found.find("acceptance_rate"))
    assert rate.pooled.point == sum(KEPT) / (40 * len(KEPT))
    assert (rate.pooled.n, rate.pooled.counted) == (8, "requests")
    assert rate.pooled.low is not None
    assert rate.pooled.low < rate.pooled.point
    assert point(found, "tokens_per_round") == 1 + sum(KEPT) / 80
    assert point(found, "tokens_per_target_forward") == pytest.approx(1 + sum(KEPT) / 80)
    assert point(found, "verified_per_position") == (sum(KEPT) + 80) / 400
    assert point(found, "draft_coverage") == 1.0
    assert rate.macro is not None
    assert rate.macro.counted == "requests"


def test_fewer_than_six_requests_and_totals_have_no_interval() -> None:
    """Catches an interval out of too little, and a reason that speaks of prompts."""
    few = of(report(imported(KEPT[:5]), WHOLE).find("acceptance_rate")).pooled
    assert few.low is None
    assert few.reason is not None
    assert "5\u00a0requests" in say(few.reason)
    whole = of(report(totals(counts(200, emitted=301, rounds=100, drafted=400, requests=8)), WHOLE).find("acceptance_rate")).pooled
    assert whole.low is None
    assert whole.reason is not None
    assert "totals" in say(whole.reason)
    assert whole.n == 8


def test_requests_without_the_counts_leave_the_totals() -> None:
    """Catches an interval over requests that do not tell the counts of the figure, as where V is known of the whole alone."""
    whole = imported()
    silent = tuple(
        each.model_copy(update={"reading": each.reading.model_copy(update={"counts": counts(20, drafted=None)})}) for each in whole.requests
    )
    rate = of(report(whole.model_copy(update={"requests": silent}), WHOLE).find("acceptance_rate")).pooled
    assert rate.point == sum(KEPT) / 320
    assert rate.low is None


@pytest.mark.parametrize("lacking", ["language", "tokenizer"])
def test_every_figure_is_refused_without_language_or_tokenizer(lacking: str) -> None:
    """Catches the way round the refusal: a figure, a printed figure or the sentence at the top that slips through."""
    file = imported(printed=(Printed(name="rate", value=64.4, unit="percent", figure="acceptance_rate"),))
    found = report(file, Supplied.model_validate({name: value for name, value in NAMED.items() if name != lacking}))
    assert {cell.id for cell in found.cells} == set(FIGURES) - {"acceptance_rate_nodes"}
    assert all(isinstance(cell, Refusal) and cell.field == lacking and cell.remedy for cell in found.cells)
    assert found.passport is None
    assert found.beside == ()
    assert found.refusing == (lacking,)
    assert say(found.answer).startswith("Refused: this import does not say")


def test_a_figure_cannot_be_built_without_language_and_tokenizer() -> None:
    """Catches a passport type that lets an empty one through."""
    figure = of(report(imported(), WHOLE).find("acceptance_rate"))
    for lacking in NAMED:
        with pytest.raises(ValidationError):
            ImportedFigure.model_validate(figure.model_dump() | {"passport": figure.passport.model_dump() | {lacking: None}})


def test_what_the_file_tells_cannot_be_contradicted_and_need_not_be_said() -> None:
    """Catches a person's word that replaces the file's, and a refusal although the file names both."""
    file = imported(carried=Carried(language="RU", tokenizer="Qwen/Qwen3-8B"))
    found = report(file, Supplied())
    assert found.passport is not None
    assert found.passport.language == "ru"
    assert found.told_by["language"] == "file"
    with pytest.raises(ValidationError, match="the file itself tells language"):
        report(file, Supplied(language="en"))
    assert report(imported(carried=Carried(language="Elvish tongue")), Supplied(tokenizer="t")).refusing == ("language",)


@pytest.mark.parametrize(
    ("found", "over", "kind", "said", "refused"),
    [
        (Counts(1, 200, 188, 940, 11), {}, "closes", "1 of them by the prefill", False),
        (Counts(80, 16990, 4816, 33712, 12208, longest_draft=7), {"counts_before_stop": True}, "overshoot", "overshoot of 114", False),
        (Counts(80, 18200, 4816, 33712, 12208, undrafted=0, prefill_tokens=80), {}, "open", "do not close by 1,096", True),
        (Counts(1, 300, 100, 400, 150), {}, "undrafted_implied", "at least 49 steps", False),
        (Counts(1, None, 43, 129, 10), {}, "unknown", "cannot be checked", False),
    ],
)
def test_the_totals_close_or_are_refused(found: Counts, over: dict[str, Any], kind: str, said: str, refused: bool) -> None:
    """Catches a headline out of counts that do not close, and a refusal of those that close in a known way (definitions § 6)."""
    made = report(totals(found, **over), WHOLE)
    assert made.closure == kind
    assert said in say(made.closing).replace("\u00a0", " ")
    assert isinstance(made.headline, Refusal) == refused
    assert made.refusing == (("closure",) if refused else ())


def test_real_counts_come_out_as_written() -> None:
    """Catches a formula that parted from definitions § 6."""
    first = report(totals(Counts(1, 200, 188, 940, 11)), WHOLE)
    assert round(point(first, "tokens_per_round"), 4) == 1.0585
    assert round(point(first, "acceptance_rate"), 4) == 0.0117
    second = report(totals(Counts(80, 16990, 4816, 33712, 12208, longest_draft=7), counts_before_stop=True), WHOLE)
    assert round(point(second, "acceptance_rate"), 3) == 0.362
    assert round(point(second, "tokens_per_round"), 3) == 3.535
    ngram = report(totals(Counts(80, 5376, 993, 4960, 3562, undrafted=821, prefill_tokens=0)), WHOLE)
    assert round(point(ngram, "tokens_per_round"), 3) == 4.587
    assert round(point(ngram, "tokens_per_target_forward"), 2) == 2.96
    short = report(totals(Counts(1, None, 43, 129, 10, longest_draft=3, histogram=(39, 1, 0, 3)), drafted_source="nominal"), WHOLE)
    assert round(point(short, "tokens_per_round"), 5) == 1.23256
    assert round(point(short, "acceptance_rate"), 5) == 0.07752
    above = report(totals(Counts(1, 100, 10, 40, 50)), WHOLE)
    assert isinstance(above.headline, Refusal)
    assert above.headline.field == "identity"
    assert "V ≤ D" in say(above.headline.reason)


def test_positions_come_of_the_histogram_or_of_what_is_told_by_position() -> None:
    """Catches an off-by-one in positions, and conditional forms where no draft's length is known."""
    observed = report(totals(Counts(1, None, 43, 129, 10, longest_draft=3, histogram=(39, 1, 0, 3))), WHOLE)
    assert [point(observed, "acceptance_at_all_rounds", position=str(i)) for i in (1, 2, 3)] == [4 / 43, 3 / 43, 3 / 43]
    assert [point(observed, "acceptance_given_previous", position=str(i)) for i in (1, 2, 3)] == [4 / 43, 3 / 4, 1.0]
    told = report(totals(Counts(1, None, 50, 200, 90, kept_at=(40, 30, 15, 5)), drafted_source="nominal"), WHOLE)
    assert point(told, "acceptance_at_all_rounds", position="4") == 0.1
    assert "length of each round's draft" in reason(told, "acceptance_given_previous")


def test_depths_that_are_told_by_position_are_divided_by() -> None:
    """Catches short drafts counted as refused ones, and a conditional rate over rounds that nobody knows to have been long enough."""
    lists = {"kept_at": (40, 30, 15, 5), "drafted_at": (50, 50, 42, 30)}
    found = report(totals(Counts(1, None, 50, 172, 90, **lists)), WHOLE)
    assert [point(found, "acceptance_at", position=str(i)) for i in (1, 2, 3, 4)] == [40 / 50, 30 / 50, 15 / 42, 5 / 30]
    assert [point(found, "acceptance_given_previous", position=str(i)) for i in (1, 2)] == [40 / 50, 30 / 40]
    for i in ("3", "4"):
        cell = found.find("acceptance_given_previous", position=i)
        assert isinstance(cell, Absent)
        assert "ended before this position" in say(cell.reason)
    whole = report(totals(Counts(1, None, 50, 172, 90, **lists, tried_at=(50, 40, 24, 10))), WHOLE)
    assert [point(whole, "acceptance_given_previous", position=str(i)) for i in (1, 2, 3, 4)] == [40 / 50, 30 / 40, 15 / 24, 5 / 10]
    tree = report(totals(Counts(1, None, 50, 172, 90, **lists), tree=True), WHOLE)
    assert "length of each round's draft" in reason(tree, "acceptance_at")


def test_a_tree_has_no_acceptance_of_chains() -> None:
    """Catches V/D of nodes under the name of a chain's acceptance."""
    found = report(totals(counts(20, drafted=160, longest_draft=16), tree=True), WHOLE)
    assert point(found, "acceptance_rate_nodes") == 20 / 160
    assert isinstance(found.find("acceptance_rate"), Absent)
    assert of(found.headline).id == "acceptance_rate_nodes"


def test_made_up_acceptance_is_refused_and_nominal_drafts_are_named() -> None:
    """Catches synthetic acceptance that looks measured, and an assumed D without a word."""
    forced = report(imported(forced="synthetic"), WHOLE)
    assert isinstance(forced.headline, Refusal)
    assert "synthetic" in say(forced.headline.reason)
    nominal = report(imported(drafted_source="nominal"), WHOLE)
    assert of(nominal.headline).drafted_source == "nominal"
    assert any("longest draft times the rounds" in say(note) for note in nominal.notes)


def test_a_missing_count_is_named_with_what_was_looked_for() -> None:
    """Catches a 0 for what is not told, and a reason that helps nobody."""
    file = totals(counts(20, drafted=None, undrafted=None), drafted_source="absent", absent=(absent("drafted", "num_draft_tokens", "draft_n"),))
    found = report(file, WHOLE)
    assert reason(found, "acceptance_rate") == "The file does not tell drafted tokens, D; looked for: num_draft_tokens, draft_n."
    assert reason(found, "draft_coverage") == "The file does not tell steps without a draft, U."
    assert point(found, "tokens_per_round") == 3.0


@pytest.mark.parametrize(
    ("name", "value", "unit", "figure", "why"),
    [
        ("rate", 64.375, "percent", "acceptance_rate", "Equal to ours"),
        ("rate", 64.4, "percent", "acceptance_rate", "Equal to ours"),
        ("length", 3.675, "tokens", "tokens_per_round", "divides all delivered tokens by rounds"),
        ("kept", 3.575, "tokens", "accepted_per_round", "has the target's own token"),
        ("length", 2.575, "tokens", "tokens_per_round", "leaves out the target's own token"),
        ("share", 206 / 294, "fraction", "acceptance_rate", "kept drafts by delivered tokens"),
        ("rate", 0.99, "fraction", "acceptance_rate", "none of the known reasons"),
        ("speed", 3.0, "tokens", None, "No figure of ours"),
    ],
)
def test_a_printed_figure_stands_beside_ours_with_the_reason_that_gives_its_number(
    name: str, value: float, unit: str, figure: str | None, why: str
) -> None:
    """Catches a reason that is told without giving the printed number, and a percentage taken for a difference."""
    (found,) = report(imported(printed=(Printed(name=name, value=value, unit=unit, figure=figure),)), WHOLE).beside
    assert why in say(found.why)
    assert found.same == ("Equal" in why if figure else None)


def test_the_mean_of_rates_is_told_from_the_pooled_rate() -> None:
    """Catches the two means under one name: requests of different length weigh differently."""
    lengths = imported((4, 8)).requests
    longer = lengths[1].model_copy(update={"reading": lengths[1].reading.model_copy(update={"counts": counts(30, drafted=90, longest_draft=None)})})
    total = Counts(2, 56, 20, 130, 34, 34, 0, 2, 0)
    file = imported((4, 8)).model_copy(
        update={
            "requests": (lengths[0], longer),
            "total": lengths[0].reading.model_copy(update={"counts": total}),
            "printed": (Printed(name="mean", value=(4 / 40 + 30 / 90) / 2, unit="fraction", figure="acceptance_rate"),),
        }
    )
    assert "mean of each request's own" in say(report(file, WHOLE).beside[0].why)


def test_there_is_never_a_verdict_or_a_speed() -> None:
    """Catches a comparison with a clock that no plain arm shared."""
    found = report(imported(), WHOLE)
    assert "no verdict" in say(found.verdict)
    assert not any("speedup" in cell.id for cell in found.cells)


def places() -> Any:
    return st.none() | st.lists(st.integers(-1, 9), max_size=5).map(tuple)


def number() -> Any:
    return st.none() | st.integers(-2, 200)


@given(
    found=st.builds(
        Counts,
        requests=st.integers(0, 3), emitted=number(), rounds=number(), drafted=number(), verified=number(), accepted=number(), undrafted=number(),
        prefill_tokens=number(), longest_draft=number(), histogram=st.none() | st.lists(st.integers(-1, 9), max_size=5).map(tuple),
        kept_at=places(), drafted_at=places(), tried_at=places(),
    ),
    tree=st.booleans(),
)  # fmt: skip
def test_any_counts_become_a_report(found: Counts, tree: bool) -> None:
    """Catches counts from elsewhere that end in an exception instead of a figure, a reason or a refusal, and a share outside 0..1."""
    made = report(totals(found, tree=tree), WHOLE)
    for cell in made.cells:
        if isinstance(cell, ImportedFigure) and cell.unit == "share":
            assert cell.pooled.point is not None
            assert 0 <= cell.pooled.point <= 1
    again = ImportedReport.model_validate_json(made.model_dump_json())
    assert again == made
    assert spoken(made.model_dump(mode="json"))["verdict"]["said"]


def test_an_import_is_kept_as_it_was_read() -> None:
    """Catches a field that JSON loses on its way through the database."""
    assert Imported.model_validate_json(imported().model_dump_json()) == imported()
