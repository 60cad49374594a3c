"""What is deployed by `docker compose`: read as data, and by Debian's docker-compose where there is one."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GIVEN = {"POSTGRES_PASSWORD": "sentinel", "BEZMEN_URL": "https://bench.example"}


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return found


def test_the_database_is_reached_from_inside_alone(services: dict[str, dict[str, Any]]) -> None:
    """Catches a published port of the database, and a service that is published beyond this machine before https ends anywhere."""
    assert [name for name, service in services.items() if "ports" in service] == ["app"]
    assert all(port.startswith("127.0.0.1:") for port in services["app"]["ports"])
    assert services["postgres"]["networks"] == services["runner"]["networks"] == ["inside"]
    assert services["postgres"]["image"] == "postgres:18"


def test_nothing_runs_as_root_and_everything_is_watched(services: dict[str, dict[str, Any]]) -> None:
    """Catches a service without a health check or a user of its own, and one that starts before what it needs answers."""
    for name, service in services.items():
        assert service["user"] not in {"", "root", "0"}, name
        assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}, name
    assert services["app"]["depends_on"]["postgres"]["condition"] == services["runner"]["depends_on"]["app"]["condition"] == "service_healthy"
    assert services["runner"]["profiles"] == ["gpu"]
    assert "/api/v1/readyz" in services["app"]["healthcheck"]["test"][-1]


def test_secrets_come_from_the_environment(services: dict[str, dict[str, Any]]) -> None:
    """Catches a password that is written into the file, or one that may be left out."""
    required = ("${POSTGRES_PASSWORD:?", "${BEZMEN_URL:?")
    assert services["postgres"]["environment"]["POSTGRES_PASSWORD"].startswith(required)
    assert required[0] in services["app"]["environment"]["DATABASE_URL"]
    assert services["app"]["environment"]["BEZMEN_URL"].startswith(required)
    assert services["runner"]["environment"]["BEZMEN_RUNNER_TOKEN"] == "${BEZMEN_RUNNER_TOKEN:-}"


def test_images_are_built_for_a_user(services: dict[str, dict[str, Any]]) -> None:
    """Catches a target that the compose file names and the Dockerfile has not, or that would run as root without compose."""
    stages = (ROOT / "Dockerfile").read_text().split("\nFROM ")[2:]
    assert [stage.split()[2] for stage in stages] == ["app", "runner"] == [services[name]["build"]["target"] for name in ("app", "runner")]
    assert all("\nUSER bezmen\n" in stage for stage in stages)


@pytest.mark.parametrize("profile", [(), ("--profile", "gpu")])
def test_compose_understands_the_file(profile: tuple[str, ...]) -> None:
    """Catches a key or value that compose refuses; it needs no engine for that."""
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not installed; on Debian: apt-get install docker-compose")
    clean = {name: value for name, value in os.environ.items() if name not in GIVEN}
    command = [program, "--file", str(ROOT / "docker-compose.yml"), *profile, "config", "--quiet"]
    done = subprocess.run(command, env=clean | GIVEN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    bare = subprocess.run(command, env=clean, capture_output=True, text=True, check=False)
    assert bare.returncode != 0
    assert "POSTGRES_PASSWORD" in bare.stderr
