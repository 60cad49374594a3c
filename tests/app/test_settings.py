"""Settings."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import Settings, default_data


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("10.0.0.1", False), ("host", False)],
)
def test_what_only_this_machine_reaches(host: str, loopback: bool) -> None:
    """Catches an address that is taken for loopback: everything would be open without a token."""
    assert Settings(host=host).loopback is loopback


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://localhost", True),
        ("http://[::1]:8000/", True),
        ("https://bench.example", False),
        ("http://192.168.1.7:8000", False),
        ("127.0.0.1:8000", False),
        ("https://[", False),
    ],
)
def test_a_public_address_is_reached_from_elsewhere(url: str, loopback: bool) -> None:
    """Catches a proxy of the same machine whose every visitor is its administrator."""
    assert Settings(url=url).loopback is loopback


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a renamed variable."""
    values = {
        "BEZMEN_DATA": "/d",
        "BEZMEN_HOST": "h",
        "BEZMEN_PORT": "1",
        "BEZMEN_URL": "http://u/",
        "BEZMEN_TOKEN": "t",
        "DATABASE_URL": "postgres://x",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert (settings.data, settings.host, settings.port, settings.base_url) == (Path("/d"), "h", 1, "http://u")
    assert settings.token is not None
    assert settings.token.get_secret_value() == "t"
    assert not settings.embedded
    assert "t" not in repr(settings).split("token=")[1].split(",")[0].replace("SecretStr", "")


def test_nothing_changes_later() -> None:
    """Catches settings that two parts of the service read differently."""
    with pytest.raises(ValidationError):
        Settings().port = 1  # type: ignore[misc]


def test_names_of_the_service() -> None:
    """Catches a wildcard address among the names that a browser may use."""
    assert Settings(host="0.0.0.0", url="https://Bench.example/x").hosts == {"127.0.0.1", "localhost", "::1", "bench.example"}


def test_root_stays_out_of_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a database under /root, for which /root would have to be opened."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert default_data() == Path("/var/lib/bezmen")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert default_data() != Path("/var/lib/bezmen")
