"""The languages summary: one row a tokenizer and language, each number of one run."""

from typing import Any

from tests import factories
from tests.integration.conftest import Service


async def summary(service: Service) -> Any:
    answer = await service.get("/api/v1/languages")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def reported(service: Service, **over: Any) -> int:
    run = await service.finished(**over)
    assert (await service.get(f"/api/v1/runs/{run}/report")).status_code == 200
    return run


async def test_nothing_measured(service: Service) -> None:
    assert await summary(service) == {"rows": [], "refusals": [], "stopped": []}


async def test_one_row_a_tokenizer_and_language(service: Service) -> None:
    """Catches languages that are pooled, acceptance without speed beside it, and an older run of the same kind shown as if it were another."""
    older = await reported(service, language="ru", acceptance=0.3)
    newer = await reported(service, language="ru", acceptance=0.6)
    english = await reported(service, language="en")
    rows = (await summary(service))["rows"]
    assert [(row["language"], row["runs"], row["refused_runs"], [one["run"] for one in row["measured"]]) for row in rows] == [
        ("ru", 2, 0, [newer]),
        ("en", 1, 0, [english]),
    ]
    assert older < newer
    own = (await service.get(f"/api/v1/runs/{newer}/report")).json()
    shown = rows[0]["measured"][0]
    assert shown["acceptance"] == next(cell for cell in own["cells"] if cell["id"] == "acceptance_rate" and not cell["part"])
    assert shown["speedup"]["id"] == own["headline"]
    assert rows[0]["fertility"] == [cell for cell in own["cells"] if cell["id"] == "fertility"]
    assert rows[0]["tokenizer"]["fingerprint"] == own["passport"]["tokenizer"]["fingerprint"]


async def test_a_refusal_says_why_and_keeps_what_prompts_tell(service: Service) -> None:
    """Catches a language that vanishes when its answers are refused: fertility of the prompts is a property of the tokenizer."""
    run = await reported(service, language="ru", degenerate=True, repeated_share=0.83)
    found = await summary(service)
    row = found["rows"][0]
    assert (row["refused_runs"], row["measured"][0]["outcome"], row["measured"][0]["refused"]) == (1, "cannot tell", True)
    assert [(refused["run"], refused["field"]) for refused in found["refusals"]] == [(run, "degenerate")]
    for path in ("/languages", "/landscape"):
        text = (await service.get(path, Accept="text/html")).text
        assert "refused for the same reason" in text, path
    assert "repeat themselves" in found["refusals"][0]["reason"]["text"]
    told = {(cell["part"]["text"], cell["part"]["per"]): "pooled" in cell for cell in row["fertility"]}
    assert told[("prompts", "word")]
    assert row["tokenizer"] is not None


async def test_a_run_that_was_not_what_it_said(service: Service) -> None:
    """Catches a run stopped for its tokenizer that nobody hears of."""
    await service.offer()
    run = await service.run()
    attempt = await service.lease()
    said = "The run stopped before measuring: you named gemma3, the model uses smollm2."
    answer = await attempt.finish(0, outcome="failed", code="tokenizer_differs", reason=said)
    assert answer.status_code == 200, answer.text
    found = await summary(service)
    assert [(one["run"], one["field"]) for one in found["stopped"]] == [(run, "tokenizer")]
    assert found["rows"] == []


async def test_another_project_sees_nothing_of_it(service: Service) -> None:
    await reported(service)
    await service.app.state.access.add_project("other")
    there = {"Authorization": f"Bearer {await service.app.state.access.create('there', ('read',), 'other')}"}
    for path in ("languages", "landscape"):
        answer = await service.client.get(f"/api/v1/{path}", headers=there)
        assert answer.status_code == 200
        assert '"run"' not in answer.text


async def test_another_machine_measures_another_kind(service: Service) -> None:
    """Catches a run on a CPU that takes the place of one on a GPU, since all that was asked for is the same."""
    await service.offer()
    for device in ("NVIDIA H200", "x86_64, 2 cores", "NVIDIA H200"):
        run = await service.run()
        attempt = await service.lease()
        told = [factories.environment_fact(device=device), *(fact for fact in factories.facts() if fact.kind != "environment")]
        assert (await attempt.send(0, told)).status_code == 200
        assert (await attempt.finish(1)).status_code == 200
        assert (await service.get(f"/api/v1/runs/{run}/report")).status_code == 200
    (row,) = (await summary(service))["rows"]
    assert [(one["run"], one["runs"], one["device"]) for one in row["measured"]] == [(3, 2, "NVIDIA H200"), (2, 1, "x86_64, 2 cores")]
    page = (await service.get("/languages")).text
    assert page.count("· NVIDIA H200") == 1
    assert page.count("· x86_64, 2 cores") == 1
