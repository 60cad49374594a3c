"""Identity of a loaded tokenizer, and whether it is the one that was believed."""

import json
import re
from collections.abc import Collection

from transformers import PreTrainedTokenizerBase

from app.domain.tokenizer import TokenizerIdentity, fingerprint, fingerprint_said, vocabulary

_PACKAGE = "package:"


class NoFastTokenizer(Exception):
    """The tokenizer has no fast form, so its content cannot be fingerprinted."""


def identify(tokenizer: PreTrainedTokenizerBase, name: str) -> TokenizerIdentity:
    """`name` is what people call it (a repository id or `package:NAME`). Raises NoFastTokenizer."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise NoFastTokenizer(f"the tokenizer of {name} has no fast form, so it cannot be fingerprinted")
    content = json.loads(backend.to_str())
    return TokenizerIdentity(name=name, fingerprint=fingerprint(content), vocabulary=len(vocabulary(content)))


def matches(belief: str, identity: TokenizerIdentity, aliases: Collection[str] = ()) -> bool:
    """Whether a submitter's belief names this tokenizer: a repository id, `package:NAME`, or a fingerprint (at least its first 12 hex digits).

    `aliases` are further names under which the runner offers it. Letter case does not matter, nor - _ . in a package's name (PEP 503).
    """
    said = fingerprint_said(belief)
    if said is not None and identity.fingerprint.startswith(said):
        return True
    return _plain(belief) in {_plain(name) for name in (identity.name, *aliases)}


def _plain(name: str) -> str:
    lowered = name.strip().lower()
    return _PACKAGE + re.sub(r"[-_.]+", "-", lowered.removeprefix(_PACKAGE).strip()) if lowered.startswith(_PACKAGE) else lowered
