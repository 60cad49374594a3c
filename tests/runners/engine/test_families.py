"""Which models are refused, by what their configuration says, and whether the sentence says why."""

import json
from typing import Any

import pytest
import transformers

from runners.engine.families import FAMILIES, UnsupportedModel, check_family

REFUSED = {
    "GPT2Config": "absolute positions",
    "OPTConfig": "absolute positions",
    "BloomConfig": "bias attention by distance",
    "GPTNeoXConfig": "does not know",
    "T5Config": "has an encoder",
    "MixtralConfig": "experts",
    "DeepseekV3Config": "experts",
    "MambaConfig": "recurrent state",
    "BambaConfig": "recurrent state",
    "Qwen3NextConfig": "recurrent state",
    "Qwen2VLConfig": "images or sound",
}


def configuration(name: str, **over: Any) -> dict[str, Any]:
    found: dict[str, Any] = getattr(transformers, name)(**over).to_dict()
    return found


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
def test_a_model_that_cannot_run_is_told_why_and_what_can(name: str, reason: str) -> None:
    """Catches a family that would run with wrong masks, and a refusal that leaves one guessing."""
    with pytest.raises(UnsupportedModel, match=reason) as refusal:
        check_family(configuration(name))
    assert all(family in str(refusal.value) for family in FAMILIES)


RUN = [
    "LlamaConfig", "MistralConfig", "Qwen2Config", "Qwen3Config", "Gemma3TextConfig", "Qwen3MoeConfig", "OlmoeConfig", "FalconH1Config",
    "Qwen3_5TextConfig",
]  # fmt: skip


@pytest.mark.parametrize("name", RUN)
def test_families_of_the_table_pass(name: str) -> None:
    check_family(configuration(name))


def test_a_known_family_may_come_in_a_variant_that_cannot_run() -> None:
    """Catches angles that follow the longest text of a batch, later tokens in sight, and packed weights that look like a Llama."""
    for kind in ("longrope", "dynamic"):
        with pytest.raises(UnsupportedModel, match=kind):
            check_family({"model_type": "llama", "rope_scaling": {"rope_type": kind, "factor": 4}})
    with pytest.raises(UnsupportedModel, match="later tokens"):
        check_family({"model_type": "gemma3_text", "use_bidirectional_attention": True})
    with pytest.raises(UnsupportedModel, match="quantised layout"):
        check_family({"model_type": "llama", "quantization_config": {"quant_method": "gptq"}})
    with pytest.raises(UnsupportedModel, match="recurrent"):
        check_family({"model_type": "llama", "layer_types": ["linear_attention", "full_attention"]})
    with pytest.raises(UnsupportedModel, match="limits its time steps"):
        check_family(configuration("FalconH1Config", time_step_limit=(0.0, 0.1)))


def test_a_configuration_without_a_family_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="model_type"):
        check_family({})


def test_a_folder_s_own_infinity_is_no_limit(tmp_path: Any) -> None:
    """Catches a hybrid that is refused for how its folder spells that its time steps are free."""
    transformers.FalconH1Config().save_pretrained(tmp_path)
    check_family(json.loads((tmp_path / "config.json").read_text()))
