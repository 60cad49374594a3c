"""How tests share the cores: a file stays in one process; what measures the real model stays together and goes first."""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from runners.engine.external.made import vllm

# The machine itself is shared there: side by side, two measurements would only disturb each other.
TOGETHER = "tests/end_to_end/"


class ByFile(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER if nodeid.startswith(TOGETHER) else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return ByFile(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vllm", action="store_true", help="run the tests that start the real vLLM, which takes minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if (lacking := _without_vllm(config)) is not None:
        for item in items:
            if item.get_closest_marker("vllm"):
                item.add_marker(pytest.mark.skip(reason=lacking))
    items.sort(key=lambda item: not item.nodeid.startswith(TOGETHER))


def _without_vllm(config: pytest.Config) -> str | None:
    """Why the real vLLM does not run here; None where it does."""
    if vllm.installed() is None:
        return "vLLM's environment is not made here; `make engines` makes it, and `make test-engines` then runs these tests"
    return None if config.getoption("--vllm") else "`make test-engines` runs the tests of the real vLLM, which take minutes"
