"""What the parent hands to the child: a file in the spool folder, without any credential."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from app.domain.spec import OWN_ENGINE, RunSpec
from app.domain.suite import Selection
from app.domain.value import Value
from runners.engine.external.aliases import Engines
from runners.models.allowlist import Allowlist


class Job(Value):
    """Runs that differ in drafter and controller alone, measured side by side against one plain arm. `warmup_seconds` is the longest warm-up;
    `cores` are those to measure on; `engines` are those beside our own loop; `suite` are the prompts where they are not the runner's own."""

    specs: Annotated[tuple[RunSpec, ...], Field(min_length=1)]
    suite: Selection | None = None
    cache: Path
    roots: tuple[Path, ...] = ()
    hub: tuple[str, ...] = ()
    cores: tuple[int, ...]
    engines: Engines = Engines()
    warmup_seconds: float = 60.0

    @property
    def shared(self) -> RunSpec:
        """A spec to read what all runs have in common from."""
        return self.specs[0]

    @property
    def served(self) -> bool:
        """Whether an engine beside our own loop is measured."""
        return self.shared.engine != OWN_ENGINE

    @property
    def private(self) -> bool:
        """Whether neither prompts nor answers may be told to anybody."""
        return self.suite is not None and self.suite.private

    def allowlist(self) -> Allowlist:
        return Allowlist.installed(self.roots, self.hub)

    @classmethod
    def read(cls, folder: Path) -> "Job":
        return cls.model_validate_json((folder / "job.json").read_text())

    def write(self, folder: Path) -> None:
        (folder / "job.json").write_text(self.model_dump_json())


def folder_of(folder: Path, run: int) -> Path:
    """Where run `run` of the job in `folder` spools its facts."""
    return folder / str(run)
