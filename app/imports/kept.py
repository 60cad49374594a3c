"""What is kept of a file, and how it is known again: also that of imports made before something of it was kept otherwise."""

import hashlib

from app.domain.outside.imported import Imported
from app.domain.outside.supplied import Between, Said
from app.domain.sentence import Sentence, plain
from app.imports.open import FORMATS, by_word
from app.imports.store import Found

# Remarks as they were written before, and what is said in their place.
_OLD_REMARKS: dict[str, Sentence | None] = {
    "How many requests these were is a person's word, and so are the tokens of the prefill, one for each: that the counts close with them proves "
    "nothing.": None,
    "%(n)s of %(all)s answers do not tell their drafts: speculation was off, or the answer ended on a stop string. The totals of the file are then "
    "absent; those of the other answers stand with them.": plain(
        "%(n)s of %(all)s answers do not tell their drafts: speculation was off, or the answer ended on a stop string, of which vLLM tells "
        "nothing although it drafted."
    ),
}


def told(row: Found) -> tuple[Imported, Said]:
    """What a file tells with what a person says of it, and what that is."""
    said = Said.model_validate(row.supplied)
    return imported(row, said), said


def imported(row: Found, said: Said) -> Imported:
    """What a file tells if this is said of it. Raises NotImported where its counts cannot be."""
    found = Imported.model_validate(row.imported)
    format = FORMATS[found.format]
    if found.moved and format.anew is not None:
        found = format.anew(found, said.requests, said.concurrency)
    return by_word(format, found.model_copy(update={"remarks": tuple(_remarks(found))}))


def of_metrics(row: Found) -> bool:
    format = FORMATS.get(row.format)
    return format is not None and format.anew is not None


def digest(content: bytes, before: bytes | None) -> str:
    """SHA-256 of a file; of two texts of /metrics, over the digests of both."""
    own = hashlib.sha256(content)
    if before is None:
        return own.hexdigest()
    return hashlib.sha256(b"two texts" + hashlib.sha256(before).digest() + own.digest()).hexdigest()


def digest_of_before(content: bytes, before: bytes, said: Said) -> str:
    """The digest that two texts had when they made another import with each word of the requests in between."""
    between = Between(requests=said.requests, concurrency=said.concurrency)
    word = b"" if between == Between() else between.model_dump_json().encode()
    return hashlib.sha256(hashlib.sha256(before).digest() + hashlib.sha256(content).digest() + word).hexdigest()


def _remarks(found: Imported) -> list[Sentence]:
    said = []
    for each in found.remarks:
        new = _OLD_REMARKS.get(each.text, each)
        if new is not None:
            said.append(each if new is each else new.model_copy(update={"values": each.values}))
    return said
