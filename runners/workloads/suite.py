"""Prompt suites: JSON lines, one prompt a line, pinned by a digest over their content."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from app.domain.catalogue import OfferedSuite
from app.domain.language import base_of, standard_tag
from app.domain.spec import Name
from app.domain.value import Value
from runners.workloads.lines import prompts_of
from runners.workloads.prompt import Prompt, SuiteError, did_you_mean

__all__ = ["Prompt", "Suite", "SuiteError", "available", "digest", "load", "mix", "parse", "select"]

ROOT = Path(__file__).parent / "suites"
MAX_BYTES = 8 * 1024 * 1024
_ID = re.compile(r"(?P<name>[a-z0-9][a-z0-9-]*)-v(?P<version>\d+)")


class Suite(Value):
    """Prompts in the order of their ids, which is the order of the digest; the order of lines in the file carries nothing."""

    id: Name
    version: str
    prompts: tuple[Prompt, ...]
    digest: str

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(sorted({prompt.language for prompt in self.prompts}))

    @property
    def profiles(self) -> tuple[str, ...]:
        return tuple(sorted({prompt.profile for prompt in self.prompts}))

    def offered(self) -> OfferedSuite:
        """`prompts` counts parallel prompts once: it is how many one language has at least."""
        fewest = min(Counter(prompt.language for prompt in self.prompts).values())
        return OfferedSuite(id=self.id, version=self.version, digest=self.digest, languages=self.languages, profiles=self.profiles, prompts=fewest)


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
    """A suite from the bytes of its file; `suite` is its id, a name and a version such as parallel-v1. Raises SuiteError."""
    named = _ID.fullmatch(suite)
    if named is None:
        raise SuiteError(f"a suite is named like parallel-v1, not {suite!r}")
    prompts = prompts_of(suite, content)
    return Suite(id=suite, version=named["version"], prompts=prompts, digest=digest(prompts))


def digest(prompts: Sequence[Prompt]) -> str:
    """SHA-256 over the canonical JSON of the prompts by id: line order, key order and spacing of a file do not change it, any word does."""
    content = [prompt.model_dump(mode="json") for prompt in sorted(prompts, key=lambda prompt: prompt.id)]
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def select(suite: Suite, language: str, profiles: Iterable[str] | None = None, limit: int | None = None) -> tuple[Prompt, ...]:
    """At most `limit` prompts in one language, taken in turn from each profile, so that every shorter selection is the start of a longer one.

    The order follows parallel ids alone: the same arguments in another language select the twins in the same order. Raises SuiteError.
    """
    spoken = _spoken(suite, language)
    wanted = suite.profiles if profiles is None else tuple(sorted(set(profiles)))
    for profile in wanted:
        if profile not in suite.profiles:
            raise SuiteError(f"suite {suite.id} has no profile {profile!r}{did_you_mean(profile, suite.profiles)}")
    queues = [
        sorted((prompt for prompt in suite.prompts if prompt.language == spoken and prompt.profile == profile), key=_place) for profile in wanted
    ]
    turns = sorted((turn, place, prompt) for place, queue in enumerate(queues) for turn, prompt in enumerate(queue))
    chosen = tuple(prompt for _, _, prompt in turns)[:limit]
    if not chosen:
        raise SuiteError(f"suite {suite.id} has no prompt in {spoken} of the profiles {', '.join(wanted)}")
    return chosen


def mix(prompts: Iterable[Prompt]) -> dict[str, int]:
    """How many prompts of each profile."""
    return dict(sorted(Counter(prompt.profile for prompt in prompts).items()))


def _place(prompt: Prompt) -> str:
    return prompt.parallel or prompt.id


def _spoken(suite: Suite, language: str) -> str:
    """The suite's own tag for a language: the same tag, else the one with the same base."""
    try:
        tag = standard_tag(language)
    except ValueError as error:
        raise SuiteError(str(error)) from error
    found = [own for own in suite.languages if own == tag] or [own for own in suite.languages if base_of(own) == base_of(tag)]
    if len(found) == 1:
        return found[0]
    if found:
        raise SuiteError(f"suite {suite.id} has several kinds of {tag}: {', '.join(found)}; name one")
    raise SuiteError(f"suite {suite.id} has no prompts in {tag}{did_you_mean(tag, suite.languages)}")
