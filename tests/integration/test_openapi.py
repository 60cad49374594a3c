"""Requests that are generated from our own description of the API, sent to a service as a process of its own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case

from app.access.service import Access
from app.main import create_app
from app.settings import Settings
from app.storage.database import Database
from tests.integration.conftest import bearer

EXAMPLES = 6
DESCRIPTION = create_app(Settings()).openapi()
OPERATIONS = sorted((path, method) for path, item in DESCRIPTION["paths"].items() for method in item)
schemathesis.serializer.alias("application/jsonl", "text/plain")
# The same requests every time: a fault that is found once must be found again.
QUIET = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def address(migrated: Database) -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="bezmen-openapi-"))
    environment = os.environ | {"BEZMEN_DATA": str(folder), "DATABASE_URL": migrated.url.render_as_string(hide_password=False)}
    command = [sys.executable, "-c", "from app.cli import main; main()", "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = next((line for line in process.stdout if line.startswith("ready ")), None)
        assert ready is not None
        yield ready.split()[1]
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture
async def tokens(database: Database) -> dict[str, dict[str, str]]:
    access = Access(database)
    return {
        "admin": bearer(await access.create("admin", ("read", "submit", "admin"))),
        # Two of them: one that has published what was generated would be kept waiting for a run.
        "offer": bearer(await access.create("one", ("runner",))),
        "lease": bearer(await access.create("two", ("runner",))),
    }


def operation(path: str, method: str) -> schemathesis.APIOperation:
    return schemathesis.openapi.from_dict(DESCRIPTION)[path][method]


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_no_generated_request_breaks_the_service(address: str, tokens: dict[str, dict[str, str]], path: str, method: str) -> None:
    """Catches a request that fits the description and ends in a 5xx, which no reader of the code thought of."""
    headers = tokens["lease" if path.endswith("/lease") else "offer" if "/runners/me" in path else "admin"]
    with httpx.Client(base_url=address, timeout=40) as client:

        @QUIET
        @given(case=operation(path, method).as_strategy())
        def send(case: Case) -> None:
            sent = case.as_transport_kwargs(base_url=address)
            request = {name: sent[name] for name in ("json", "data", "params", "cookies") if sent.get(name) is not None}
            extra = {
                name: value for name, value in (sent.get("headers") or {}).items() if name.lower() not in {"authorization", "user-agent", "host"}
            }
            answer = client.request(sent["method"], sent["url"], headers=extra | headers, **request)
            assert answer.status_code < 500, f"{sent}: {answer.text}"

        send()
