"""A run says in full what it did: its parameters with their defaults, and facts from which its report can be made anew."""

import json
from typing import Any

from app.domain.facts import FACT
from app.domain.observations import CostFact, DivergenceFact, LearnedFact
from app.domain.spec import RunSpec
from app.domain.status import RunState
from app.reports.build import build
from app.reports.record import RunRecord
from app.reports.report import Report
from app.reports.spoken import spoken
from tests import factories
from tests.integration.conftest import Service

SPELT: tuple[dict[str, Any], ...] = (
    {"drafter": "ngram"},
    {"drafter": {"name": "ngram", "params": {"max_ngram": 3}}, "controller": {"name": "constant", "params": {"draft_tokens": 4}}},
)


async def test_defaults_are_told_whether_or_not_they_were_typed(service: Service) -> None:
    """Catches a passport that keeps parameters as they were sent: two equal runs would differ in them."""
    await service.offer()
    specs = [(await service.submit(**over)).json()["spec"] for over in SPELT]
    assert specs[0] == specs[1]
    assert specs[0]["controller"] == {"name": "constant", "params": {"draft_tokens": 4}}


async def test_a_run_with_typed_defaults_compares_with_one_without(service: Service) -> None:
    """Catches Russian against English refused because the form typed what the command line left out."""
    runs = []
    for language, over in zip(("ru", "en"), SPELT, strict=True):
        await service.offer()
        run = await service.run(language=language, **over)
        attempt = await service.lease()
        assert (await attempt.finish(await attempt.measure(language=language))).status_code == 200
        runs.append(run)
    found = (await service.get(f"/api/v1/comparisons?runs={runs[0]},{runs[1]}")).json()
    assert found["comparable"]
    assert {each["field"] for each in found["differences"]} <= {"language", "answer_language"}


async def test_the_same_key_is_the_same_run_as_it_was_typed(service: Service) -> None:
    """Catches a key that refuses its own repetition because the run is kept in full."""
    await service.offer()
    first, again = [await service.submit("once", **SPELT[0]) for _ in range(2)]
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]


async def test_the_report_can_be_made_anew_from_the_facts(service: Service) -> None:
    """Catches facts that are left out of the file: what costs foretell, and how answers part, could not be checked by anybody."""
    await service.offer()
    run = await service.run()
    attempt = await service.lease()
    parted = {"round_step": None, "output_digest": "0" * 64, "output_ids": None}
    facts = factories.facts(prompts=8, passes=4)
    facts = [fact.model_copy(update=parted) if _parts(fact) else fact for fact in facts]
    seen = DivergenceFact(
        purpose="losslessness", trial=0, prompt="ru-03", seed=1, position=5, judgement="tie", gap=0.0, tolerance=0.001, plain_token=7,
        speculative_token=8, plain_text="a", speculative_text="b",
    )  # fmt: skip
    costs = [
        CostFact(stage=stage, sequences=1, tokens=tokens, seconds=(seconds,) * 6)
        for stage, tokens, seconds in (("step", 0, 0.02), ("draft", 4, 0.01), ("verify", 4, 0.024))
    ]
    learned = LearnedFact(tokens=40, left_out=(0, 0, 0.75, 0.25), attention=0.002, attention_per_entry=1e-6, mlp=0.003)
    assert (await attempt.send(0, [*facts, *costs, seen, learned])).status_code == 200
    assert (await attempt.finish(1)).status_code == 200
    answer = (await service.get(f"/api/v1/runs/{run}/report")).json()
    shown = Report.model_validate(answer)
    spec = RunSpec.model_validate((await service.state(run))["spec"])
    told = [FACT.validate_python(json.loads(line)) for line in (await service.get(f"/api/v1/runs/{run}/facts")).text.splitlines()]
    assert shown.find("draft_cost", sequences="1", tokens="4") is not None
    assert shown.learned == learned
    assert any(each.ties for each in shown.losslessness)
    assert spoken(build(_record(run, spec, told)).model_dump(mode="json")) == answer


def _parts(fact: Any) -> bool:
    return fact.kind == "request" and (fact.arm, fact.purpose, fact.prompt) == ("speculative", "losslessness", "ru-03")


def _record(run: int, spec: RunSpec, told: list[Any]) -> RunRecord:
    def of(kind: str) -> tuple[Any, ...]:
        return tuple(fact for fact in told if fact.kind == kind)

    one = {name: next(iter(of(name)), None) for name in ("preflight", "environment", "warmup", "learned", "finish")}
    many = {"requests": of("request"), "trials": of("trial"), "costs": of("cost"), "divergences": of("divergence")}
    return RunRecord(run=run, state=RunState.SUCCEEDED, spec=spec, **one, **many)
