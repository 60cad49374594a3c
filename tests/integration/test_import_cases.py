"""Counts that people published, as files of tools that write such counts: what comes back from the service is what they mean (definitions § 6)."""

import asyncio
import html
import json
from typing import Any

import httpx
import pytest

from tests.integration.conftest import Service
from tests.integration.test_imports import BENCH, figure, take

KNOWN = {"language": "ru", "tokenizer": "t"}
HOSTILE = "</h1><script>alert(1)</script>"


def bench(requests: int, emitted: int, rounds: int, verified: int, drafted: int, rates: list[float]) -> dict[str, bytes]:
    """A result of `vllm bench serve`."""
    counts = {"completed": requests, "total_output_tokens": emitted, "spec_decode_num_drafts": rounds}
    counts |= {"spec_decode_accepted_tokens": verified, "spec_decode_draft_tokens": drafted}
    return {"file": json.dumps(BENCH | counts | {"tokenizer_id": None, "spec_decode_per_position_acceptance_rates": rates}).encode()}


def steadily(verified: int, rounds: int, longest: int) -> list[float]:
    """Shares of rounds by position, falling evenly, that add up to V/R."""
    kept = [round(2 * verified * (longest - i) / (longest * (longest + 1))) for i in range(longest)]
    kept[0] += verified - sum(kept)
    return [each / rounds for each in kept]


def scrapes(requests: int, emitted: int, rounds: int, verified: int, drafted: int, undrafted: int) -> dict[str, bytes]:
    """Two texts of vLLM's /metrics around requests that ran one at a time."""
    counted = {
        "generation_tokens_total": emitted, "spec_decode_num_drafts_total": rounds, "spec_decode_num_accepted_tokens_total": verified,
        "spec_decode_num_draft_tokens_total": drafted, "iteration_tokens_total_count": requests + rounds + undrafted,
        "request_success_total": requests, "num_preemptions_total": 0,
    }  # fmt: skip
    before, after = ("".join(f'vllm:{name}{{model_name="m"}} {7 + value * moved}.0\n' for name, value in counted.items()) for moved in (0, 1))
    return {"before": before.encode(), "file": after.encode()}


def answer(emitted: int, **told: Any) -> dict[str, bytes]:
    """One answer of SGLang."""
    return {"file": json.dumps({"meta_info": {"id": "a", "completion_tokens": emitted, **told}}).encode()}


def of_vllm(emitted: int, rounds: int, verified: int, drafted: int, longest: int, histogram: list[int]) -> dict[str, bytes]:
    told = {"num_spec_steps": rounds, "num_accepted_draft_tokens": verified, "num_draft_tokens": drafted, "num_spec_tokens": longest}
    body = {"id": "a", "model": "m", "usage": {"completion_tokens": emitted}}
    return {"file": json.dumps(body | {"metrics": {"speculative_decoding": told | {"acceptance_histogram": histogram}}}).encode()}


async def brought(service: Service, files: dict[str, bytes], **told: str) -> httpx.Response:
    parts = {name: (name, text) for name, text in files.items()}
    return await service.client.post("/api/v1/imports", files=parts, data=KNOWN | told, headers=service.admin)


SHOWN: dict[str, tuple[dict[str, bytes], dict[str, str], str, int, dict[str, float]]] = {
    "prefill token inside E": (
        answer(200, spec_verify_ct=188, spec_num_correct_drafts=11, spec_num_proposed_drafts=940), {},
        "closes", 1, {"tokens_per_round": 1.0585, "acceptance_rate": 0.0117},
    ),
    "counted but never emitted": (
        bench(80, 16990, 4816, 12208, 33712, steadily(12208, 4816, 7)), {},
        "overshoot", 114, {"acceptance_rate": 0.362, "tokens_per_round": 3.535},
    ),
    # No format tells a P of 0; the 5376 tokens behind it are the same.
    "rounds without a draft hidden": (
        scrapes(80, 80 + 5376, 993, 3562, 4960, 821), {"requests": "80", "concurrency": "1"},
        "closes", 80, {"tokens_per_round": 4.587, "tokens_per_target_forward": 2.96},
    ),
    "short histogram": (of_vllm(54, 43, 10, 129, 3, [39, 1, 0, 3]), {}, "closes", 1, {"tokens_per_round": 1.23256, "acceptance_rate": 0.07752}),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
async def test_counts_that_mean_something(service: Service, name: str) -> None:
    """Catches a public count that comes out of the service as another number than it means, or is refused although it closes."""
    files, told, closure, tokens, figures = SHOWN[name]
    made = await brought(service, files, **told)
    assert made.status_code == 201, made.text
    report = made.json()["report"]
    assert (report["closure"], report["refusing"]) == (closure, [])
    assert str(tokens) in report["closing"]["said"]
    for id, point in figures.items():
        digits = len(str(point).partition(".")[2])
        assert round(figure(report, id)["pooled"]["point"], digits) == point


REFUSED: dict[str, tuple[dict[str, bytes], dict[str, str], str, str]] = {
    "truly open": (scrapes(80, 18200, 4816, 12208, 33712, 0), {"requests": "80", "concurrency": "1"}, "closure", "do not close by 1,096"),
    "positions halved by two ranks": (
        bench(8, 333, 50, 163, 200, [each / 2 for each in steadily(163, 50, 4)]), {}, "identity", "several engine ranks",
    ),
    "rate above 1": (bench(8, 383, 50, 213, 200, []), {}, "identity", "V ≤ D is broken"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
async def test_counts_that_mean_nothing(service: Service, name: str) -> None:
    """Catches a figure out of counts that contradict each other, and a refusal that does not say what is wrong or what would help."""
    files, told, field, said = REFUSED[name]
    made = await brought(service, files, **told)
    assert made.status_code == 201, made.text
    report = made.json()["report"]
    assert report["refusing"] == [field]
    assert report["beside"] == []
    for cell in report["cells"]:
        assert cell["field"] == field
        assert said in cell["reason"]["said"].replace("\u00a0", " ")
        assert cell["remedy"]["said"]
    page = (await service.client.get(f"/imports/{made.json()['id']}", headers=service.admin | {"Accept": "text/html"})).text
    assert said in html.unescape(page).replace("\u00a0", " ")


async def test_one_file_twice_at_once_is_one_import(service: Service) -> None:
    """Catches two rows of one file, and an error where the second comes while the first is being kept."""
    answers = await asyncio.gather(*(take(service, query="?language=ru") for _ in range(6)))
    assert sorted(each.status_code for each in answers) == [200] * 5 + [201]
    assert {each.json()["id"] for each in answers} == {answers[0].json()["id"]}
    assert (await service.get("/api/v1/imports")).json()["total"] == 1


async def test_names_of_a_file_are_text(service: Service) -> None:
    """Catches a model's name that runs as a script in the page of whoever looks at it."""
    made = await take(service, BENCH | {"model_id": HOSTILE, "tokenizer_id": "т" * 256}, "?language=ru")
    assert made.status_code == 201, made.text
    for path in ("/imports", f"/imports/{made.json()['id']}", "/access"):
        text = (await service.client.get(path, headers=service.admin | {"Accept": "text/html"})).text
        assert HOSTILE not in text, path
    long = await take(service, BENCH | {"model_id": "x" * 257})
    assert (long.status_code, long.json()["errors"][0]["field"]) == (422, "/model_id")


@pytest.mark.parametrize("language", ["русский", "Russian language", "ru en", "<b>", "x" * 300])
async def test_a_language_is_a_tag(service: Service, language: str) -> None:
    """Catches a word for a language that is kept as one, and an error that does not say how languages are named."""
    answer = await service.client.post("/api/v1/imports", params={"language": language}, content=json.dumps(BENCH), headers=service.admin)
    assert (answer.status_code, answer.json()["errors"][0].get("parameter")) == (422, "language")
    assert "ru" in answer.json()["detail"]
    assert "Value error" not in answer.json()["detail"]
    made = (await take(service)).json()["id"]
    patched = await service.client.patch(f"/api/v1/imports/{made}", json={"language": language}, headers=service.admin)
    assert (patched.status_code, patched.json()["errors"][0]["pointer"]) == (422, "/language")
