"""What a runner finds in a probe: everything is valid by default and the same every time."""

import random
from typing import Any

from app.domain.probe import ProbeFound, ProbeText
from tests import factories


def probe_found(**over: Any) -> ProbeFound:
    """24 texts of each language: enough of them, and of tokens."""
    texts = [
        ProbeText(
            language=language,
            prompt=f"{language}-{number:02}",
            tokens=100,
            loss=200.0 + number,
            ablated_loss=320.0 + 3 * number,
            agreeing="".join("1" if random.Random(f"probe:{language}:{number}:{at}").random() < 0.6 else "0" for at in range(100)),
        )
        for language in ("ru", "en")
        for number in range(24)
    ]
    values: dict[str, Any] = {
        "environment": factories.environment_fact(),
        "layers": 30,
        "draft_share": 26 / 30,
        "texts": tuple(texts),
        "suite_digest": factories.SUITE_DIGEST,
        "suite_version": "1",
    }
    same = factories.preflight_fact().model_dump(
        include={"target", "revision", "weights_digest", "dtype", "quantisation", "tokenizer", "engine_version"}
    )
    return ProbeFound.model_validate(same | values | over)
