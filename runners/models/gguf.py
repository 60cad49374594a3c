"""A GGUF file turned once into a folder that transformers loads in a second."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from runners.models.package import digest

_DONE = "converted.json"


def convert(file: Path, cache: Path) -> tuple[Path, str, str]:
    """(folder with float32 weights and tokenizer, SHA-256 of the GGUF file, name of its quantisation).

    The folder is named by the digest and appears whole or not at all, so that two runners may convert at once.
    """
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


def _write(file: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where: dict[str, Any] = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name, "trust_remote_code": False}
    loaded: Any = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
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
