"""Results measured elsewhere over HTTP: taken once, refused without language or tokenizer, completed, and seen by their own project alone."""

import gzip
import json
from typing import Any

import httpx
import pytest

from tests.app.imports.samples import content
from tests.integration.conftest import Service

# A result of `vllm bench serve`, as that program writes it, without its lists.
BENCH: dict[str, Any] = {
    "date": "20260112-101112", "endpoint_type": "openai", "backend": "openai", "label": None, "model_id": "Qwen/Qwen3-0.6B",
    "tokenizer_id": "Qwen/Qwen3-0.6B", "num_prompts": 12, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 1, "duration": 12.5,
    "request_throughput": 0.96,
    "completed": 12, "failed": 0, "total_input_tokens": 600, "total_output_tokens": 333, "spec_decode_acceptance_rate": 81.5,
    "spec_decode_acceptance_length": 4.26, "spec_decode_num_drafts": 50, "spec_decode_draft_tokens": 200, "spec_decode_accepted_tokens": 163,
    "spec_decode_per_position_acceptance_rates": [0.94, 0.86, 0.78, 0.68],
}  # fmt: skip


async def take(
    service: Service, body: bytes | dict[str, Any] | None = None, query: str = "", headers: dict[str, str] | None = None
) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(BENCH if body is None else body).encode()
    return await service.client.post(f"/api/v1/imports{query}", content=content, headers=headers or service.admin)


async def patch(service: Service, number: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> httpx.Response:
    return await service.client.patch(f"/api/v1/imports/{number}", json=body, headers=headers or service.admin)


def figure(report: dict[str, Any], id: str) -> dict[str, Any]:
    return next(cell for cell in report["cells"] if cell["id"] == id)


async def test_a_file_becomes_figures_with_the_passport_that_it_carries(service: Service) -> None:
    """Catches counts that are lost on their way through the database, and a tokenizer that the file names and nobody reads."""
    answer = await take(service, query="?language=RU&hardware=H200")
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert answer.headers["Location"] == f"/api/v1/imports/{made['id']}"
    assert figure(made["report"], "acceptance_rate")["pooled"]["point"] == 163 / 200
    assert figure(made["report"], "tokens_per_round")["pooled"]["point"] == 1 + 163 / 50
    assert made["report"]["passport"]["language"] == "ru"
    assert made["report"]["told_by"] | {"tokenizer": "file", "language": "person", "hardware": "person"} == made["report"]["told_by"]
    assert "no verdict" in made["report"]["verdict"]["said"]
    printed = {each["name"]: each for each in made["report"]["beside"]}
    assert printed["spec_decode_acceptance_rate"]["same"] is True
    assert (await service.get(f"/api/v1/imports/{made['id']}")).json() == made


async def test_without_a_language_every_figure_is_refused_until_it_is_told(service: Service) -> None:
    """Catches an import whose acceptance is read without its language, and one that cannot be completed."""
    made = (await take(service)).json()
    assert {cell["field"] for cell in made["report"]["cells"]} == {"language"}
    assert made["report"]["beside"] == []
    listed = (await service.get("/api/v1/imports?refused=true")).json()
    assert [(line["id"], line["refusing"]) for line in listed["items"]] == [(made["id"], ["language"])]
    assert (listed["total"], listed["refused"]) == (1, 1)
    done = (await patch(service, made["id"], {"language": "en"})).json()
    assert figure(done["report"], "acceptance_rate")["pooled"]["point"] == 0.815
    assert (await service.get("/api/v1/imports?refused=true")).json()["items"] == []
    (line,) = (await service.get("/api/v1/imports")).json()["items"]
    assert (line["language"], line["acceptance"]["pooled"]["point"]) == ("en", 0.815)
    taken_back = (await patch(service, made["id"], {"language": None})).json()
    assert taken_back["report"]["refusing"] == ["language"]
    log = [row[0] for row in await service.sql("SELECT body FROM events WHERE kind LIKE 'import %' ORDER BY id")]
    assert [body.get("changed") for body in log] == [None, {"language": [None, "en"]}, {"language": ["en", None]}]
    access = (await service.client.get("/access", headers=service.admin | {"Accept": "text/html"})).text
    assert f"changed what is known of import {made['id']}: language: en" in access
    assert f"changed what is known of import {made['id']}: language: en → not told" in access


async def test_the_same_file_is_the_same_import(service: Service) -> None:
    """Catches a second row for one file, and words of a person that a later call replaces without a word."""
    first = await take(service)
    again = await take(service, query="?language=ru")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert again.json()["report"]["refusing"] == []
    assert (await take(service)).json()["supplied"]["language"] == "ru"
    other = await take(service, query="?language=en")
    assert other.status_code == 409
    assert "language ru" in other.json()["detail"]


async def test_what_the_file_tells_is_not_contradicted(service: Service) -> None:
    """Catches a tokenizer in the passport that is not the one the tool counted with."""
    wrong = await take(service, query="?tokenizer=gpt2")
    assert wrong.status_code == 422
    assert wrong.json()["errors"] == [{"pointer": "/tokenizer", "detail": "the file says Qwen/Qwen3-0.6B"}]
    assert (await service.get("/api/v1/imports")).json()["total"] == 0
    made = (await take(service)).json()
    assert (await patch(service, made["id"], {"target": "other"})).status_code == 422


@pytest.mark.parametrize(
    ("body", "query", "status"),
    [
        (b"", "", 422),
        (b"{", "", 422),
        (b'{"a": 1}', "", 422),
        (b"\x1f\x8bno gzip", "", 422),
        (b'{"a": 1}', "?format=nope", 422),
        (json.dumps(BENCH).encode(), "?language=klingonish", 422),
        (json.dumps(BENCH).encode(), "?tokeniser=x", 422),
        (json.dumps(BENCH | {"model_id": "a\0b"}).encode(), "", 422),
    ],
)
async def test_what_cannot_be_read_ends_in_one_sentence_and_leaves_nothing(service: Service, body: bytes, query: str, status: int) -> None:
    """Catches a half-stored import, and an error that says nothing."""
    answer = await take(service, body, query)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert len(answer.json()["detail"]) > 15
    assert (await service.get("/api/v1/imports")).json()["total"] == 0


async def test_a_file_comes_as_a_form_or_compressed(service: Service) -> None:
    """Catches a form that is read as the file itself, and gzip that is taken for another file's content."""
    form = {"file": ("result.json", json.dumps(BENCH).encode())}
    made = await service.client.post("/api/v1/imports?language=ru", files=form, headers=service.admin)
    assert made.status_code == 201, made.text
    packed = await take(service, gzip.compress(json.dumps(BENCH).encode()), "?language=ru")
    assert packed.json()["report"]["counts"] == made.json()["report"]["counts"]
    empty = await service.client.post("/api/v1/imports", files={"other": ("x", b"{}")}, headers=service.admin)
    assert (empty.status_code, empty.json()["errors"][0]["pointer"]) == (422, "/file")


def metrics(engine: str) -> dict[str, tuple[str, bytes]]:
    """The earlier and the later text of a server's /metrics, as a form sends them."""
    return {"file": ("after", content(f"{engine}_metrics/ngram_after.txt")), "before": ("before", content(f"{engine}_metrics/ngram_before.txt"))}


async def test_two_texts_of_metrics_take_the_number_of_their_requests(service: Service) -> None:
    """Catches llama-server's counters that cannot be imported at all, steps without a draft that nobody may ask for, and a number lost between the
    form and the file."""
    silent = await service.client.post("/api/v1/imports?language=ru&tokenizer=t", files=metrics("llama"), headers=service.admin)
    assert (silent.status_code, silent.json()["errors"][0]["field"]) == (422, "/requests")
    form = {"requests": "8", "concurrency": "1", "language": "ru", "tokenizer": "t"}
    made = await service.client.post("/api/v1/imports", files=metrics("llama"), data=form, headers=service.admin)
    assert made.status_code == 201, made.text
    counts = made.json()["report"]["counts"]
    assert [counts[name] for name in ("requests", "emitted", "rounds", "verified", "drafted", "undrafted")] == [8, 433, 35, 177, 258, 213]
    assert made.json()["report"]["closure"] == "closes"
    assert (made.json()["report"]["known"]["load"], made.json()["report"]["told_by"]["load"]) == ("concurrency 1", "person")
    twice = await patch(service, made.json()["id"], {"load": "concurrency 4"})
    assert (twice.status_code, twice.json()["title"]) == (422, "The load is said twice")
    query = "?requests=8&concurrency=1&language=ru&tokenizer=t"
    again = await service.client.post(f"/api/v1/imports{query}", files=metrics("llama"), headers=service.admin)
    assert (again.status_code, again.json()["id"]) == (200, made.json()["id"])
    shared = await service.client.post("/api/v1/imports?requests=8&concurrency=2", files=metrics("llama"), headers=service.admin)
    assert (shared.status_code, "concurrency 1; change it there: PATCH /api/v1/imports/1" in shared.json()["detail"]) == (409, True)
    other = await service.client.post("/api/v1/imports?requests=7", files=metrics("vllm"), headers=service.admin)
    assert (other.status_code, "counted 8 requests" in other.json()["detail"]) == (422, True)


async def test_a_wrong_number_of_requests_is_corrected(service: Service) -> None:
    """Catches a typing error that stays for good, counts that keep the old number somewhere, and a correction that nobody can look up."""
    query = "/api/v1/imports?requests=80&language=ru&tokenizer=t"
    made = (await service.client.post(query, files=metrics("llama"), headers=service.admin)).json()
    assert (made["recounts"], made["report"]["counts"]["prefill_tokens"]) == (True, 80)
    other = await service.client.post("/api/v1/imports?requests=8", files=metrics("llama"), headers=service.admin)
    assert (other.status_code, "requests 80; change it there: PATCH" in other.json()["detail"]) == (409, True)
    done = (await patch(service, made["id"], {"requests": 8, "concurrency": 1})).json()
    counts = done["report"]["counts"]
    assert [counts[name] for name in ("requests", "prefill_tokens", "emitted", "rounds", "verified", "drafted", "undrafted")] == [
        8, 8, 433, 35, 177, 258, 213,
    ]  # fmt: skip
    assert "with 8 requests, as a person told" in done["report"]["closing"]["said"]
    assert (done["report"]["known"]["load"], done["report"]["known"]["requests"]) == ("concurrency 1", "8")
    assert (await service.get(f"/api/v1/imports/{made['id']}")).json() == done
    (line,) = (await service.get("/api/v1/imports")).json()["items"]
    assert line["requests"] == 8
    again = await service.client.post("/api/v1/imports?requests=8&concurrency=1", files=metrics("llama"), headers=service.admin)
    assert (again.status_code, again.json()["id"]) == (200, made["id"])
    back = (await patch(service, made["id"], {"concurrency": None})).json()
    assert (back["report"]["counts"]["undrafted"], "load" in back["report"]["known"]) == (None, False)
    steps = next(cell for cell in back["report"]["cells"] if cell["id"] == "tokens_per_target_forward")
    assert "concurrency is 1" in steps["reason"]["said"]
    page = service.admin | {"Accept": "text/html"}
    access = (await service.client.get("/access", headers=page)).text
    assert "requests: 80 → 8" in access
    assert 'name="requests"' in (await service.client.get(f"/imports/{made['id']}", headers=page)).text


@pytest.mark.parametrize(
    ("engine", "body", "said"),
    [
        ("llama", {"requests": 434}, "434 requests cannot have delivered 433 tokens"),
        ("llama", {"requests": 222, "concurrency": 1}, "256 decode calls are fewer than 222 for prompts and 35 for rounds: requests shared them"),
        ("llama", {"requests": None}, "llama-server does not count its requests"),
        ("vllm", {"requests": 7}, "The server counted 8 requests between the two texts, not 7"),
        ("llama", {"requests": 8, "concurrency": 1, "load": "many"}, "concurrency 1 and load many are both said"),
    ],
)
async def test_a_wrong_correction_is_refused_as_at_first(service: Service, engine: str, body: dict[str, Any], said: str) -> None:
    """Catches a number that could not have been sent and can be written in later, and a refused correction of which half is kept."""
    query = "/api/v1/imports?requests=8&language=ru&tokenizer=t"
    made = (await service.client.post(query, files=metrics(engine), headers=service.admin)).json()
    answer = await patch(service, made["id"], body)
    assert (answer.status_code, said in answer.json()["detail"]) == (422, True)
    assert answer.json()["errors"]
    assert (await service.get(f"/api/v1/imports/{made['id']}")).json() == made
    typed = {name: "" if value is None else str(value) for name, value in body.items()}
    page = await service.client.post(f"/imports/{made['id']}", data=typed, headers={"Sec-Fetch-Site": "same-origin", "Accept": "text/html"})
    assert (page.status_code, 'aria-invalid="true"' in page.text) == (422, True)


async def test_requests_of_another_file_are_not_corrected(service: Service) -> None:
    """Catches a number that is taken and means nothing, and one of texts that are not there any more."""
    made = (await take(service)).json()
    answer = await patch(service, made["id"], {"requests": 3, "concurrency": 1})
    assert (answer.status_code, [each["pointer"] for each in answer.json()["errors"]]) == (422, ["/requests", "/concurrency"])
    assert "is a file of vllm-bench-serve" in answer.json()["detail"]
    assert made["recounts"] is False
    texts = {each: content(f"llama_metrics/ngram_{each}.txt").decode() for each in ("before", "after")}
    whole = (await take(service, texts | {"requests": 8})).json()
    answer = await patch(service, whole["id"], {"requests": 7})
    assert (answer.status_code, "send both texts of /metrics again" in answer.json()["detail"]) == (422, True)


@pytest.mark.parametrize(
    ("query", "form", "pointer"),
    [
        ("?requests=8", {"requests": "8"}, "/requests"),
        ("", {"tokeniser": "t"}, "/tokeniser"),
        ("", {"concurrency": "0"}, "/concurrency"),
        ("", {"language": "klingonish"}, "/language"),
    ],
)
async def test_a_form_is_as_strict_as_a_query(service: Service, query: str, form: dict[str, str], pointer: str) -> None:
    """Catches a misspelt or doubled field of a form that is passed over."""
    answer = await service.client.post(f"/api/v1/imports{query}", files=metrics("llama"), data=form, headers=service.admin)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert (await service.get("/api/v1/imports")).json()["total"] == 0


async def test_a_number_of_requests_is_not_said_of_a_whole_file(service: Service) -> None:
    """Catches a number that is dropped in silence."""
    answer = await take(service, query="?concurrency=1")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/concurrency")


async def test_an_import_is_its_projects_own(service: Service) -> None:
    """Catches a query without its view, in reading, in changing and in finding the same file again."""
    mine, theirs = await service.token("submit", project="mine"), await service.token("submit", project="theirs")
    made = (await take(service, headers=mine)).json()["id"]
    assert (await service.client.get(f"/api/v1/imports/{made}", headers=theirs)).status_code == 404
    assert (await patch(service, made, {"language": "ru"}, theirs)).status_code == 404
    assert (await service.client.get("/api/v1/imports", headers=theirs)).json()["total"] == 0
    other = await take(service, query="?language=en", headers=theirs)
    assert (other.status_code, other.json()["id"] != made) == (201, True)
    assert (await service.client.get(f"/api/v1/imports/{made}", headers=mine)).json()["supplied"]["language"] is None


async def test_what_a_file_told_does_not_change(service: Service) -> None:
    """Catches an update that rewrites somebody's counts."""
    made = (await take(service)).json()["id"]
    with pytest.raises(Exception, match="only ever added to"):
        await service.sql("UPDATE imports SET imported = '{}' WHERE id = :id", id=made)
