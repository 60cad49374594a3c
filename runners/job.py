"""What the parent hands to the child: a file in the spool folder, without any credential."""

from pathlib import Path

from app.domain.spec import RunSpec
from app.domain.value import Value
from runners.models.allowlist import Allowlist


class Job(Value):
    """`warmup_seconds` is the longest warm-up; `cores` are those to measure on."""

    spec: RunSpec
    cache: Path
    roots: tuple[Path, ...] = ()
    hub: tuple[str, ...] = ()
    cores: tuple[int, ...]
    warmup_seconds: float = 60.0

    def allowlist(self) -> Allowlist:
        return Allowlist.installed(self.roots, self.hub)

    @classmethod
    def read(cls, folder: Path) -> "Job":
        return cls.model_validate_json((folder / "job.json").read_text())

    def write(self, folder: Path) -> None:
        (folder / "job.json").write_text(self.model_dump_json())
