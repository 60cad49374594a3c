"""Runners and the line before them."""

from typing import Any

from tests import factories
from tests.integration.conftest import Service


async def of(service: Service, path: str) -> Any:
    answer = await service.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_runner_says_what_it_offers_and_how_quiet_it_was(service: Service) -> None:
    """Catches an offer that is not shown, a disturbed trial that is not counted, and the floor of another runner."""
    run = await service.finished(language="ru")
    await service.get(f"/api/v1/runs/{run}/report")
    other = await service.token("runner")
    await service.offer(headers=other, labels={"gpu": "h200"})
    measured, fresh = await of(service, "runners")
    own = await of(service, f"runs/{run}/report")
    assert (measured["name"], measured["state"], measured["quiet"]["trials"], measured["quiet"]["disturbed"]) == ("local", "idle", 10, 0)
    assert measured["quiet"]["run"] == run
    assert measured["quiet"]["noise_floor"] == own["verdict"]["noise_floor"]
    assert [part["name"] for part in measured["offer"]["drafters"]] == ["ngram", "layerskip"]
    assert (fresh["labels"], fresh["quiet"]) == ({"gpu": "h200"}, {"trials": 0, "disturbed": 0, "noise_floor": None, "run": None, "floors": None})


async def test_disturbed_trials_are_counted(service: Service) -> None:
    await service.offer()
    run = await service.run()
    attempt = await service.lease()
    facts = factories.facts(prompts=8, passes=4)
    facts = [fact.model_copy(update={"contended": True}) if fact.kind == "trial" and fact.trial == 1 else fact for fact in facts]
    assert (await attempt.send(0, facts)).status_code == 200
    assert (await attempt.finish(1)).status_code == 200
    assert (await of(service, f"runs/{run}"))["state"] == "succeeded"
    quiet = (await of(service, "runners"))[0]["quiet"]
    assert (quiet["trials"], quiet["disturbed"]) == (10, 3)


async def test_the_line_says_why(service: Service) -> None:
    """Catches a line out of order, and a run that waits for ever without a word about it."""
    await service.offer()
    first = await service.run()
    attempt = await service.lease()
    await attempt.send(0, [factories.progress_fact(stage="trial", done=3, total=16)])
    labelled, second = await service.run(labels={"gpu": "h200"}), await service.run(language="en")
    waiting = await of(service, "queue")
    assert [(one["run"], one["position"], one["startable"]) for one in waiting] == [(labelled, 1, False), (second, 2, True)]
    assert [[reason["standing"] for reason in one["reasons"]] for one in waiting] == [["labels"], ["busy"]]
    runner = (await of(service, "runners"))[0]
    assert (runner["state"], runner["run"]) == ("busy", first)


async def test_another_project_sees_neither_its_line_nor_its_runs(service: Service) -> None:
    """Catches a run of one project named on the page of another: of a shared runner it sees that it is busy, not with what."""
    await service.offer()
    await service.run()
    await service.lease()
    await service.run()
    await service.app.state.access.add_project("other")
    there = {"Authorization": f"Bearer {await service.app.state.access.create('there', ('read',), 'other')}"}
    assert (await service.client.get("/api/v1/queue", headers=there)).json() == []
    for runner in (await service.client.get("/api/v1/runners", headers=there)).json():
        assert (runner["run"], runner["progress"], runner["quiet"]["run"], runner["quiet"]["trials"]) == (None, None, None, 0)
