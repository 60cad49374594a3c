"""Lists, figures, comparisons, events and errors as a client sees them."""

import asyncio
import csv
import html
import io
import json
from typing import Any

import pytest

from app.runs import analysis, records
from tests import factories
from tests.integration.conftest import Service


async def test_lists_count_what_they_hide(service: Service) -> None:
    """Catches a filter that hides runs silently, and a facet that counts under its own filter."""
    await service.finished(language="ru", acceptance=0.6)
    await service.finished(language="en", acceptance=0.8)
    await service.run(language="en", drafter="layerskip")
    page = (await service.get("/api/v1/runs?language=ru")).json()
    assert ([run["id"] for run in page["items"]], page["total"], page["hidden"]) == ([1], 1, 2)
    assert page["facets"]["language"] == {"en": 2, "ru": 1}
    assert page["facets"]["drafter"] == {"ngram": 1}
    assert page["counts"] == {"all": 3, "queued": 1, "succeeded": 2, **{page["items"][0]["outcome"]: 2}}


async def test_pages_follow_each_other_without_gaps(service: Service) -> None:
    """Catches a cursor that repeats or skips a run."""
    await service.offer()
    for _ in range(5):
        await service.run()
    seen: list[int] = []
    path = "/api/v1/runs?limit=2"
    while path:
        answer = await service.get(path)
        seen += [run["id"] for run in answer.json()["items"]]
        path = answer.links["next"]["url"] if "next" in answer.links else ""
    assert seen == [5, 4, 3, 2, 1]


async def looping(service: Service) -> int:
    """A Russian run whose answers repeat themselves."""
    return await service.finished(language="ru", degenerate=True, repeated_share=0.9)


async def test_a_refused_figure_is_a_409_that_names_its_gate(service: Service) -> None:
    """Catches a number that was refused on the page and handed out by the API."""
    run = await looping(service)
    answer = await service.get(f"/api/v1/runs/{run}/figures/acceptance_rate")
    problem = answer.json()
    assert (answer.status_code, problem["type"].rsplit(":", 1)[1]) == (409, "figure-refused")
    assert (problem["figure"], problem["field"], problem["run"]) == ("acceptance_rate", "degenerate", run)
    assert "%(" not in problem["detail"]
    summary = await service.state(run)
    assert summary["refused"] is True
    assert "pooled" not in json.dumps([summary["acceptance"], summary["speedup"]])
    assert (await service.get("/api/v1/runs?outcome=refused")).json()["total"] == 1


async def test_refusals_stand_in_the_query_where_figures_would(service: Service) -> None:
    """Catches a query over runs that drops refusals: what is left would look better than it is."""
    refused, good = await looping(service), await service.finished(language="ru", seed=3)
    found = (await service.get("/api/v1/figures?id=acceptance_rate&language=ru")).json()
    assert [(item["run"], "field" in item["cell"]) for item in found] == [(good, False), (refused, True)]
    assert (await service.get("/api/v1/figures?id=acceptance_rate&language=en")).json() == []


async def test_a_figure_without_a_passport_is_refused_by_field(service: Service) -> None:
    """Catches a figure of a run that failed before its tokenizer was read: no passport, no figure."""
    await service.offer()
    run = await service.run()
    attempt = await service.lease()
    await attempt.send(0, [factories.environment_fact(), *factories.requests()])
    await attempt.finish(1, outcome="failed", code="crashed", reason="died")
    answer = await service.get(f"/api/v1/runs/{run}/figures/acceptance_rate")
    assert (answer.status_code, answer.json()["field"]) == (409, "tokenizer")


async def test_a_run_that_failed_gives_no_figure_out(service: Service) -> None:
    """Catches the speed-up of a run whose result the service has refused: by name, by part, in the files, in the list of runs. Its facts stay."""
    await service.offer()
    run = await service.run()
    attempt = await service.lease()
    batches = await attempt.measure()
    await attempt.finish(batches, outcome="failed", code="refused", reason="The service refused the result.")
    for path in ("speedup_end_to_end", "acceptance_rate", "acceptance_at?position=2", "throughput?arm=plain"):
        answer = await service.get(f"/api/v1/runs/{run}/figures/{path}")
        assert (answer.status_code, answer.json()["field"]) == (409, "state")
        assert "The run failed: The service refused the result." in answer.json()["detail"]
    (row,) = (await service.get("/api/v1/runs")).json()["items"]
    assert (row["state"], row["outcome"], row["refused"]) == ("failed", None, False)
    assert [row[name]["field"] for name in ("speedup", "acceptance")] == ["state"] * 2
    told = (await service.get(f"/api/v1/runs/{run}/report.csv")).text.splitlines()
    assert len(told) > 20
    assert all(",refused," in line for line in told[1:])
    assert '"kind":"request"' in (await service.get(f"/api/v1/runs/{run}/facts")).text


async def test_the_table_refuses_a_figure_without_language_or_tokenizer(service: Service) -> None:
    """Catches an import or a script that writes a bare number beside the others."""
    await service.finished()
    await service.get("/api/v1/runs/1/report")
    for column in ("language", "tokenizer", "drafter_tokenizer"):
        with pytest.raises(Exception, match="figure_has_passport"):
            await service.sql(f"UPDATE figures SET {column} = NULL WHERE kind = 'figure'")


async def test_what_figures_there_are(service: Service) -> None:
    """Catches an address of the README that answers with an error, and a page without its twin."""
    figures = (await service.get("/api/v1/figures")).json()
    assert {"id": "acceptance_rate", "name": "Acceptance, V/D", "unit": "share", "better": "higher"}.items() <= figures[0].items()
    whole = (await service.get("/api/v1/methodology")).json()
    assert whole["figures"] == figures
    assert len(whole["over_texts"]) > 10
    assert len(whole["over_machines"]) > 10
    page = (await service.get("/methodology", Accept="text/html")).text
    assert 'href="/api/v1/methodology"' in page


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/api/v1/runs/1/figures/acceptance_rte", 404, "no-such-figure"),
        ("/api/v1/runs/1/figures/acceptance_rate", 409, "not-finished"),
        ("/api/v1/figures?id=speed", 404, "no-such-figure"),
        ("/api/v1/figures?language=ru", 422, "invalid-input"),
        ("/api/v1/runs/999", 404, "no-such-run"),
        ("/api/v1/runs/999/report", 404, "no-such-run"),
        ("/api/v1/runs/999/events", 404, "no-such-run"),
        ("/api/v1/runs/abc", 422, "invalid-input"),
        ("/api/v1/runs/99999999999999999999999", 404, "no-such-run"),
        ("/api/v1/runs/9223372036854775808/report", 404, "no-such-run"),
        ("/api/v1/runs/9223372036854775808/report.csv", 404, "no-such-run"),
        ("/api/v1/runs/99999999999999999999999/events", 404, "no-such-run"),
        ("/api/v1/runs/99999999999999999999999/facts", 404, "no-such-run"),
        ("/api/v1/runs/99999999999999999999999/figures/acceptance_rate", 404, "no-such-run"),
        ("/api/v1/runs/0", 404, "no-such-run"),
        ("/api/v1/comparisons?runs=1,99999999999999999999999", 404, "no-such-run"),
        ("/api/v1/runs?limit=0", 422, "invalid-input"),
        ("/api/v1/runs?langauge=ru", 422, "invalid-input"),
        ("/api/v1/comparisons?runs=1", 422, "invalid-input"),
        ("/api/v1/comparisons?runs=one,two", 422, "invalid-input"),
        ("/api/v1/comparisons?runs=1,999", 404, "no-such-run"),
        ("/api/v1/suites/nothing", 404, "no-such-suite"),
        ("/api/v1/nowhere", 404, "not-found"),
    ],
)
async def test_every_error_is_a_problem(service: Service, path: str, status: int, kind: str) -> None:
    """Catches an error in another shape, or one that does not say what was wrong."""
    await service.offer()
    await service.run()
    answer = await service.get(path)
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"], problem["type"]) == (status, "application/problem+json", f"urn:bezmen:problem:{kind}")
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]


@pytest.mark.parametrize("number", [0, 2**53 + 1, 10**20])
async def test_no_such_run_is_said_alike_everywhere(service: Service, number: int) -> None:
    """Catches a large number that is blamed for its size where there is simply no such run."""
    answers = [await service.get(f"/api/v1/runs/{number}"), await service.client.post(f"/api/v1/runs/{number}/cancel", headers=service.admin)]
    assert [(answer.status_code, answer.json()["detail"]) for answer in answers] == [(404, f"There is no run {number}. There are no runs yet.")] * 2
    page = await service.get(f"/runs/{number}", accept="text/html")
    assert (page.status_code, f"There is no run {number}." in page.text) == (404, True)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ("abc", '"abc" is no number of a run; name runs by their numbers, such as runs=41,42.'),
        ("1,²", '"²" is no number of a run; name runs by their numbers, such as runs=41,42.'),
        ("-1,2", '"-1" is no number of a run; name runs by their numbers, such as runs=41,42.'),
        ("1,2,3,4,5,6,7,8,9", "At most 8 runs can be compared at once; these are 9."),
    ],
)
async def test_page_and_api_read_the_runs_of_a_comparison_alike(service: Service, runs: str, said: str) -> None:
    """Catches a permalink whose twin is refused, and a refusal that does not say what is wrong."""
    for path in (
        f"/api/v1/comparisons?runs={runs}",
        f"/api/v1/comparisons.csv?runs={runs}",
        "/api/v1/comparisons?runs=" + "&runs=".join(runs.split(",")),
    ):
        answer = await service.get(path)
        assert (answer.status_code, answer.json()["detail"]) == (422, said)
    page = await service.get(f"/compare?runs={runs}", accept="text/html")
    assert (page.status_code, said in html.unescape(page.text)) == (422, True)


async def test_eight_runs_are_compared_and_each_counts_once(service: Service) -> None:
    """Catches a limit that counts a run twice."""
    await service.offer()
    runs = ",".join([str(await service.run()) for _ in range(8)])
    answer = await service.get(f"/api/v1/comparisons?runs={runs},1,2")
    assert (answer.status_code, answer.json()["detail"].startswith("Run 1 is queued.")) == (409, True)
    assert (await service.get(f"/compare?runs={runs},1,2", accept="text/html")).status_code == 200
    alone = (await service.get("/api/v1/comparisons?runs=1,1")).json()
    assert alone["detail"] == "A comparison is of 2 to 8 different runs; this names run 1 alone."


async def test_a_part_that_is_not_there_is_named_in_words(service: Service) -> None:
    """Catches a dictionary where a person should read which parts there are."""
    run = await service.finished()
    answer = await service.get(f"/api/v1/runs/{run}/figures/acceptance_rate?profile=x")
    assert answer.status_code == 404
    assert answer.json()["detail"].startswith(f'Run {run} has no acceptance_rate of profile "x". It has: the whole run; profile "')
    assert "{" not in answer.json()["detail"]


async def test_method_and_body_errors_are_problems_too(service: Service) -> None:
    """Catches the framework's own error shape."""
    answers = [
        await service.client.delete("/api/v1/runs"),
        await service.client.post("/api/v1/runs", content=b"{", headers=service.admin | {"Content-Type": "application/json"}),
        await service.client.post("/api/v1/runs", json=[], headers=service.admin),
        await service.client.post("/api/v1/runs", json=factories.spec_body(speed=2), headers=service.admin),
    ]
    assert [answer.status_code for answer in answers] == [405, 422, 422, 422]
    assert {answer.headers["content-type"] for answer in answers} == {"application/problem+json"}
    assert answers[0].headers["allow"]
    assert answers[3].json()["errors"] == [{"pointer": "/speed", "detail": "this field is not known"}]


async def test_a_fault_of_ours_says_so_and_nothing_more(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a stack trace or a query in an answer, and a browser that gets JSON."""

    async def broken(*_: object) -> None:
        raise RuntimeError("SELECT secret")

    monkeypatch.setattr(service.app.state.runs, "get", broken)
    answer = await service.get("/api/v1/runs/1")
    assert answer.status_code == 500
    assert answer.json()["code"] in answer.json()["detail"]
    assert "secret" not in answer.text
    assert (await service.get("/runs/404404", accept="text/html")).headers["content-type"].startswith("text/html")


async def test_the_nearest_run_is_named(service: Service) -> None:
    """Catches a bare 404."""
    await service.offer()
    assert (await service.get("/api/v1/runs/410")).json()["detail"] == "There is no run 410. There are no runs yet."
    await service.run()
    assert (await service.get("/api/v1/runs/410")).json()["detail"] == "There is no run 410. The newest is 1."


async def read_events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


async def test_a_stream_delivers_every_event_and_ends(service: Service) -> None:
    """Catches a watcher that hangs after the end, misses an event, or is told of one twice after a reconnect."""
    await service.offer()
    run = await service.run()
    stream = asyncio.create_task(service.get(f"/api/v1/runs/{run}/events", accept="text/event-stream"))
    await asyncio.sleep(0.3)
    attempt = await service.lease()
    await attempt.finish(await attempt.measure())
    answer = await asyncio.wait_for(stream, 10)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = await read_events(answer.text)
    assert [event["kind"] for event in events] == ["queued", "leased", "running", "progress", "succeeded"]
    rest = await service.get(f"/api/v1/runs/{run}/events", **{"accept": "text/event-stream", "last-event-id": str(events[2]["id"])})
    assert [event["kind"] for event in await read_events(rest.text)] == ["progress", "succeeded"]
    nothing = await service.get(f"/api/v1/runs/{run}/events", **{"accept": "text/event-stream", "last-event-id": str(events[-1]["id"])})
    assert nothing.status_code == 204


async def test_a_stream_lets_go_when_the_service_stops(service: Service) -> None:
    """Catches a shutdown that waits for watchers."""
    await service.offer()
    run = await service.run()
    stream = asyncio.create_task(service.get(f"/api/v1/runs/{run}/events", accept="text/event-stream"))
    await asyncio.sleep(0.3)
    service.app.state.notifications.stop()
    await asyncio.wait_for(stream, 2)


async def test_csv_is_the_same_report(service: Service) -> None:
    """Catches an export that shows other numbers than the report."""
    run = await service.finished()
    report = (await service.get(f"/api/v1/runs/{run}/report")).json()
    one = next(cell for cell in report["cells"] if cell["id"] == "acceptance_rate" and cell["part"] == {})
    for answer in (await service.get(f"/api/v1/runs/{run}/report.csv"), await service.get(f"/api/v1/runs/{run}/report", accept="text/csv")):
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        rows = list(csv.DictReader(io.StringIO(answer.text.lstrip("\ufeff"))))
        row = next(row for row in rows if row["figure"] == "acceptance_rate" and not row["part"])
        assert float(row["pooled"]) == one["pooled"]["point"]
        assert (row["language"], row["tokenizer"] != "") == ("ru", True)


async def test_russian_against_english(service: Service) -> None:
    """Catches a comparison that loses a run, its order or its export."""
    ru, en = await service.finished(language="ru", acceptance=0.5), await service.finished(language="en", acceptance=0.8)
    found = (await service.get(f"/api/v1/comparisons?runs={ru},{en}")).json()
    assert [report["run"] for report in found["reports"]] == [ru, en]
    assert any(difference["field"] == "language" for difference in found["differences"])
    table = (await service.get(f"/api/v1/comparisons.csv?runs={ru},{en}")).text
    assert len(list(csv.reader(io.StringIO(table)))) > 3


async def test_unfinished_runs_are_not_compared(service: Service) -> None:
    """Catches a comparison with half a run."""
    run = await service.finished()
    other = await service.run()
    answer = await service.get(f"/api/v1/comparisons?runs={run},{other}")
    assert (answer.status_code, answer.json()["detail"]) == (409, f"Run {other} is queued.")


async def test_a_report_of_another_analysis_is_computed_anew(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a kept report that outlives the formula which made it."""
    run = await service.finished()
    await service.get(f"/api/v1/runs/{run}/report")
    await service.sql("UPDATE reports SET analysis = 'old', report = jsonb_set(report, '{headline}', '\"made_up\"')")
    assert (await service.get("/api/v1/figures?id=acceptance_rate")).json() == []
    async with service.database.transaction() as connection:
        assert await records.unreported(connection, analysis.analysis(), 5) == [run]
    await service.app.state.runs.prepare_reports()
    assert len((await service.get("/api/v1/figures?id=acceptance_rate")).json()) == 1
    assert (await service.get(f"/api/v1/runs/{run}/report")).json()["headline"] != "made_up"


async def test_catalogue_is_what_live_runners_offer(service: Service) -> None:
    """Catches a form that offers what nobody can measure now."""
    assert (await service.get("/api/v1/catalogue")).json()["drafters"] == []
    await service.offer()
    found = (await service.get("/api/v1/catalogue")).json()
    assert [part["name"] for part in found["drafters"]] == ["ngram", "layerskip"]
    assert found["drafters"][0]["schema"]["properties"]["max_ngram"]["maximum"] == 8
    assert [(runner["name"], runner["state"]) for runner in found["runners"]] == [("local", "idle")]
    assert [suite["id"] for suite in (await service.get("/api/v1/suites")).json()] == ["everyday"]
    await service.sql("UPDATE runners SET last_seen = now() - interval '2 minutes'")
    gone = (await service.get("/api/v1/catalogue")).json()
    assert (gone["drafters"], gone["runners"][0]["state"]) == ([], "offline")


async def test_an_offer_replaces_the_one_before(service: Service) -> None:
    """Catches a runner that keeps being given what it could do yesterday; and one that returns to it."""
    both = factories.offer().drafters
    for drafters in (both, both[1:], both):
        await service.offer(drafters=drafters)
        found = (await service.get("/api/v1/catalogue")).json()["drafters"]
        assert [part["name"] for part in found] == [part.name for part in drafters]


async def test_a_hostile_offer_is_refused(service: Service) -> None:
    """Catches a parameter schema with $ref or a pattern that hangs the form or the check."""
    body = factories.offer().model_dump(mode="json", by_alias=True)
    body["drafters"][0]["schema"] = {"type": "object", "properties": {"x": {"type": "string", "pattern": "(a+)+$"}}}
    answer = await service.client.put("/api/v1/runners/me/offer", json=body, headers=service.runner)
    assert answer.status_code == 422
    assert "pattern" in answer.json()["detail"]


async def test_the_api_describes_itself(service: Service) -> None:
    """Catches a schema that cannot be built."""
    paths = (await service.get("/api/v1/openapi.json")).json()["paths"]
    assert {"/api/v1/runs", "/api/v1/runs/{run}/report", "/api/v1/attempts/{attempt}/facts", "/api/v1/healthz"} <= set(paths)


NASTY: list[Any] = [None, True, 0, -1, 1e308, 10**30, "", "\x00", "\ud800", "x" * 5000, "ё" * 300, [], [[]], {}, {"": {}}, {"name": None}]
PLACES = ("/api/v1/runs", "/api/v1/runners/me/offer", "/api/v1/runners/me/lease", "facts", "finish", "heartbeat", "release")


@pytest.mark.parametrize("place", PLACES)
async def test_no_body_breaks_the_service(service: Service, place: str) -> None:
    """Catches a body that ends in a 500: every field of a valid one is replaced by something nasty, and so is the whole."""
    await service.offer()
    await service.run()
    attempt = await service.lease()
    bodies: dict[str, Any] = {
        "/api/v1/runs": factories.spec_body(),
        "/api/v1/runners/me/offer": factories.offer().model_dump(mode="json", by_alias=True),
        "/api/v1/runners/me/lease": {"wait_seconds": 0},
        "facts": {"number": 0, "digest": "0" * 64, "facts": "[]"},
        "finish": {"batches": 0, "finish": json.loads(factories.finish_fact(outcome="failed").model_dump_json())},
        "heartbeat": {},
        "release": {"reason": "told to"},
    }
    method = "PUT" if place.endswith("offer") else "POST"
    headers = service.admin if place == "/api/v1/runs" else service.runner if place.startswith("/") else attempt.headers
    path = place if place.startswith("/") else f"/api/v1/attempts/{attempt.id}/{place}"
    for field in [None, "unknown", *bodies[place]]:
        for value in NASTY:
            text = json.dumps(value if field is None else bodies[place] | {field: value})
            answer = await service.client.request(method, path, content=text, headers=headers | {"Content-Type": "application/json"})
            assert answer.status_code < 500, (field, value, answer.text)


@pytest.mark.parametrize("value", ["%00", "%ED%A0%80", "x" * 5000, "-1", "1e9", "%D1%91", "';--"])
async def test_no_query_breaks_the_service(service: Service, value: str) -> None:
    """Catches a query parameter or a path that ends in a 500."""
    run = await service.finished()
    names = ("language", "drafter", "outcome", "state", "limit", "cursor")
    paths = [f"/api/v1/runs?{name}={value}" for name in names]
    paths += [f"/api/v1/figures?id=acceptance_rate&{name}={value}" for name in ("language", "drafter", "model", "limit")]
    paths += [f"/api/v1/runs/{value}", f"/api/v1/runs/{run}/figures/{value}", f"/api/v1/runs/{run}/figures/acceptance_rate?profile={value}"]
    paths += [f"/api/v1/runs/{run}/events?after={value}", f"/api/v1/comparisons?runs={value}"]
    paths += [f"/api/v1/suites/{value}", f"/api/v1/figures?id={value}"]
    for path in paths:
        answer = await service.get(path)
        assert answer.status_code < 500, (path, answer.text)
