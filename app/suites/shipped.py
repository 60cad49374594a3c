"""The suites that come with Bezmen: their files lie beside the runners' code in the same installation, and are read without importing it."""

import logging
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from app.domain.probe import ProbeSpec
from app.domain.prompt import Prompt, SuiteError
from app.domain.suite import Suite, parse, select

logger = logging.getLogger(__name__)


@cache
def shipped() -> dict[str, Suite]:
    """By digest, so that a runner of another version with other prompts under the same name is not taken for one of these."""
    found: dict[str, Suite] = {}
    for path in _files():
        try:
            suite, _ = parse(path.stem, path.read_bytes())
        except (SuiteError, OSError) as error:
            logger.warning("the suite %s of this installation cannot be read: %s", path.stem, error)
            continue
        found[suite.digest] = suite
    return found


def of_probe(spec: ProbeSpec) -> tuple[str, dict[str, tuple[Prompt, ...]]] | None:
    """The digest of the suite that a probe reads, and the prompts that it asks for by language; None where the suite does not come with this
    installation. Suites that come with Bezmen never change, so a runner that has another one under the name has a wrong one. Raises SuiteError."""
    suite = next((each for each in shipped().values() if each.id == spec.suite), None)
    return None if suite is None else (suite.digest, {language: select(suite, language, limit=spec.limit) for language in spec.languages})


def _files() -> list[Path]:
    runners = find_spec("runners")
    places = (runners.submodule_search_locations or ()) if runners else ()
    return sorted(path for place in places for path in (Path(place) / "workloads" / "suites").glob("*.jsonl"))
