"""A run on a served engine that tells little: from its facts over its report to every page of it, in both languages."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from app.domain.facts import AnyFact, RequestFact, TrialFact
from runners.parts import offered
from tests import factories, factories_served
from tests.factories_told import told_trials, untold
from tests.integration.conftest import Service
from tests.integration.everything import loaded, on_xeon
from tests.integration.test_russian import RUSSIAN, english
from tests.latin import sentences

SERVED: dict[str, Any] = {"engine": "llama", "drafter": {"name": "ngram-simple"}, "suite": {"id": "everyday", "limit": 24}, "trials": 2}
NAMES = {"llama", "ngram-simple", "N", "size", "m", "n", "size_n", "size_m", "synthetic"}
Change = Callable[[TrialFact], dict[str, Any]]


def facts(*silent: str, change: Change = lambda trial: {}) -> list[AnyFact]:
    whole = factories.requests(prompts=9, passes=4, acceptance=0.9)
    trials = [trial.model_copy(update=change(trial)) for trial in told_trials(whole)]
    return on_xeon(loaded([untold(fact, *silent) for fact in whole], trials))


async def measured(service: Service, sent: Sequence[AnyFact], **over: Any) -> int:
    await service.offer(**offered(), max_concurrency=8, engines=("transformers", "llama"), served=(factories_served.llama(),))
    run = await service.run(**SERVED | over)
    attempt = await service.lease()
    answer = await attempt.send(0, sent)
    assert answer.status_code == 200, answer.text
    answer = await attempt.finish(1)
    assert answer.status_code == 200, answer.text
    return run


async def report(service: Service, run: int) -> dict[str, Any]:
    found: dict[str, Any] = (await service.get(f"/api/v1/runs/{run}/report")).json()
    return found


def cell(found: dict[str, Any], id: str, **part: str) -> dict[str, Any]:
    return next(each for each in found["cells"] if (each["id"], each["part"]) == (id, part))


async def test_a_run_that_tells_little_succeeds_and_says_what_it_lacks(service: Service) -> None:
    """Catches a run that cannot end well for want of a count, a page that falls over one, and an absent number shown as 0."""
    run = await measured(service, facts("rounds", "undrafted", "accepted", "discarded_bonus"))
    other = await measured(service, facts("rounds"), language="ru")
    found = await report(service, run)
    assert found["verdict"]["outcome"] == "pays"
    assert cell(found, "acceptance_rate")["pooled"]["low"] is not None
    per_round = cell(found, "tokens_per_round")["pooled"]
    assert (per_round["low"], per_round["n"], per_round["counted"]) == (None, 9, "requests")
    assert {row["rounds"] for row in found["prompts"]} == {None}
    for path in (f"/runs/{run}", f"/compare?runs={run},{other}", "/runs"):
        for headers in ({"Accept": "text/html"}, RUSSIAN):
            page = await service.client.get(path, headers=headers, follow_redirects=True)
            assert page.status_code == 200, (path, page.text[:300])
        left = [text for text in sentences(page.text) if [word for word in english(text) if word not in NAMES]]
        assert left == [], path
    said = (await service.client.get(f"/runs/{run}", headers={"Accept": "text/html"})).text
    assert "the engine did not tell it" in said
    assert "the engine told these counts of a whole trial" in said
    for path in ("report.csv", "report.parquet", "facts"):
        assert (await service.get(f"/api/v1/runs/{run}/{path}")).status_code == 200, path


async def test_what_was_counted_in_a_trial_comes_back(service: Service) -> None:
    """Catches totals that are lost, or changed, on their way through the database."""
    sent = facts("rounds", change=lambda trial: {"foreign": None} if trial.arm == "plain" else {})
    run = await measured(service, sent)
    record = await service.app.state.runs.record(run)
    assert list(record.trials) == [fact for fact in sent if isinstance(fact, TrialFact)]
    assert [fact.rounds for fact in record.requests] == [None for fact in sent if isinstance(fact, RequestFact)]


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        (lambda trial: {"foreign": 2}, "foreign traffic", "were not ours"),
        (lambda trial: {"counted": trial.counted.model_copy(update={"forced": "synthetic"})}, "forced acceptance", "made up"),
        (lambda trial: {"counted": told_trials(factories.requests(prompts=9, passes=1, acceptance=0.2))[1].counted}, "engine totals", "add up to"),
    ],
)
async def test_what_an_engine_says_of_itself_refuses(service: Service, change: Change, field: str, words: str) -> None:
    """Catches a refusal that names no reason on the page, or says it in one language alone."""
    run = await measured(service, facts(change=lambda trial: change(trial) if trial.arm == "speculative" else {}))
    found = await report(service, run)
    assert (cell(found, "acceptance_rate")["field"], found["verdict"]["outcome"]) == (field, "cannot tell")
    assert words in cell(found, "acceptance_rate")["reason"]["said"]
    page = (await service.client.get(f"/runs/{run}", headers=RUSSIAN)).text
    assert [text for text in sentences(page) if [word for word in english(text) if word not in NAMES]] == []


async def test_our_own_loop_may_not_be_silent(service: Service) -> None:
    """Catches a count of our own loop that is missing and missed by nobody; the field is named."""
    await service.offer()
    await service.run()
    attempt = await service.lease()
    answer = await attempt.send(0, [untold(factories.request_fact(), "undrafted")])
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == "/facts/0/undrafted"
