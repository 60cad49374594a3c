"""From a spec's model to weights and tokenizer in memory."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from app.domain.passport import DEQUANTISED
from app.domain.spec import ModelSource
from runners.engine.families import FAMILIES, LINEAR
from runners.models.allowlist import Allowlist, ModelRefused
from runners.models.gguf import convert
from runners.models.hub import NoSuchModel, download
from runners.models.package import digest, locate
from runners.zoo import store as zoo

__all__ = ["Located", "NoSuchModel", "config_of", "context_of", "load_tokenizer", "load_weights", "locate_model", "weights_bytes"]


@dataclass(frozen=True)
class Located:
    """A model folder on this machine. `weights_digest` is SHA-256 of the weights as shipped, `quantisation` their type if they were quantised."""

    folder: Path
    name: str
    revision: str | None
    weights_digest: str | None
    quantisation: str | None


def locate_model(model: ModelSource, allowed: Allowlist, cache: Path) -> Located:
    """Finds the model and, where it is a GGUF file, converts it once. Raises ModelRefused, NoWeights, NoSuchModel or UnsupportedModel."""
    allowed.check(model)
    if model.source == "package":
        return _converted(locate(str(model.package), model.file, cache), f"package:{model.package}", None, cache)
    roots: tuple[Path, ...]
    if model.source == "hub":
        folder, roots = download(str(model.repository), str(model.revision), model.file, cache / "hub"), (cache / "hub",)
        name, revision = str(model.repository), folder.name
    elif model.source == "zoo":
        folder, roots = zoo.folder_of(str(model.package)), (zoo.ROOT,)
        name, revision = str(model.found_as), None
    else:
        folder, roots = Path(str(model.path)).resolve(), allowed.roots
        name, revision = folder.name, None
    _check_inside(folder, model.file, roots)
    if model.file is not None:
        return _converted(_named(folder, model.file), name, revision, cache)
    weights = sorted(folder.glob("*.safetensors"))
    if not weights or not (folder / "config.json").is_file():
        raise NoSuchModel(f"{model.title} holds no config.json with safetensors beside it; name a GGUF file in model.file if that is what it holds")
    return Located(folder, name, revision, digest(weights), None)


def _converted(file: Path, name: str, revision: str | None, cache: Path) -> Located:
    folder, fingerprint, quantisation = convert(file, cache)
    return Located(folder, name, revision, fingerprint, quantisation + DEQUANTISED)


def _named(folder: Path, file: str) -> Path:
    """Safetensors are read whole and need no name; other files than GGUF (pickles above all) are never read."""
    found = folder / file
    if found.suffix != ".gguf":
        raise NoSuchModel(f"model.file names a GGUF file, and {file} is none")
    if not found.is_file():
        raise NoSuchModel(f"there is no {file} in this model")
    return found


def _check_inside(folder: Path, file: str | None, roots: tuple[Path, ...]) -> None:
    """A link may lead to where nobody allowed anything to be read, the folder's own name notwithstanding."""
    if not folder.is_dir():
        raise NoSuchModel(f"{folder} is no folder")
    read = [*folder.iterdir(), *([folder / file] if file else [])]
    outside = [each.name for each in read if not any(each.resolve().is_relative_to(root.resolve()) for root in roots)]
    if outside:
        raise ModelRefused(f"{', '.join(sorted(set(outside))[:3])} in {folder.name} leads outside the folders that this runner may read")


def load_weights(located: Located, dtype: torch.dtype, device: torch.device) -> Any:
    """A causal language model of transformers in evaluation mode; code shipped with a model is never run.

    Raises NoSuchModel for a checkpoint that is not whole.
    """
    from transformers import AutoModelForCausalLM

    where: dict[str, Any] = {"dtype": dtype, "trust_remote_code": False, "use_safetensors": True, "attn_implementation": "sdpa"}
    loaded: Any = AutoModelForCausalLM.from_pretrained(located.folder, **where, output_loading_info=True)
    model, info = loaded
    # What a checkpoint lacks is drawn at random, and such a model runs and speaks as if nothing were wrong.
    lacking = sorted(info["missing_keys"]) + sorted(str(key) for key in info["mismatched_keys"])
    if lacking:
        raise NoSuchModel(f"{located.name} lacks weights that its config.json promises: {', '.join(lacking[:3])}")
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
    """Bytes of keys and values of one position over all layers that have any."""
    config = config_of(located)
    layers = config["num_hidden_layers"] - (config.get("layer_types") or []).count(LINEAR)
    heads, dim = config["num_attention_heads"], config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return int(2 * layers * config.get("num_key_value_heads", heads) * dim * dtype.itemsize)


def state_bytes(located: Located) -> int:
    """Bytes that the recurrent states of one slot take at most: its own, those of a draft, and those that a forward left, in float32."""
    config = config_of(located)
    family = FAMILIES.get(str(config["model_type"]))
    return 0 if family is None or family.state is None else 3 * 4 * family.state(config)


def weights_bytes(located: Located) -> int:
    """What the weights take on disk."""
    return sum(file.stat().st_size for file in located.folder.glob("*.safetensors"))
