"""The same order as a command line."""

import json
import shlex

from app.domain.spec import RunSpec


def submit_line(spec: RunSpec) -> str:
    """`bezmen submit` with everything that differs from a default; what it sends is equal to the spec."""
    body = spec.model_dump(mode="json", exclude_defaults=True)
    return "bezmen submit " + shlex.quote(json.dumps(body, ensure_ascii=False))
