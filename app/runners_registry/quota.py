"""How much one run may ask of a machine. (How long it may take: app/queue/sweeper.py; how many may wait: app/runs.)"""

from collections.abc import Sequence

from app.domain.catalogue import OfferedSuite
from app.domain.spec import PASSES, RunSpec
from app.errors import InvalidInput

ARMS = 2


class OverQuota(InvalidInput):
    """This asks for more than one run may"""


def require(spec: RunSpec, suites: Sequence[OfferedSuite], most: int) -> None:
    """Raises OverQuota where the passes of both arms could generate more than `most` tokens."""
    known = [suite.prompts for suite in suites if suite.id == spec.suite.id]
    prompts = min([*known, *([spec.suite.limit] if spec.suite.limit else [])], default=0)
    passes = ARMS * PASSES * spec.trials
    asked = prompts * spec.max_new_tokens * passes
    if asked > most:
        said = f"{prompts} prompts × {spec.max_new_tokens} tokens × {passes} passes are {asked} tokens, and a run may generate {most}."
        fields = [{"pointer": pointer, "detail": said} for pointer in ("/suite/limit", "/max_new_tokens", "/trials")]
        raise OverQuota(f"{said} Lower suite.limit, max_new_tokens or trials.", fields=fields)
