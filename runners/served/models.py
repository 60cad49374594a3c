"""Which of the runner's models an engine can serve, and what of a model it reads."""

from pathlib import Path

from app.domain.catalogue import OfferedModel
from app.domain.passport import DEQUANTISED
from app.domain.spec import ModelSource
from runners.engine.external.aliases import Alias, Attached
from runners.models.hub import download
from runners.models.load import Located
from runners.models.package import locate
from runners.protocol.unmeasurable import Unmeasurable

GGUF = ".gguf"


def servable(alias: Alias, model: OfferedModel) -> bool:
    """Whether an engine can serve a model of the runner's list: llama.cpp what is a GGUF file, vLLM what is a folder of safetensors or becomes one,
    a server that runs already the model that it is said to have."""
    gguf = model.source == "package" or (model.file or "").endswith(GGUF)
    if isinstance(alias, Attached):
        return alias.model in {model.name, f"{model.source}:{model.name}", Path(model.name).name, model.tokenizer, *model.aliases}
    if alias.kind == "llama.cpp":
        return gguf
    return model.source == "package" or (model.source in ("hub", "path") and not model.file)


def read_by(alias: Alias, model: ModelSource, located: Located, cache: Path) -> Path:
    """The file or folder that an engine is started with. Raises Unmeasurable where it does not read such a model."""
    if alias.kind != "llama.cpp":
        return located.folder
    if model.source == "package":
        return locate(str(model.package), model.file, cache)
    if model.file is not None and model.source == "path":
        return Path(str(model.path)).resolve() / model.file
    if model.file is not None and model.source == "hub":
        return download(str(model.repository), str(model.revision), model.file, cache / "hub") / model.file
    raise Unmeasurable("not_servable", f"llama.cpp serves GGUF files, and {model.title} is none; name the file in model.file if it holds one.")


def native(quantisation: str | None, alias: Alias) -> str | None:
    """How the weights lie in the engine's memory: what llama.cpp reads it computes with as it is."""
    return quantisation.removesuffix(DEQUANTISED) if quantisation is not None and alias.kind == "llama.cpp" else quantisation
