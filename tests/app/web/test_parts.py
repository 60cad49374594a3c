"""The form draws drafters, controllers and verifiers from what runners offer, in the reader's language."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from app.domain.catalogue import Part
from app.runners_registry.schemas import Catalogue
from app.web.pages.submit import parameters
from runners.models.named import source_of
from runners.parts import offered
from tests import factories

CATALOGUE = Path(__file__).parents[3] / "app/web/locale/ru/LC_MESSAGES/messages.po"
PARTS = [part for parts in offered().values() for part in parts]


def texts(part: Part) -> Iterator[str]:
    """What the form prints of a part."""
    yield part.summary
    for node in part.schema_.get("properties", {}).values():
        yield from (str(node[key]) for key in ("title", "description") if key in node)
        yield from map(str, node.get("enum", ()))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_what_a_part_says_of_itself_is_said_in_russian(part: Part) -> None:
    """Catches a part whose summary or parameters stand in English on a Russian form: the extractor does not read what runners say."""
    with CATALOGUE.open("rb") as stream:
        known = {message.id for message in read_po(stream, locale="ru") if message.id and message.string}
    assert not [text for text in texts(part) if text and text not in known]
    assert all("title" in node for node in part.schema_.get("properties", {}).values())


def test_a_drafters_model_is_picked_from_those_that_runners_have() -> None:
    """Catches a name on the form that the drafter cannot read, and a list of models under a parameter that is none."""
    offer = factories.offer()
    catalogue = Catalogue(
        runners=[], models=list(offer.models), drafters=[], controllers=[], verifiers=[], suites=[], engines=[],
    )  # fmt: skip
    part = next(part for part in PARTS if part.name == "draft-model")
    model, other = parameters("drafter.draft-model.", part, catalogue, {}, {}, "ru")
    assert model.required
    assert len(model.suggestions) == len(offer.models) > 0
    assert all(source_of(name) for name in model.suggestions)
    assert other.suggestions == ()
