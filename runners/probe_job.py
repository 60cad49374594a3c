"""What the parent hands to the child for a probe: a file in a folder of the spool, without any credential, beside which its end will lie."""

from pathlib import Path

from app.domain.probe import ProbeSpec
from app.domain.value import Value

JOB, END = "probe.json", "end.json"


class ProbeJob(Value):
    """`cache` holds converted models, `roots` and `hub` say which may be loaded, `cores` are those to measure on."""

    spec: ProbeSpec
    cache: Path
    roots: tuple[Path, ...] = ()
    hub: tuple[str, ...] = ()
    cores: tuple[int, ...]

    @classmethod
    def read(cls, folder: Path) -> "ProbeJob":
        return cls.model_validate_json((folder / JOB).read_text())

    def write(self, folder: Path) -> None:
        (folder / JOB).write_text(self.model_dump_json())
