"""Which runs are held against which: over loads, over drafters, and never over a second difference."""

import pytest

from app.domain.estimate import Figure
from app.reports.compare import NoSuchLoad, compare
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.report import Comparison, Contrast, Pair
from tests.factories import environment_fact, preflight_fact, record, run_spec
from tests.factories_load import load_record

RU = [record(run=1, language="ru", prompts=12, acceptance=0.55), load_record(run=4, concurrency=4, prompts=16, acceptance=0.55, slow=1.9)]
EN = [
    record(run=2, language="en", prompts=12, acceptance=0.85),
    load_record(run=5, concurrency=4, language="en", prompts=16, acceptance=0.85),
    load_record(run=6, concurrency=8, language="en", prompts=24, acceptance=0.85, slow=2.6),
]


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare([*RU, *EN])


@pytest.fixture(scope="module")
def four() -> Comparison:
    return compare([*RU, *EN], "4")


def at(found: Comparison, run: int, against: int) -> Pair:
    return next(pair for pair in found.pairs if (pair.run, pair.against) == (run, against))


def of(contrasts: tuple[Contrast, ...], id: str, **part: str) -> Contrast | None:
    return next((each for each in contrasts if each.id == id and each.part == part), None)


def test_languages_meet_at_each_load_that_both_have(found: Comparison) -> None:
    """Catches Russian at one load held against English at another, where load would pass for language."""
    assert [(pair.run, pair.against, pair.load) for pair in found.pairs] == [(1, 2, "1"), (4, 5, "4")]
    assert all(pair.comparable and pair.axis == "language" for pair in found.pairs)
    assert (found.loads, found.load) == (("1", "4"), "1")
    assert [series.runs for series in found.series] == [(1, 4), (2, 5, 6)]


def test_the_chosen_pair_comes_first_and_is_what_is_said(found: Comparison, four: Comparison) -> None:
    """Renderers take the first two reports for the pair that `contrasts` and `answer` are about."""
    assert [report.run for report in found.reports[:2]] == [1, 2]
    assert found.contrasts == at(found, 1, 2).contrasts
    assert [report.run for report in four.reports[:2]] == [4, 5]
    assert four.contrasts == at(four, 4, 5).contrasts
    assert {report.run for report in four.reports} == {1, 2, 4, 5, 6}


def test_a_load_that_differs_between_pairs_is_no_reason_to_refuse(found: Comparison) -> None:
    load = next(each for each in found.differences if each.field == "load")
    assert (load.expected, load.forbids) == (True, None)


def test_an_unknown_load_names_those_that_there_are() -> None:
    with pytest.raises(NoSuchLoad) as error:
        compare([*RU, *EN[:2]], "8")
    assert error.value.known == ("1", "4")
    with pytest.raises(NoSuchLoad):
        compare([RU[0], EN[0]], "1")


def test_where_single_speed_ups_are_not_contrasted_break_even_loads_answer(four: Comparison) -> None:
    """At load 4 no trial pair of one run has a twin in the other; where each stops paying is known all the same."""
    assert all(series.break_even_load is not None and series.break_even_load.low is not None for series in four.series)
    said = "No. The series of run 4 (ru) stops paying between load 1 and 4, that of run 5 (en) between 4 and 8; acceptance differs by −"
    assert say(four.answer).startswith(said)
    assert of(four.contrasts, "speedup_throughput") is None
    assert say(four.answer, "ru").startswith("Нет. У серии прогона 4 (ru) выгода кончается между нагрузками 1 и 4")


def test_without_a_load_in_common_load_is_the_second_difference() -> None:
    apart = compare([RU[0], EN[1]])
    assert not apart.comparable
    assert [each.field for each in apart.differences if each.forbids] == ["load"]
    assert apart.contrasts == ()


def drafters() -> list[RunRecord]:
    ngram = record(run=1, language="ru", prompts=12, acceptance=0.4)
    skip = record(run=2, language="ru", prompts=12, acceptance=0.7, spec=run_spec(drafter={"name": "layerskip", "params": {"skip": 10}}))
    longer = record(run=3, language="ru", prompts=12, acceptance=0.6, spec=run_spec(drafter={"name": "layerskip", "params": {"skip": 12}}))
    return [ngram, skip, longer]


def test_each_further_drafter_is_held_against_the_first() -> None:
    """Catches a third run that is shown beside the others and compared with nothing."""
    found = compare(drafters())
    assert [(pair.run, pair.against) for pair in found.pairs] == [(1, 2), (1, 3)]
    points = [of(pair.contrasts, "acceptance_rate") for pair in found.pairs]
    cells = [report.find("acceptance_rate") for report in found.reports]
    rates = [cell.pooled.point for cell in cells if isinstance(cell, Figure) and cell.pooled.point is not None]
    assert [each.estimate.point for each in points if each] == pytest.approx([rates[0] - rates[1], rates[0] - rates[2]])


def test_a_difference_forbids_its_own_pair_alone() -> None:
    ngram, skip, longer = drafters()
    found = compare([ngram, skip, longer.model_copy(update={"environment": environment_fact(cores=64, device="another, 64 cores")})])
    assert of(at(found, 1, 2).contrasts, "speedup_end_to_end") is not None
    elsewhere = at(found, 1, 3)
    assert of(elsewhere.contrasts, "speedup_end_to_end") is None
    assert of(elsewhere.contrasts, "acceptance_rate") is not None
    assert elsewhere.allowed is not None
    assert say(elsewhere.allowed) == "What may be compared: everything that is counted. What a clock measured may not."


def test_models_with_other_tokenizers_may_be_compared_by_the_clock_alone() -> None:
    """Catches an acceptance of one vocabulary subtracted from that of another."""
    other = preflight_fact(
        target="another", weights_digest="1" * 64, tokenizer={"name": "another", "fingerprint": "1" * 64, "vocabulary": 100}, drafter_tokenizer=None
    )
    one = record(run=1, language="ru", prompts=12)
    found = compare([one, record(run=2, language="ru", prompts=12).model_copy(update={"preflight": other})])
    pair = found.pairs[0]
    assert (pair.axis, pair.comparable) == ("model", True)
    assert {each.id for each in pair.contrasts} == {"speedup_end_to_end", "speedup_decode", "fertility", "throughput"}
    assert pair.allowed is not None
    assert "What counts tokens may not." in say(pair.allowed)


def test_characters_per_second_are_a_point_without_an_interval() -> None:
    """Two runs were not measured side by side: an interval over their prompts would hide what the machine did between them."""
    found = compare([RU[0], EN[0]])
    speed = of(found.contrasts, "throughput", arm="speculative", of="characters")
    assert speed is not None
    assert speed.estimate.point is not None
    assert (speed.estimate.low, speed.kind, speed.estimate.counted) == (None, "quotient", "parallel pairs")
    assert not [each for each in found.contrasts if each.id == "throughput" and each.part["of"] != "characters"]
    lonely = tuple(fact.model_copy(update={"parallel": None}) if fact.prompt == "ru-12" else fact for fact in RU[0].requests)
    assert of(compare([RU[0].model_copy(update={"requests": lonely}), EN[0]]).contrasts, "throughput", arm="plain", of="characters") is None


def test_repeats_of_one_run_are_no_series() -> None:
    """The same spec twice: nothing differs, and the two are still held against each other."""
    found = compare([RU[0], RU[0].model_copy(update={"run": 9})])
    assert [(pair.run, pair.against, pair.axis) for pair in found.pairs] == [(1, 9, "nothing")]
    assert found.loads == ()


def test_it_survives_its_json(found: Comparison) -> None:
    assert Comparison.model_validate_json(found.model_dump_json()) == found
