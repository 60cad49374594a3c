"""The suites that come with Bezmen: their files lie beside the runners' code in the same installation, and are read without importing it."""

import logging
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from app.domain.prompt import SuiteError
from app.domain.suite import Suite, parse

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


def _files() -> list[Path]:
    runners = find_spec("runners")
    places = (runners.submodule_search_locations or ()) if runners else ()
    return sorted(path for place in places for path in (Path(place) / "workloads" / "suites").glob("*.jsonl"))
