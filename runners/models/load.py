"""From a spec's model to weights and tokenizer in memory."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from app.domain.spec import ModelSource
from runners.models.allowlist import Allowlist
from runners.models.gguf import convert
from runners.models.package import digest, locate


class NoSuchModel(ValueError):
    """The model's folder cannot be read."""


@dataclass(frozen=True)
class Located:
    """A model folder on this machine. `weights_digest` is SHA-256 of the weights as shipped, `quantisation` their type if they were quantised."""

    folder: Path
    name: str
    revision: str | None
    weights_digest: str | None
    quantisation: str | None


def locate_model(model: ModelSource, allowed: Allowlist, cache: Path) -> Located:
    """Finds the model and, where it is a GGUF file, converts it once. Raises ModelRefused, NoWeights or NoSuchModel."""
    allowed.check(model)
    if model.source == "package":
        file = locate(str(model.package), model.file, cache)
        folder, fingerprint, quantisation = convert(file, cache)
        return Located(folder, f"package:{model.package}", None, fingerprint, f"{quantisation} (dequantised)")
    if model.source == "path":
        return _in_folder(Path(str(model.path)), model, cache)
    from huggingface_hub import snapshot_download

    folder = Path(snapshot_download(str(model.repository), revision=model.revision, cache_dir=cache / "hub"))
    return Located(folder, str(model.repository), model.revision, digest(sorted(folder.glob("*.safetensors"))), None)


def _in_folder(path: Path, model: ModelSource, cache: Path) -> Located:
    if model.file and model.file.endswith(".gguf"):
        file = (path / model.file).resolve()
        if not file.is_relative_to(path.resolve()) or not file.is_file():
            raise NoSuchModel(f"there is no {model.file} in {path}")
        folder, fingerprint, quantisation = convert(file, cache)
        return Located(folder, path.name, None, fingerprint, f"{quantisation} (dequantised)")
    weights = sorted(path.glob("*.safetensors"))
    if not weights or not (path / "config.json").is_file():
        raise NoSuchModel(f"{path} holds no config.json with safetensors beside it; name a GGUF file in model.file if that is what it holds")
    return Located(path, path.name, None, digest(weights), None)


def load_weights(located: Located, dtype: torch.dtype, device: torch.device) -> Any:
    """A causal language model of transformers in evaluation mode; code shipped with a model is never run."""
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(located.folder, dtype=dtype, trust_remote_code=False, attn_implementation="sdpa")
    return model.to(device).eval()


def load_tokenizer(located: Located) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(located.folder, trust_remote_code=False)


def config_of(located: Located) -> dict[str, Any]:
    """The model's own configuration, as it lies in its folder."""
    config: dict[str, Any] = json.loads((located.folder / "config.json").read_text())
    return config


def context_of(located: Located) -> int:
    """The longest sequence, in tokens, that the model's own configuration allows."""
    return int(config_of(located).get("max_position_embeddings", 2048))


def cache_entry_bytes(located: Located, dtype: torch.dtype) -> int:
    """Bytes of keys and values of one position over all layers."""
    config = config_of(located)
    heads, dim = config["num_attention_heads"], config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return int(2 * config["num_hidden_layers"] * config.get("num_key_value_heads", heads) * dim * dtype.itemsize)


def end_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Every id that ends an answer: the generation configuration's and the tokenizer's."""
    declared = getattr(model.generation_config, "eos_token_id", None)
    ids = declared if isinstance(declared, list) else [declared]
    return frozenset(int(i) for i in [*ids, tokenizer.eos_token_id] if i is not None)
