"""Snapshots of the Hugging Face hub, by full revision: what is measured today can be fetched again tomorrow."""

import re
from pathlib import Path

_FULL = re.compile(r"[0-9a-f]{40}")
# Weights as safetensors alone: a pickle may run code when it is read.
_WHOLE = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")


class NoSuchModel(ValueError):
    """The model cannot be found or read."""


def download(repository: str, revision: str, file: str | None, cache: Path) -> Path:
    """The folder of a snapshot, whose name is the revision. One GGUF `file` of it, or all that transformers needs.

    A snapshot that `cache` holds already is not asked for again. No token is sent, so that gated and private repositories are refused.
    Raises NoSuchModel.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, HFValidationError, RepositoryNotFoundError, RevisionNotFoundError

    here = f"{repository}@{revision[:12]}"
    if not _FULL.fullmatch(revision):
        raise NoSuchModel(
            f"a hub model is named with its full revision of 40 hexadecimal digits; {repository}@{revision} could change under one's hands"
        )
    try:
        wanted = [file] if file else list(_WHOLE)
        folder = Path(snapshot_download(repository, revision=revision, cache_dir=cache, allow_patterns=wanted, token=False))
    except HFValidationError as error:
        raise NoSuchModel(f"{repository} is no name of a hub repository") from error
    except GatedRepoError as error:
        raise NoSuchModel(f"{here} is gated; fetch it with your own token into a folder and measure that") from error
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise NoSuchModel(f"the hub has no {here}") from error
    except HfHubHTTPError as error:
        raise NoSuchModel(f"the hub did not give out {here}: {error}"[:400]) from error
    except OSError as error:
        raise NoSuchModel(f"{here} is not whole in this runner's cache, and the hub cannot be reached from here") from error
    if folder.name != revision:
        raise NoSuchModel(f"the hub gave {folder.name[:12]} for {here}")
    return folder
