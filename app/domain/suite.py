"""Prompt suites: JSON lines, one prompt a line, pinned by a digest over their content. What reads and selects them is the same everywhere."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from app.domain.bounds import Digest
from app.domain.catalogue import OfferedSuite
from app.domain.language import base_of, standard_tag
from app.domain.prompt import Fault, Prompt, SuiteError, did_you_mean
from app.domain.spec import Name, SuiteChoice
from app.domain.suite_lines import read_lines, unpaired
from app.domain.value import Value

MAX_BYTES = 8 * 1024 * 1024
SHOWN_FAULTS = 20
# Names of suites that come with Bezmen, also with a later release: a figure under such a name is of those prompts wherever it was measured.
SHIPPED = "parallel-"
_ID = re.compile(r"(?=.{1,64}$)(?P<name>[a-z0-9][a-z0-9-]*)-v(?P<version>[0-9]{1,9})")


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

    @property
    def parallel(self) -> int:
        """How many prompts have a twin in every language of the suite; 0 where it has one language."""
        twins = Counter(prompt.parallel for prompt in self.prompts if prompt.parallel)
        return sum(count == len(self.languages) > 1 for count in twins.values())

    @property
    def apart(self) -> tuple[str, ...]:
        """Profiles that a run takes only where it names them: their answers are in another language than their prompts, as translations are, so
        nothing measured on them is a figure of the language asked for. None is apart where all are."""
        own = {prompt.profile for prompt in self.prompts if prompt.answer != "other"}
        return tuple(profile for profile in self.profiles if profile not in own) if own else ()

    def counts(self) -> dict[str, dict[str, int]]:
        """How many prompts, by language and profile."""
        return {language: mix(prompt for prompt in self.prompts if prompt.language == language) for language in self.languages}

    def offered(self) -> OfferedSuite:
        """`prompts` counts parallel prompts once: it is how many one language has at least, without profiles that stand apart."""
        apart = self.apart
        fewest = min(Counter(prompt.language for prompt in self.prompts if prompt.profile not in apart).values())
        return OfferedSuite(id=self.id, version=self.version, digest=self.digest, languages=self.languages, profiles=self.profiles, prompts=fewest)


class Selection(Value):
    """The prompts that one run asks for, in its order, and which suite they are of. Of a private suite no text may leave the runner again, neither
    that of prompts nor that of answers."""

    id: Name
    version: Annotated[str, Field(max_length=32)]
    digest: Digest
    private: bool = False
    prompts: Annotated[tuple[Prompt, ...], Field(min_length=1, max_length=10_000)]


def named(id: str) -> str:
    """The version in a suite's id, a name and a version such as parallel-v1. Raises SuiteError."""
    found = _ID.fullmatch(id)
    if found is None:
        raise SuiteError(f"a suite is named like parallel-v1 (a to z, 0 to 9, hyphens, -v and a number; 64 at most), not {id[:80]!r}")
    return found["version"]


def parse(id: str, content: bytes) -> tuple[Suite, list[Fault]]:
    """A suite from the bytes of its file, and warnings: what of it cannot be compared between languages. Raises SuiteError with every fault."""
    version = named(id)
    if len(content) > MAX_BYTES:
        raise SuiteError(f"suite {id} takes more than {MAX_BYTES // 1024**2} MiB")
    lines, wrong = read_lines(content)
    if wrong:
        raise SuiteError(in_words(id, wrong), wrong)
    prompts = tuple(sorted(lines.values(), key=lambda prompt: prompt.id))
    return Suite(id=id, version=version, prompts=prompts, digest=digest(prompts)), unpaired(lines)


def in_words(id: str, faults: Sequence[Fault]) -> str:
    """One line a fault, and how many there are beyond what is shown."""
    said = [f"suite {id}, {fault}" for fault in faults[:SHOWN_FAULTS]]
    more = len(faults) - SHOWN_FAULTS
    return "\n".join([*said, *([f"suite {id}: and {more} more"] if more > 0 else [])])


def digest(prompts: Sequence[Prompt]) -> str:
    """SHA-256 over the canonical JSON of the prompts by id: line order, key order and spacing of a file do not change it, any word does."""
    content = [prompt.model_dump(mode="json") for prompt in sorted(prompts, key=lambda prompt: prompt.id)]
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def selection(suite: Suite, language: str, choice: SuiteChoice, *, private: bool = False) -> Selection:
    """What a run asks for. Raises SuiteError."""
    prompts = select(suite, language, choice.profiles, choice.limit)
    return Selection(id=suite.id, version=suite.version, digest=suite.digest, private=private, prompts=prompts)


def select(suite: Suite, language: str, profiles: Iterable[str] | None = None, limit: int | None = None) -> tuple[Prompt, ...]:
    """At most `limit` prompts in one language, taken in turn from each profile, so that every shorter selection is the start of a longer one.

    Without `profiles` those that stand apart are left out. The order follows parallel ids alone: the same arguments in another language select
    the twins in the same order. What has no twin in every language of the suite comes last. Raises SuiteError.
    """
    spoken = _spoken(suite, language)
    wanted = sorted(set(suite.profiles) - set(suite.apart) if profiles is None else set(profiles))
    for profile in wanted:
        if profile not in suite.profiles:
            raise SuiteError(f"suite {suite.id} has no profile {profile!r}{did_you_mean(profile, suite.profiles)}")
    twins = Counter(prompt.parallel for prompt in suite.prompts)

    def alone(prompt: Prompt) -> bool:
        return prompt.parallel is None or twins[prompt.parallel] < len(suite.languages)

    own = [prompt for prompt in suite.prompts if prompt.language == spoken]
    chosen: list[Prompt] = []
    for last in (False, True):
        queues = [sorted((p for p in own if p.profile == profile and alone(p) == last), key=_place) for profile in wanted]
        turns = sorted((turn, place, prompt.id, prompt) for place, queue in enumerate(queues) for turn, prompt in enumerate(queue))
        chosen += [prompt for *_, prompt in turns]
    if not chosen:
        raise SuiteError(f"suite {suite.id} has no prompt in {spoken} of the profiles {', '.join(wanted)}")
    return tuple(chosen[:limit])


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
