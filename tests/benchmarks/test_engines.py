"""The campaigns over served engines are ones that the service and a runner take."""

from pathlib import Path

from app.campaigns.schemas import CampaignIn
from app.domain.spec import OWN_ENGINE
from benchmarks.engines import LOADS, MODES, body
from runners.engine.external.aliases import Engines
from runners.parts import choose as choose_parts
from runners.served.choice import choose

ENGINES = Engines.model_validate(
    {
        "engines": {
            "llama": {"kind": "llama.cpp", "server": Path("/opt/llama-server"), "roots": (Path("/opt"),)},
            "vllm": {"kind": "vllm", "python": Path("/opt/python"), "roots": (Path("/opt"),)},
        }
    }
)
SERVED = [{"name": name, "kind": alias.kind} for name, alias in ENGINES.engines.items()]


def test_every_mode_can_be_asked_for() -> None:
    """Catches a parameter that an engine's mode does not take any more, an hour before a campaign would say so."""
    for loads, blocks in LOADS:
        specs = CampaignIn.model_validate(body("engines", SERVED, loads, blocks)).specs
        assert len(specs) == 2 * len(loads) * (1 + sum(map(len, MODES.values())))
        for spec in specs:
            if spec.engine == OWN_ENGINE:
                choose_parts(spec)
            else:
                assert choose(spec, ENGINES).mode.mode == spec.drafter.name
