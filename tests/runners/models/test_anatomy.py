"""What an offer tells of a model's layers, against the model itself."""

from pathlib import Path

import pytest

from app.domain.probe import Component
from runners.models.allowlist import Allowlist, anatomy
from runners.probe import draft_share
from tests import models
from tests.hybrids import hybrid_model
from tests.runners.test_probe import spec


@pytest.mark.parametrize("family", ["llama", "falcon_h1", "qwen3_5"])
def test_a_configuration_tells_what_the_model_runs(family: str, tmp_path: Path) -> None:
    """Catches an offer whose layers or share without attention are others than a probe by the same runner finds: every honest one was refused."""
    made = hybrid_model(family) if family != "llama" else models.tiny_model(family)
    made.save_pretrained(tmp_path)
    told, target = anatomy(tmp_path / "config.json"), models.tiny(family)
    assert told["layers"] == target.layers
    share = draft_share(target, spec().model_copy(update={"ablation": Component()}))
    assert told.get("without_attention") == (None if share is None else pytest.approx(share))


def test_what_cannot_be_read_tells_nothing(tmp_path: Path) -> None:
    """Catches a runner that has no offer because of one folder."""
    broken = tmp_path / "config.json"
    for text in ("", "[]", '{"model_type": "llama"}', '{"model_type": "another", "num_hidden_layers": 3}'):
        broken.write_text(text)
        assert anatomy(broken) == {}
    assert anatomy(tmp_path / "none") == {}


def test_every_model_of_the_zoo_tells_its_layers() -> None:
    """Catches models that come along and are not known by their layers."""
    offered = [each for each in Allowlist.installed().offers() if each.source == "zoo"]
    assert [each.name for each in offered if each.layers is None] == []
