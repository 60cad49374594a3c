"""How tests share the cores: a file stays in one process; what measures the real model stays together and goes first."""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# The machine itself is shared there: side by side, two measurements would only disturb each other.
TOGETHER = "tests/end_to_end/"


class ByFile(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER if nodeid.startswith(TOGETHER) else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(TOGETHER))
