"""No figure without language and tokenizer: the types cannot be built without them."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.domain.estimate import Estimate, Figure
from app.domain.passport import Passport, issue
from app.domain.sentence import plain
from tests.factories import environment_fact, preflight_fact, run_spec

PASSPORT = issue(run_spec(), preflight_fact(), environment_fact(), {"ru": 1.0}, "0" * 64)
ESTIMATE = Estimate(point=0.5, low=0.4, high=0.6, n=8, counted="prompts")


@pytest.mark.parametrize("field", [name for name, field in Passport.model_fields.items() if field.is_required()])
def test_a_passport_without_a_field_is_refused_by_name(field: str) -> None:
    """Catches a field of the passport that became optional; language and both tokenizers are among them."""
    body = PASSPORT.model_dump()
    del body[field]
    with pytest.raises(ValidationError) as error:
        Passport.model_validate(body)
    assert [item["loc"] for item in error.value.errors()] == [(field,)]


@pytest.mark.parametrize("field", ["language", "tokenizer", "drafter_tokenizer", "answer_language", "suite_digest", "chat_template_digest"])
def test_these_fields_are_required(field: str) -> None:
    assert Passport.model_fields[field].is_required()


@pytest.mark.parametrize(("field", "value"), [("language", ""), ("language", "und"), ("tokenizer", None), ("drafter_tokenizer", None)])
def test_an_empty_field_is_no_field(field: str, value: object) -> None:
    with pytest.raises(ValidationError, match=field):
        Passport.model_validate(PASSPORT.model_dump() | {field: value})


def test_a_figure_needs_a_passport() -> None:
    body: dict[str, Any] = {"id": "acceptance_rate", "unit": "share", "pooled": ESTIMATE, "rounds": 10, "emitted": 30}
    assert Figure(**body, passport=PASSPORT).passport.language == "ru"
    with pytest.raises(ValidationError, match="passport"):
        Figure(**body)
    with pytest.raises(ValidationError, match="language"):
        Figure.model_validate(body | {"passport": PASSPORT.model_dump(exclude={"language"})})


def test_a_drafter_without_a_tokenizer_reads_the_targets() -> None:
    other = {"name": "draft", "fingerprint": "b" * 64, "vocabulary": 9}
    assert PASSPORT.tokenizers_agree
    differing = issue(run_spec(), preflight_fact(drafter_tokenizer=other), environment_fact(), {}, "0" * 64)
    assert not differing.tokenizers_agree


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({"low": None}, "an interval has two ends"),
        ({"low": None, "high": None}, "states the reason"),
        ({"point": None, "low": None, "high": None}, "states the reason"),
        ({"point": None, "reason": plain("why")}, "an interval without a point"),
        ({"point": 0.7}, "outside its interval"),
        ({"point": float("nan")}, "finite"),
    ],
)
def test_a_number_without_an_interval_states_its_reason(over: dict[str, Any], said: str) -> None:
    """Catches an absent number printed as if it were one."""
    with pytest.raises(ValidationError, match=said):
        Estimate.model_validate(ESTIMATE.model_dump() | over)


def test_a_drafter_with_a_model_of_its_own_names_its_tokenizer() -> None:
    """Catches acceptance of a second model under the target's tokenizer, for want of its own."""
    with pytest.raises(ValidationError, match="drafter_tokenizer is missing"):
        preflight_fact(drafter_checkpoint="org/small", drafter_tokenizer=None)
    named = preflight_fact(drafter_checkpoint="org/small", drafter_tokenizer=preflight_fact().tokenizer, drafter_dtype="float32")
    passport = issue(run_spec(), named, environment_fact(), {}, "0" * 64)
    assert (passport.drafter_checkpoint, passport.drafter_dtype, passport.tokenizers_agree) == ("org/small", "float32", True)
