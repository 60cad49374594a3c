"""Suites that are uploaded: by line, once and for all, and a private one is told to nobody but the runner that measures with it."""

import json
import logging
from collections.abc import Mapping
from html import unescape
from typing import Any

import httpx
import pytest

from app.domain.suite import parse
from app.domain.withheld import REASON
from runners.workloads.suite import load
from tests import factories
from tests.integration.conftest import Attempt, Service, batch, bearer
from tests.integration.test_scopes import routes

# Words that nothing else in an answer has; each prompt of the suite holds them.
SECRET = "a heron folds the ninth umbrella"
JSONL = {"Content-Type": "application/jsonl"}


def line(id: str, language: str = "ru", **over: Any) -> dict[str, Any]:
    return {"id": f"{id}-{language}", "parallel": id, "language": language, "profile": "chat", "answer": "prompt", "text": f"{SECRET} {id}"} | over


def content(*lines: Mapping[str, Any]) -> bytes:
    return "\n".join(json.dumps(fields, ensure_ascii=False) for fields in lines).encode()


PAIRS = content(*(line(f"p{n}", language) for n in range(8) for language in ("ru", "en")))


async def upload(
    service: Service, body: bytes = PAIRS, id: str = "mine-v1", private: bool = False, headers: dict[str, str] | None = None
) -> httpx.Response:
    query = f"?id={id}" + ("&private=true" if private else "")
    return await service.client.post(f"/api/v1/suites{query}", content=body, headers=(headers or service.admin) | JSONL)


async def test_a_suite_is_taken_and_shown(service: Service) -> None:
    """Catches a digest of something else than the prompts, counts that do not add up, and text that is not what was sent."""
    answer = await upload(service)
    assert (answer.status_code, answer.headers["Location"]) == (201, "/api/v1/suites/mine-v1")
    made = answer.json()
    assert made["digest"] == parse("mine-v1", PAIRS)[0].digest
    assert made["counts"] == {"en": {"chat": 8}, "ru": {"chat": 8}}
    assert (made["parallel"], made["prompts"], made["warned"], made["private"]) == (8, 8, 0, False)
    assert (await service.get("/api/v1/suites/mine-v1")).json() == {name: made[name] for name in made if name not in {"warned", "warnings"}}
    first = (await service.get("/api/v1/suites/mine-v1/prompts?limit=10")).json()
    rest = (await service.get(f"/api/v1/suites/mine-v1/prompts?after={first['next_place']}")).json()
    assert rest["next_place"] is None
    assert sorted((p["id"], p["text"]) for p in [*first["items"], *rest["items"]]) == sorted(
        (f"p{n}-{language}", f"{SECRET} p{n}") for n in range(8) for language in ("ru", "en")
    )


async def test_the_text_of_shipped_suites_is_read(service: Service) -> None:
    """Catches public prompts that nobody can read, a count that leaves out profiles without a word, and other prompts of a runner that are shown as
    those of this installation."""
    ours = load("parallel-v2")
    theirs = ours.offered().model_copy(update={"id": "parallel-v9", "digest": "0" * 64})
    await service.offer(suites=(ours.offered(), theirs))
    told = (await service.get("/api/v1/suites/parallel-v2")).json()
    assert (told["prompts"], told["parallel"], told["apart"], told["counts"]["ru"]["translation"]) == (96, 108, ["translation"], 12)
    first = (await service.get("/api/v1/suites/parallel-v2/prompts?limit=150")).json()
    rest = (await service.get(f"/api/v1/suites/parallel-v2/prompts?limit=150&after={first['next_place']}")).json()
    assert rest["next_place"] is None
    assert [p["text"] for p in [*first["items"], *rest["items"]]] == [prompt.text for prompt in ours.prompts]
    page = (await service.get("/suites/parallel-v2", accept="text/html")).text
    assert "Not counted, since a run takes them only where it names them: translation (12)." in page
    assert ours.prompts[0].text[:40] in unescape(page)
    assert "translation (12)" in (await service.get("/suites", accept="text/html")).text
    assert (await service.get("/api/v1/suites/parallel-v9/prompts")).status_code == 409
    assert (await service.get("/api/v1/suites/parallel-v9")).json()["parallel"] is None


async def test_profiles_that_stand_apart_are_told_of_an_uploaded_suite(service: Service) -> None:
    """Catches a profile among those of a suite that no run takes unless it names it."""
    body = content(*(line(f"p{n}", profile="chat") for n in range(3)), *(line(f"t{n}", profile="into", answer="other") for n in range(2)))
    made = (await upload(service, body)).json()
    assert (made["prompts"], made["apart"]) == (3, ["into"])
    assert [suite["apart"] for suite in (await service.get("/api/v1/suites")).json()] == [["into"]]
    await upload(service, content(*(line(f"t{n}", answer="other") for n in range(2))), id="all-v1")
    assert (await service.get("/api/v1/suites/all-v1")).json()["apart"] == []


async def test_every_wrong_line_is_named_and_nothing_is_stored(service: Service) -> None:
    """Catches an error that does not say where, one fault per try, and half a suite that stays."""
    body = content(line("a"), line("b", text=""), line("c", answer="maybe"), {"id": "d"}) + b"\nno json"
    answer = await upload(service, body)
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (422, "urn:bezmen:problem:wrong-suite")
    said = [(found["line"], found["field"]) for found in problem["errors"]]
    assert said == [("2", "text"), ("3", "answer"), *(("4", name) for name in ("language", "profile", "answer", "text")), ("5", "")]
    assert SECRET not in answer.text
    assert (await service.get("/api/v1/suites")).json() == []


async def test_twenty_faults_are_shown_and_the_others_counted(service: Service) -> None:
    problem = (await upload(service, b"x\n" * 50)).json()
    assert (len(problem["errors"]), problem["more"]) == (20, 30)


async def test_missing_twins_are_a_warning(service: Service) -> None:
    """Catches a suite refused for what merely cannot be compared, and one taken without a word."""
    made = (await upload(service, content(line("a"), line("a", "en"), line("b")))).json()
    assert (made["parallel"], made["warned"]) == (1, 1)
    assert [(found["line"], found["field"]) for found in made["warnings"]] == [(3, "parallel")]


@pytest.mark.parametrize("id", ["mine", "Mine-v1", "../v1", "x" * 200 + "-v1", "a\x00-v1"])
async def test_an_id_without_a_version_is_refused(service: Service, id: str) -> None:
    answer = await service.client.post("/api/v1/suites", params={"id": id}, content=PAIRS, headers=service.admin | JSONL)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["parameter"] == "id"


async def test_a_misspelt_parameter_is_refused(service: Service) -> None:
    """Catches private prompts that are published because of a slip of the pen."""
    answer = await service.client.post("/api/v1/suites?id=mine-v1&prvate=true", content=PAIRS, headers=service.admin | JSONL)
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "prvate")
    assert (await service.get("/api/v1/suites")).json() == []


async def test_bounds_and_kinds(service: Service) -> None:
    """Catches a limit below the promised 8 MiB, none at all, and a form of a browser taken for lines."""
    large = content(*(line(f"p{n}", text="x" * 32_000) for n in range(255)))
    assert 8_000_000 < len(large) < 8 * 1024**2
    assert (await upload(service, large)).status_code == 201
    assert (await upload(service, large + b" " * 600_000)).status_code == 413
    plain = await service.client.post("/api/v1/suites?id=mine-v2", data={"a": "b"}, headers=service.admin)
    assert plain.status_code == 415


async def test_a_suite_does_not_change(service: Service) -> None:
    """Catches prompts exchanged under figures that name them, in the API and in the database itself."""
    made = (await upload(service)).json()
    again = await upload(service, b"\n" + PAIRS + b"\n")
    assert (again.status_code, again.json()["digest"]) == (200, made["digest"])
    other = await upload(service, content(line("a")))
    assert other.status_code == 409
    assert made["digest"] in other.json()["detail"]
    assert "mine-v2" in other.json()["detail"]
    assert (await upload(service, private=True)).status_code == 409
    for change in ("UPDATE prompts SET text = 'x'", "DELETE FROM prompts", "UPDATE stored_suites SET private = false", "DELETE FROM stored_suites"):
        with pytest.raises(Exception, match="only ever added to"):
            await service.sql(change)


async def test_what_a_runner_brings_cannot_be_replaced(service: Service) -> None:
    """Catches an upload under the id of a suite that others measure with, and text promised that is not here."""
    await service.offer()
    answer = await upload(service, id="everyday-v1")
    assert answer.status_code == 201
    brought = factories.offer().suites[0].model_copy(update={"id": "ours-v1"})
    await service.offer(suites=(brought,))
    taken = await upload(service, id="ours-v1")
    assert taken.status_code == 409
    assert brought.digest in taken.json()["detail"]
    shown = {suite["id"]: suite["origin"] for suite in (await service.get("/api/v1/suites")).json()}
    assert shown == {"everyday-v1": "uploaded", "ours-v1": "runner"}
    text = await service.get("/api/v1/suites/ours-v1/prompts")
    assert (text.status_code, "installation" in text.json()["detail"]) == (409, True)


async def test_an_uploaded_suite_never_stands_for_the_one_of_a_runner(service: Service) -> None:
    """Catches figures of uploaded prompts under the name of a suite that a runner comes to bring only later: listed, submitted, leased."""
    await service.offer()
    await upload(service)
    waiting = await service.run(suite={"id": "mine-v1"}, language="ru")
    theirs = factories.offer().suites[0].model_copy(update={"id": "mine-v1"})
    await service.offer(suites=(theirs,))
    assert (await service.ask_lease()).status_code == 204
    assert "other prompts under the name" in (await service.state(waiting))["waiting"]
    refused = await service.submit(suite={"id": "mine-v1"}, language="ru")
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/suite/id")
    assert "two suites are named mine-v1 with different digests" in refused.json()["detail"]
    for digests in (
        [suite["digest"] for suite in (await service.get("/api/v1/suites")).json()],
        [suite["digest"] for suite in (await service.get("/api/v1/catalogue")).json()["suites"]],
        [(await service.get("/api/v1/suites/mine-v1")).json()["digest"]],
    ):
        assert digests == [theirs.digest]
    assert (await service.get("/api/v1/suites/mine-v1/prompts")).status_code == 409
    await service.offer(suites=(parse("mine-v1", PAIRS)[0].offered(),))
    assert (await service.lease()).run == waiting


@pytest.mark.parametrize("id", ["parallel-v1", "parallel-mine-v7"])
async def test_names_of_suites_that_are_shipped_are_kept(service: Service, id: str) -> None:
    """Catches an upload that takes the name of a public suite before a runner has offered it."""
    answer = await upload(service, id=id)
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "id")
    shown = await form(service, PAIRS, id=id)
    assert (shown.status_code, "are kept for the suites that come with Bezmen" in shown.text) == (422, True)
    assert await service.sql("SELECT count(*) FROM stored_suites") == [(0,)]


async def test_reading_is_not_uploading(service: Service) -> None:
    assert (await upload(service, headers=await service.token("read"))).status_code == 403


async def test_a_suite_belongs_to_a_project(service: Service) -> None:
    """Catches prompts of one project read, run or blocked by another."""
    await service.app.state.access.add_project("other")
    theirs = await service.token("read", "submit", project="other")
    ours = await service.token("read", "submit")
    await service.offer(bearer(await service.app.state.access.create("everybody's", ("runner",), None)))
    assert (await upload(service, headers=theirs)).status_code == 201
    for path in ("/api/v1/suites/mine-v1", "/api/v1/suites/mine-v1/prompts"):
        answer = await service.client.get(path, headers=ours)
        assert (answer.status_code, SECRET in answer.text) == (404, False)
    assert "mine-v1" not in (await service.client.get("/api/v1/suites", headers=ours)).text
    spec = {"suite": {"id": "mine-v1"}, "language": "ru"}
    assert (await service.submit(headers=ours, **spec)).status_code == 422
    assert (await service.submit(headers=service.admin, **spec)).status_code == 422
    assert (await service.submit(headers=theirs, **spec)).status_code == 201
    assert (await upload(service, content(line("a")), headers=ours)).status_code == 201


async def test_a_run_names_an_uploaded_suite_and_its_runner_gets_the_prompts(service: Service) -> None:
    """Catches a run that waits for a runner that brings the suite, and prompts of other languages, profiles or beyond the limit on their way."""
    await service.offer()
    await upload(service, PAIRS + b"\n" + content(line("q", profile="code", answer="code"), line("q", "en", profile="code", answer="code")))
    catalogue = (await service.get("/api/v1/catalogue")).json()
    assert "mine-v1" in {suite["id"] for suite in catalogue["suites"]}
    run = await service.run(suite={"id": "mine-v1", "profiles": ["chat"], "limit": 3}, language="ru")
    assert (await service.state(run))["waiting"] is None
    leased = (await service.ask_lease()).json()
    assert leased["run"] == run
    assert [prompt["id"] for prompt in leased["suite"]["prompts"]] == ["p0-ru", "p1-ru", "p2-ru"]
    assert leased["suite"]["digest"] == (await service.get("/api/v1/suites/mine-v1")).json()["digest"]


@pytest.mark.parametrize(
    ("asked", "at", "said"),
    [
        ({"suite": {"id": "mime-v1"}}, "/suite/id", "Did you mean mine-v1?"),
        ({"suite": {"id": "mine-v1", "profiles": ["chatt"]}}, "/suite/profiles/0", "Did you mean chat?"),
        ({"suite": {"id": "mine-v1"}, "language": "de"}, "/language", "it has en, ru"),
        ({"suite": {"id": "mine-v1", "profiles": ["code"]}, "language": "en"}, "/suite", "no prompt in en"),
    ],
)
async def test_what_a_suite_does_not_have_is_refused_at_once(service: Service, asked: dict[str, Any], at: str, said: str) -> None:
    """Catches a run that is queued and then fails on its runner."""
    await service.offer()
    await upload(service, PAIRS + b"\n" + content(line("q", profile="code")))
    answer = await service.submit(**asked)
    assert answer.status_code == 422
    assert [(found["pointer"], said in found["detail"]) for found in answer.json()["errors"]] == [(at, True)]


async def leased(service: Service, **spec: Any) -> Attempt:
    await service.offer()
    await service.run(**({"suite": {"id": "mine-v1", "limit": 8}, "language": "ru"} | spec))
    return await service.lease()


def withheld(private: bool = True) -> list[Any]:
    """Facts as the runner of a private suite sends them."""
    kept = {"output_ids": None, "output_text": None} if private else {}
    digest = parse("mine-v1", PAIRS)[0].digest
    changes: dict[str, dict[str, Any]] = {
        "request": kept | {"profile": "chat"},
        "preflight": {"suite_digest": digest, "suite_private": private, "profiles": {"chat": 8}},
    }
    facts = [fact.model_copy(update=changes.get(fact.kind, {})) for fact in factories.facts()]
    return [fact.model_copy(update={"prompt": f"p{int(fact.prompt[-2:]) - 1}-ru"}) if fact.kind == "request" else fact for fact in facts]


async def test_another_suite_than_the_stored_one_is_refused(service: Service) -> None:
    """Catches figures of other prompts under the name of an uploaded suite."""
    await upload(service)
    attempt = await leased(service)
    wrong = await attempt.send(0, [factories.preflight_fact()])
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["pointer"] == "/facts/0/suite_digest"
    told = factories.preflight_fact(suite_digest=parse("mine-v1", PAIRS)[0].digest, suite_private=True)
    assert (await attempt.send(0, [told])).json()["errors"][0]["pointer"] == "/facts/0/suite_private"


async def test_an_answer_to_a_private_prompt_is_refused(service: Service) -> None:
    """Catches a runner that sends what it should have kept to itself: nothing of it may be stored."""
    await upload(service, private=True)
    attempt = await leased(service)
    whole = factories.request_fact(output_text=SECRET)
    for kept in ("output_text", "output_ids"):
        fact = whole.model_copy(update={"output_text": None, "output_ids": None} | {kept: getattr(whole, kept)})
        refused = await attempt.send(0, [fact])
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:bezmen:problem:text-revealed")
        assert SECRET not in refused.text
    assert await service.sql("SELECT count(*) FROM requests") == [(0,)]


async def test_private_text_appears_nowhere(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    """Catches the text of a private suite in any answer to a GET, in any event, in any log, in an error about it, and in any table but its own."""
    caplog.set_level(logging.DEBUG)
    assert (await upload(service, PAIRS.replace(b"chat", b"no chat"), private=True)).status_code == 422
    made = await upload(service, private=True)
    assert made.status_code == 201
    await upload(service, content(line("a")), private=True)
    attempt = await leased(service)
    facts = withheld()
    for number, part in enumerate([facts[:4], facts[4:]]):
        assert (await attempt.send(number, part)).status_code == 200
    assert (await attempt.finish(2)).status_code == 200
    text = await service.get("/api/v1/suites/mine-v1/prompts")
    assert (text.status_code, text.json()["title"]) == (403, "The text of this suite is shown to nobody")
    values = {"run": attempt.run, "run_id": attempt.run, "suite": "mine-v1", "suite_id": "mine-v1", "figure": "acceptance_rate", "campaign": 1}
    looked = 0
    for route in routes(service.app):
        if route.method == "GET" and "stream" not in route.path and "plotly" not in route.path:
            path = route.path
            for name, value in values.items():
                path = path.replace(f"{{{name}}}", str(value))
            answer = await service.client.get(path.replace("{", "").replace("}", ""), headers=service.admin)
            assert SECRET not in answer.text, path
            looked += 1
    assert looked > 20
    assert (await service.state(attempt.run))["state"] == "succeeded"
    report = (await service.get(f"/api/v1/runs/{attempt.run}/report")).json()
    assert any("private" in note["text"] for note in report["notes"])
    assert SECRET not in caplog.text
    tables = [
        row[0]
        for row in await service.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'")
    ]
    found = [
        table for table in tables if (await service.sql(f"SELECT count(*) FROM {table} t WHERE t::text LIKE :secret", secret=f"%{SECRET}%"))[0][0]
    ]
    assert found == ["prompts"]


@pytest.mark.parametrize("end", ["finish", "release"])
async def test_what_a_runner_says_of_a_private_end_is_withheld(service: Service, end: str) -> None:
    """Catches a prompt that an error quotes, on pages, in answers, in the file of results, in an event or in any table; and a code lost with it."""
    await upload(service, private=True)
    attempt = await leased(service)
    if end == "finish":
        words = {"outcome": "failed", "code": "prompt_too_long", "reason": f"too long: {SECRET}"}
        assert [(await attempt.finish(0, **words)).status_code for _ in range(2)] == [200, 200]
    else:
        for left in (2, 1, 0):
            assert (await attempt.post("release", {"reason": f"stopped at {SECRET}"})).status_code == 200
            attempt = await service.lease() if left else attempt
    run = await service.state(attempt.run)
    assert (run["state"], run["failure_code"]) == ("failed", "prompt_too_long" if end == "finish" else "lost")
    assert REASON in run["failure"]
    for path in (f"/runs/{attempt.run}", f"/api/v1/runs/{attempt.run}/report", f"/api/v1/runs/{attempt.run}/events", "/api/v1/runs", "/runs"):
        assert SECRET not in (await service.get(path)).text, path
    for table in ("runs", "attempts", "events"):
        assert await service.sql(f"SELECT count(*) FROM {table} t WHERE t::text LIKE :secret", secret=f"%{SECRET}%") == [(0,)]
    if end == "finish":
        page = (await service.get(f"/runs/{attempt.run}?lang=ru")).text
        answer = page.partition('id="answer"')[2].partition("</section>")[0]
        assert ("Набор закрытый, поэтому слова исполнителя" in answer, "The suite is private" in answer) == (True, False)


@pytest.mark.parametrize("forgotten", [False, True])
@pytest.mark.parametrize("code", ["language_differs", "lost"])
async def test_what_was_kept_of_a_private_end_before_is_not_shown(
    service: Service, monkeypatch: pytest.MonkeyPatch, code: str, forgotten: bool
) -> None:
    """Catches words that quote a private prompt, kept before they were withheld on arrival: in a run, an attempt, an event, and a report for good."""
    await upload(service, private=True)
    attempt = await leased(service)
    with monkeypatch.context() as before:
        for place in ("app.attempts.service.withhold", "app.runs.records.withhold"):
            before.setattr(place, lambda fact: fact)
        before.setattr("app.attempts.service.REASON", f"stopped at {SECRET}")
        if code == "lost":
            for left in (2, 1, 0):
                await attempt.post("release", {"reason": "stopped"})
                attempt = await service.lease() if left else attempt
        else:
            await attempt.finish(0, outcome="failed", code=code, reason=f"prompts are not in ru: {SECRET}")
        await service.get(f"/api/v1/runs/{attempt.run}/report")
    stored = ("runs", "events", "attempts") if code == "lost" else ("runs", "events", "attempts", "reports", "figures")
    for table in stored:
        assert await service.sql(f"SELECT 1 FROM {table} t WHERE t::text LIKE :secret", secret=f"%{SECRET}%"), table
    if forgotten:
        await service.sql("UPDATE reports SET analysis = 'bezmen-1+0000000000000000'")
        await service.sql("INSERT INTO forgotten (run_id) VALUES (:run)", run=attempt.run)
    run = f"/api/v1/runs/{attempt.run}"
    for path in (
        run,
        f"{run}/report",
        f"{run}/report.csv",
        f"{run}/events",
        "/api/v1/runs",
        "/api/v1/languages",
        "/runs",
        f"/runs/{attempt.run}",
        "/languages",
    ):
        answer = await service.get(path)
        assert (answer.status_code, SECRET in answer.text) == (200, False), path
    found = await service.state(attempt.run)
    assert (found["failure"], found["failure_code"]) == (REASON, code)
    assert REASON in (await service.get(f"{run}/events")).text


async def test_of_a_public_suite_the_reason_is_told(service: Service) -> None:
    """Catches a failure that nobody can learn from although its suite hides nothing."""
    await upload(service)
    attempt = await leased(service)
    await attempt.finish(0, outcome="failed", code="prompt_too_long", reason="Prompt 4 takes 900 tokens.")
    assert (await service.state(attempt.run))["failure"] == "Prompt 4 takes 900 tokens."


async def test_a_broken_rule_does_not_print_values(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    """Catches a database error that carries the text into the log."""
    made = (await upload(service, private=True)).status_code
    assert made == 201
    with pytest.raises(Exception, match="uq_prompts") as error:
        await service.sql(
            "INSERT INTO prompts SELECT suite_id, place + 1000, name, parallel, language, profile, answer, :text FROM prompts", text=SECRET
        )
    assert SECRET not in str(error.value)
    assert SECRET not in caplog.text


async def test_only_the_runner_that_holds_the_attempt_gets_the_text(service: Service) -> None:
    """Catches a lease whose prompts go to two runners."""
    await upload(service, private=True)
    first = await leased(service)
    other = bearer(await service.app.state.access.create("second", ("runner",), None))
    await service.offer(other)
    assert (await service.ask_lease(headers=other)).status_code == 204
    again = await service.client.post(f"/api/v1/attempts/{first.id}/facts", json=batch(0, []), headers=other)
    assert again.status_code == 401


FORM = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}


async def form(service: Service, body: bytes | None, id: str = "mine-v1", language: str = "en", **fields: str) -> httpx.Response:
    files = {} if body is None else {"file": ("mine.jsonl", body, "application/octet-stream")}
    return await service.client.post(f"/suites?lang={language}", data={"id": id} | fields, files=files or None, headers=FORM)


async def test_the_form_uploads_and_the_pages_show(service: Service) -> None:
    """Catches a form that works with a script alone, and a page that shows other prompts than were sent, or escapes none."""
    hostile = content(line("a", text="<script>alert(1)</script> " + SECRET), line("a", "en"), line("b"))
    sent = await form(service, hostile)
    assert (sent.status_code, sent.headers["Location"]) == (303, "/suites/mine-v1")
    shown = (await service.get("/suites/mine-v1?lang=en")).text
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert" not in shown
    assert "Russian: 1\u00a0prompt without a twin in every other language" in shown
    listed = (await service.get("/suites?lang=en")).text
    assert '<a href="/suites/mine-v1">mine-v1</a>' in listed
    assert "uploaded: 1;" in listed


async def test_the_form_names_every_line_and_keeps_what_was_typed(service: Service) -> None:
    """Catches an error page in another language, one that loses the id, and one that repeats the text."""
    wrong = await form(service, content(line("a", answer="x"), line("b", text="")), language="ru", private="yes")
    assert wrong.status_code == 422
    assert "Строка 1, answer: Напишите «prompt»" in wrong.text
    assert "Строка 2, text: Напишите от 1 до 32" in wrong.text
    assert 'value="mine-v1"' in wrong.text
    assert SECRET not in wrong.text
    empty = await form(service, None, id="")
    assert empty.status_code == 422
    assert "Choose a file" in empty.text
    assert "Name the suite" in empty.text
    assert (await form(service, PAIRS, id="mine")).status_code == 422
    taken = [await form(service, PAIRS), await form(service, content(line("a")))]
    assert [answer.status_code for answer in taken] == [303, 422]
    assert "upload the new one as mine-v2" in taken[1].text


async def test_the_page_of_a_private_suite_has_no_text(service: Service) -> None:
    """Catches private prompts on their own page, or in the list."""
    assert (await form(service, PAIRS, private="yes")).status_code == 303
    for path in ("/suites", "/suites/mine-v1"):
        shown = await service.get(f"{path}?lang=en")
        assert (shown.status_code, SECRET in shown.text, "private" in shown.text) == (200, False, True)


async def test_a_form_of_another_site_uploads_nothing(service: Service) -> None:
    sent = await service.client.post("/suites", data={"id": "mine-v1"}, files={"file": ("x", PAIRS)}, headers=FORM | {"Sec-Fetch-Site": "cross-site"})
    assert sent.status_code == 403
    assert await service.sql("SELECT count(*) FROM stored_suites") == [(0,)]
