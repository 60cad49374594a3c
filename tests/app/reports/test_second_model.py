"""What a report and a comparison say of a drafter with a model, or a memory, of its own."""

from app.domain.passport import issue
from app.domain.tokenizer import TokenizerIdentity
from app.reports.axes import differences
from app.reports.build import build
from app.reports.format import say
from app.web.passport import full
from tests.factories import environment_fact, preflight_fact, record, run_spec

OTHER = TokenizerIdentity(name="org/small", fingerprint="b" * 64, vocabulary=500)
MODEL = {
    "drafter_checkpoint": "org/small",
    "drafter_revision": "c" * 40,
    "drafter_weights_digest": "d" * 64,
    "drafter_dtype": "float32",
    "drafter_tokenizer": preflight_fact().tokenizer,
}


def noted(**over: object) -> list[str]:
    made = record(run=1, language="ru", prompts=8)
    return [say(note) for note in build(made.model_copy(update={"preflight": preflight_fact(**over)})).notes]


def test_another_tokenizer_is_noted() -> None:
    """Catches an acceptance of translated drafts that reads as one of the same tokens."""
    said = noted(**MODEL | {"drafter_tokenizer": OTHER})
    assert any(OTHER.short in note and preflight_fact().tokenizer.short in note for note in said)
    assert not any("translated" in note for note in [*noted(**MODEL), *noted()])


def test_a_memory_that_crosses_requests_is_noted() -> None:
    """Catches counts that hang on the order of prompts, shown as if they did not."""
    assert any("order of prompts" in note and "empty memory" in note for note in noted(drafter_memory="process"))
    assert not any("order of prompts" in note for note in noted())


def test_the_full_passport_tells_the_drafters_model() -> None:
    """Catches an acceptance without the model that it is of."""
    made = record(run=1, language="ru", prompts=8)
    rows = {row[0]: row[1] for _, group in full(build(made.model_copy(update={"preflight": preflight_fact(**MODEL)})), "en") for row in group}
    assert rows["drafter checkpoint"] == "org/small"
    assert (rows["drafter revision"], rows["drafter weights"], rows["drafter dtype"]) == ("c" * 40, "d" * 64, "float32")
    plain = {row[0] for _, group in full(build(made), "en") for row in group}
    assert not plain & {"drafter revision", "drafter weights", "drafter dtype"}


def test_runs_of_two_draft_models_differ_in_the_drafter_alone() -> None:
    """Catches two drafters under one name that are compared as if they were one, and a change of type that forbids comparing types."""
    asked = run_spec()
    first, other, half = (
        issue(asked, preflight_fact(**MODEL | over), environment_fact(), {}, "0" * 64)
        for over in ({}, {"drafter_weights_digest": "e" * 64, "drafter_revision": "f" * 40}, {"dtype": "float16", "drafter_dtype": "float16"})
    )
    between = differences([first, other])
    assert between.axis == "drafter"
    assert not between.forbidden
    types = differences([first, half])
    assert types.axis == "model"
    assert {each.field for each in types.fields} == {"dtype", "drafter_dtype"}
    assert not types.forbidden
