"""Imports that were kept before what is kept of one changed."""

from types import SimpleNamespace
from typing import Any

from app.domain.outside.supplied import Said
from app.domain.sentence import plain
from app.imports import kept
from app.imports.open import imported
from tests.app.imports.samples import content

OLD = (
    "How many requests these were is a person's word, and so are the tokens of the prefill, one for each: that the counts close with them proves "
    "nothing."
)
TEXTS = tuple(content(f"llama_metrics/ngram_{each}.txt") for each in ("after", "before"))


def row(**over: Any) -> Any:
    """What is stored of two texts of llama-server."""
    found = imported(TEXTS[0], before=TEXTS[1], requests=8).model_copy(update=over)
    return SimpleNamespace(id=1, format=found.format, imported=found.model_dump(mode="json", exclude_defaults=True), supplied={"requests": 8})


def test_an_import_of_before_is_told_like_one_of_now() -> None:
    """Catches counts of a person's word that are so in new imports alone, and a remark in words that nobody translates any more."""
    old, _ = kept.told(row(said=(), moved=(), remarks=(plain(OLD),)))
    now, said = kept.told(row())
    assert (old.said, old.total, old.remarks) == (now.said, now.total, ())
    assert said == Said(requests=8)
    assert (old.moved, kept.of_metrics(row())) == ((), True)


def test_the_number_that_is_said_last_is_counted_with() -> None:
    """Catches counts of the first number beside a second one."""
    stored = row()
    stored.supplied = {"requests": 9, "concurrency": 1}
    found, _ = kept.told(stored)
    assert (found.total.counts.requests, found.total.counts.prefill_tokens, found.total.counts.undrafted) == (9, 9, 212)


def test_two_texts_have_one_digest_and_are_known_by_the_one_of_before() -> None:
    """Catches two imports of the same texts, and one of before that is imported a second time."""
    after, before = TEXTS
    assert kept.digest(after, before) != kept.digest(before, after)
    old = {kept.digest_of_before(after, before, Said(requests=n)) for n in (None, 8, 9)}
    assert len(old | {kept.digest(after, before)}) == 4
