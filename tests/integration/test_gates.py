"""Gates over HTTP: what is judged, and what is turned away."""

from typing import Any

import httpx
import pytest

from tests.integration.conftest import Service


async def ask(service: Service, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
    return await service.client.post("/api/v1/gates", json=body, headers=service.admin if headers is None else headers)


async def test_a_gate_shows_speed_and_acceptance_with_their_passport(service: Service) -> None:
    """Catches a gate that answers with a number alone: acceptance without speed, or either without what it was measured on."""
    run = await service.finished(language="en", acceptance=0.9)
    found = (await ask(service, run=run, bounds=[{"figure": "acceptance_rate", "min": 0.3}])).json()
    report = (await service.get(f"/api/v1/runs/{run}/report")).json()
    assert (found["answer"], found["family"], found["confirmed"]) == ("holds", 1, None)
    assert [cell["id"] for cell in found["beside"]] == [report["headline"], "acceptance_rate"]
    assert (found["passport"], found["question"]) == (report["passport"], report["question"])
    (cell,) = [cell for cell in report["cells"] if cell["id"] == "acceptance_rate" and not cell["part"]]
    assert found["checks"][0]["word"]["estimate"] == cell["pooled"]


async def test_the_size_of_the_family_is_said(service: Service) -> None:
    """Catches several checks of which one fails by chance, without a word about how many were looked at."""
    run = await service.finished(language="en", acceptance=0.9)
    bounds = [{"figure": "acceptance_rate", "min": 0.1}, {"figure": "tokens_per_round", "min": 1}, {"figure": "headline", "max": 9}]
    found = (await ask(service, run=run, bounds=bounds)).json()
    assert (found["answer"], found["family"]) == ("holds", 3)
    assert "are a family" in found["notes"][0]["text"]


async def test_a_repeat_confirms_or_takes_back(service: Service) -> None:
    """Catches a failure that stands on one run alone, and a repeat that may be any run."""
    slow = await service.finished(language="en", acceptance=0.3)
    again = await service.finished(language="en", acceptance=0.3)
    fast = await service.finished(language="en", acceptance=0.95)
    other = await service.finished(language="ru", acceptance=0.3)
    once = (await ask(service, run=slow, verdict="pays")).json()
    assert (once["answer"], once["notes"][-1]["text"]) == ("does not hold", "Not confirmed by a repeat: one run alone says so.")
    both = (await ask(service, run=slow, verdict="pays", repeat=again)).json()
    assert (both["answer"], both["confirmed"]) == ("does not hold", True)
    torn = (await ask(service, run=slow, verdict="pays", repeat=fast)).json()
    assert (torn["answer"], torn["confirmed"], torn["checks"][0]["repeated"]["answer"]) == ("cannot tell", False, "holds")
    assert (await ask(service, run=slow, verdict="pays", repeat=other)).json()["errors"][0]["pointer"] == "/repeat"


async def test_against_a_baseline(service: Service) -> None:
    """Catches a baseline that is not looked at, one that is taken for the run, and one of another language."""
    old = await service.finished(language="en", acceptance=0.9)
    new = await service.finished(language="en", acceptance=0.9)
    worse = await service.finished(language="en", acceptance=0.3)
    russian = await service.finished(language="ru", acceptance=0.9)
    assert (await ask(service, run=new, baseline=old)).json()["checks"][1]["answer"] == "holds"
    assert (await ask(service, run=worse, baseline=old)).json()["answer"] == "does not hold"
    assert (await ask(service, run=old, baseline=worse)).json()["answer"] == "holds"
    refused = (await ask(service, run=russian, baseline=old)).json()
    assert refused["answer"] == "could not be measured"
    assert "language" in refused["checks"][0]["word"]["sentence"]["values"]["fields"]


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"run": 1}, 422, ""),
        ({"run": 99, "verdict": "pays"}, 404, None),
        ({"run": 1, "verdict": "pays", "baseline": 99}, 404, None),
        ({"run": 1, "verdict": "perhaps"}, 422, "/verdict"),
        ({"run": 1, "bounds": [{"figure": "acceptance", "min": 0.5}]}, 422, "/bounds/0/figure"),
        ({"run": 1, "bounds": [{"figure": "acceptance_rate", "min": 50}]}, 422, "/bounds/0/min"),
        ({"run": 1, "baseline": 2, "tolerances": [{"figure": "ttft", "within": 0.1}]}, 422, "/tolerances/0/figure"),
    ],
)
async def test_what_cannot_be_judged(service: Service, body: dict[str, Any], status: int, pointer: str | None) -> None:
    """Catches a typing error that reads as an answer."""
    await service.finished(language="en", acceptance=0.9)
    await service.finished(language="en", acceptance=0.8)
    answer = await ask(service, **body)
    assert answer.status_code == status, answer.text
    if pointer is not None:
        assert answer.json()["errors"][0]["pointer"] == pointer


async def test_a_run_that_has_not_ended_is_not_judged(service: Service) -> None:
    """Catches a gate that looks while it is measured: that would choose when to stop."""
    await service.offer()
    run = await service.run()
    answer = await ask(service, run=run, verdict="pays")
    assert (answer.status_code, answer.json()["detail"]) == (409, f"Run {run} is queued; a gate judges it when it has ended.")


async def test_who_may_ask(service: Service) -> None:
    """Catches a gate that a runner, or another project, may put."""
    run = await service.finished(language="en", acceptance=0.9)
    assert (await ask(service, service.runner, run=run, verdict="pays")).status_code == 403
    assert (await ask(service, {}, run=run, verdict="pays")).status_code == 401
    await service.app.state.access.add_project("other")
    token = await service.app.state.access.create("stranger", ("submit",), project="other")
    assert (await ask(service, {"Authorization": f"Bearer {token}"}, run=run, verdict="pays")).status_code == 404
