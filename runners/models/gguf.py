"""A GGUF file turned once into a folder that transformers loads in a second."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from runners.engine.families import check_family
from runners.models.package import NoWeights, digest

_DONE = "converted.json"
# Architectures that GGUF names otherwise than transformers does.
_FAMILY = {"gemma3": "gemma3_text"}


def convert(file: Path, cache: Path) -> tuple[Path, str, str]:
    """(folder with float32 weights and tokenizer, SHA-256 of the GGUF file, name of its quantisation).

    The folder is named by the digest and appears whole or not at all, so that two runners may convert at once. Raises NoWeights for a file that is
    no GGUF and UnsupportedModel for a family that cannot be run.
    """
    _check(file)
    fingerprint = digest([file])
    folder = cache / f"{file.stem}-{fingerprint[:12]}"
    if not (folder / _DONE).exists():
        building = folder.with_name(f"{folder.name}.{os.getpid()}")
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
        _write(file, building)
        (building / _DONE).write_text(json.dumps({"file": file.name, "sha256": fingerprint, "quantisation": quantisation_of(file)}))
        try:
            building.replace(folder)
        except OSError:
            shutil.rmtree(building)
            if not (folder / _DONE).exists():
                raise
    record: dict[str, str] = json.loads((folder / _DONE).read_text())
    return folder, fingerprint, record["quantisation"]


def _check(file: Path) -> None:
    """What can be refused by the file's own head, before its weights are read."""
    from gguf import GGUFReader

    try:
        fields = GGUFReader(str(file)).fields
        family = str(fields["general.architecture"].contents())
    except (ValueError, KeyError, IndexError, OSError) as error:
        raise NoWeights(f"{file.name} is not a GGUF file that can be read") from error
    # A mixture of experts calls itself llama too, and would be loaded with random weights in place of its experts.
    experts = fields.get(f"{family}.expert_count")
    check_family({"model_type": _FAMILY.get(family, family), "num_experts": int(experts.contents()) if experts else 0})


def _write(file: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where: dict[str, Any] = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name, "trust_remote_code": False}
    both: Any = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32, output_loading_info=True)
    loaded, info = both
    if info["missing_keys"]:
        raise NoWeights(f"{file.name} lacks weights that its family has: {', '.join(sorted(info['missing_keys'])[:3])}")
    config = loaded.config
    # A model loaded from GGUF calls itself quantised and refuses to be saved, although its weights are plain by now.
    del config.quantization_config
    model = type(loaded)(config)
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**where).save_pretrained(folder)


def quantisation_of(file: Path) -> str:
    """The commonest tensor type by bytes, as GGUF names it ("Q4_1")."""
    from gguf import GGUFReader

    sizes: dict[str, int] = {}
    for tensor in GGUFReader(str(file)).tensors:
        sizes[tensor.tensor_type.name] = sizes.get(tensor.tensor_type.name, 0) + int(tensor.n_bytes)
    return max(sizes, key=lambda name: sizes[name])
