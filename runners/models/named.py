"""A model by its name in the form and on the command line: zoo:NAME, package:NAME, hub:REPOSITORY@REVISION, path:FOLDER or path:FOLDER#FILE."""

from app.domain.spec import NAMED_IN, ModelSource


def source_of(name: str) -> ModelSource:
    """Raises ValueError with a sentence for a name of another shape."""
    source, _, rest = name.partition(":")
    named_in = {str(each): field for each, field in NAMED_IN.items()}.get(source)
    if named_in is None or not rest:
        shapes = "zoo:NAME, package:NAME, hub:REPOSITORY@REVISION or path:FOLDER, with #FILE behind it for a GGUF file"
        raise ValueError(f"a model is named {shapes}; not {name}")
    rest, _, file = rest.partition("#")
    rest, _, revision = rest.partition("@") if source == "hub" else (rest, "", "")
    return ModelSource.model_validate({"source": source, named_in: rest, "file": file or None, "revision": revision or None})
