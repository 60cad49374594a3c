"""One frozen Settings; the only reader of the environment."""

import ipaddress
import os
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import AliasChoices, BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.domain.status import BEAT_SECONDS, LEASE_SECONDS, RUN_SECONDS


def default_data() -> Path:
    """Root keeps its data outside $HOME, because the database then runs as another user who must be able to reach it."""
    return Path("/var/lib/bezmen") if hasattr(os, "geteuid") and os.geteuid() == 0 else user_data_path("bezmen", appauthor=False)


def _listed(value: Any) -> Any:
    """`10.0.0.0/8, 192.168.1.7` as a list."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def is_loopback(name: str) -> bool:
    """Whether a host's name or address means the machine itself."""
    try:
        return name.lower() == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _named(url: str) -> str:
    """The host of an address; empty where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class Settings(BaseSettings):
    """`database_url` None means that a Postgres of our own is started under `data`. `url` and `token` are what the commands talk to.

    An empty variable counts as one that is not set.
    """

    model_config = SettingsConfigDict(env_prefix="BEZMEN_", env_ignore_empty=True, frozen=True, extra="forbid", populate_by_name=True)

    data: Path = Field(default_factory=default_data)
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    database_url: SecretStr | None = Field(default=None, validation_alias=AliasChoices("DATABASE_URL", "database_url"))
    url: str | None = None
    token: SecretStr | None = None
    lease_seconds: float = Field(default=LEASE_SECONDS, gt=0)
    beat_seconds: float = Field(default=BEAT_SECONDS, gt=0)
    queued_per_token: int = Field(default=500, ge=1)
    # What one run may generate over all passes of both arms, and how long one that is measured alone may take.
    tokens_per_run: int = Field(default=20_000_000, ge=1)
    run_seconds: float = Field(default=RUN_SECONDS, gt=0)
    # Suites that one token may upload in 24 hours.
    uploads_per_token: int = Field(default=100, ge=1)
    # Days after which raw facts of ended runs are deleted; reports stay. None keeps them for ever.
    keep_facts_days: int | None = Field(default=None, ge=1)
    # Days after which ended deliveries of webhooks go out of the log, with their bodies and tries.
    keep_deliveries_days: int = Field(default=90, ge=1)
    # Names besides those of `host` and `url` under which the service may be called, such as that of its container.
    names: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = ()
    # The log, as lines of text or of JSON.
    log: Literal["text", "json"] = "text"
    # Networks that are not public and to which webhooks may lead all the same.
    webhook_networks: Annotated[tuple[Network, ...], NoDecode, BeforeValidator(_listed)] = ()

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the service: bound to loopback, and with no public address that a proxy of this machine would serve."""
        return is_loopback(self.host) and (self.url is None or is_loopback(_named(self.url)))

    @property
    def embedded(self) -> bool:
        return self.database_url is None

    @property
    def base_url(self) -> str:
        if self.url:
            return self.url.rstrip("/")
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """Names under which a browser may call us; any other Host header is an attempt at DNS rebinding."""
        named = {"127.0.0.1", "localhost", "::1", self.host.lower(), *(name.lower() for name in self.names)}
        if self.url:
            named.add(_named(self.url))
        return frozenset(named - {"", "0.0.0.0", "::"})

    @property
    def admin_token_file(self) -> Path:
        return self.data / "admin.token"

    @property
    def runner_token_file(self) -> Path:
        return self.data / "runner.token"
