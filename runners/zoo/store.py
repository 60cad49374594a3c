"""Where the models of the zoo lie, and how one is written down."""

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from runners.models.package import digest
from runners.zoo.recipe import Record

ROOT = Path(__file__).parent / "weights"
WEIGHTS, RECORD = "model.safetensors", "recipe.json"


class NoPlace(ValueError):
    """Models cannot be written there; the message is a sentence."""


def place(root: Path) -> None:
    """Makes the folder of all models. Known before a training that takes half an hour. Raises NoPlace."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=root).close()
    except OSError as error:
        raise NoPlace(f"Nothing can be written into {root}: {error.strerror}. Name another folder with --into.") from error


def folder_of(name: str, root: Path = ROOT) -> Path:
    return root / name


def kept(root: Path = ROOT) -> dict[str, Record]:
    """{name: its record} of the models that are there."""
    found = sorted(root.glob(f"*/{RECORD}"))
    return {file.parent.name: Record.model_validate_json(file.read_text()) for file in found if (file.parent / WEIGHTS).is_file()}


def save(model: Any, tokenizer: Any, record: Record, root: Path) -> Record:
    """Writes a folder that transformers loads, in float16; it appears whole, in place of what was there. `model` becomes float16.

    Returns the record with the digest of the weights.
    """
    import torch

    folder = folder_of(record.name, root)
    half = folder.with_name(f".{record.name}.{os.getpid()}")
    shutil.rmtree(half, ignore_errors=True)
    model.to(torch.float16).save_pretrained(half)
    for where in ("is_local", "local_files_only"):
        tokenizer.init_kwargs.pop(where, None)
    tokenizer.save_pretrained(half)
    (half / WEIGHTS).chmod(0o644)
    record = record.model_copy(update={"weights": digest([half / WEIGHTS])})
    (half / RECORD).write_text(json.dumps(record.model_dump(), ensure_ascii=False, indent=2) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    half.rename(folder)
    return record


def tokenizer_in(root: Path) -> Any:
    """The tokenizer that the models there share, or None where there is no model yet."""
    from transformers import AutoTokenizer

    found = sorted(root.glob("*/tokenizer.json"))
    return AutoTokenizer.from_pretrained(found[0].parent, trust_remote_code=False) if found else None
