"""A model by the name that it has in the form and on the command line: package:NAME, hub:REPOSITORY@REVISION, path:FOLDER or path:FOLDER#FILE."""

from app.domain.spec import ModelSource

_FIELDS = {"hub": "repository", "path": "path", "package": "package"}


def source_of(name: str) -> ModelSource:
    """Raises ValueError with a sentence for a name of another shape."""
    source, _, rest = name.partition(":")
    if source not in _FIELDS or not rest:
        raise ValueError(f"a model is named package:NAME, hub:REPOSITORY@REVISION or path:FOLDER, with #FILE behind it for a GGUF file; not {name}")
    rest, _, file = rest.partition("#")
    rest, _, revision = rest.partition("@") if source == "hub" else (rest, "", "")
    return ModelSource.model_validate({"source": source, _FIELDS[source]: rest, "file": file or None, "revision": revision or None})
