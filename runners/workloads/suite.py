"""The prompt suites that a runner brings along."""

from pathlib import Path

from app.domain import suite as suites
from app.domain.prompt import Prompt, SuiteError, did_you_mean
from app.domain.suite import MAX_BYTES, Suite, digest, in_words, mix, select

__all__ = ["Prompt", "Suite", "SuiteError", "available", "digest", "load", "mix", "parse", "select"]

ROOT = Path(__file__).parent / "suites"


def available(root: Path = ROOT) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in root.glob("*.jsonl")))


def load(suite: str, root: Path = ROOT) -> Suite:
    """The suite of that id. Raises SuiteError when there is none, or when a line is wrong: every wrong line is named."""
    names = available(root)
    if suite not in names:
        raise SuiteError(f"there is no suite {suite!r}{did_you_mean(suite, names)}")
    path = root / f"{suite}.jsonl"
    if path.stat().st_size > MAX_BYTES:
        raise SuiteError(f"suite {suite} takes more than {MAX_BYTES // 1024**2} MiB")
    return parse(suite, path.read_bytes())


def parse(suite: str, content: bytes) -> Suite:
    """A suite from the bytes of its file, where of several languages each prompt has its twins. Raises SuiteError."""
    found, lacking = suites.parse(suite, content)
    if lacking:
        raise SuiteError(in_words(suite, lacking), lacking)
    return found
