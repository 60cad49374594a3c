"""What a probe reads, and that what it predicts is what the drafter does where the text is the model's own."""

import math

import pytest
import torch

from app.domain.probe import Component, LastLayers, ProbeSpec
from app.domain.prompt import Prompt
from app.domain.spec import Choice, ModelSource
from app.reports.probe import walk
from runners.engine import ablation
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget
from runners.probe import check_size, compared, draft_share, part_of, read
from runners.protocol.unmeasurable import Unmeasurable
from tests import models

KEPT, ALL = 4, 6
NEW = 40


def shallow() -> TransformersTarget:
    """A model whose last layers change little, so that it agrees with itself without them often and not always."""
    model = models.tiny_model("llama")
    with torch.no_grad():
        for layer in model.model.layers[KEPT:]:
            for weights in (layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight):
                weights.mul_(0.3)
    return TransformersTarget(model, slots=1, context=256, eos=frozenset())


def spec(count: int = ALL - KEPT, **over: object) -> ProbeSpec:
    source = ModelSource(source="package", package="tiny")
    return ProbeSpec.model_validate({"model": source, "languages": ["en"], "tokenizer": "package:tiny", "ablation": LastLayers(count=count)} | over)


def prompt(id: str) -> Prompt:
    return Prompt.model_validate({"id": id, "language": "en", "profile": "chat", "answer": "prompt", "text": "text"})


@pytest.mark.parametrize("length", [1, 2, 4])
def test_on_the_models_own_answer_the_prediction_is_what_the_drafter_does(length: int) -> None:
    """Catches positions that are off by one, a part that is not the drafter's, and rounds that end otherwise than the loop's: drafted, kept and
    rounds of a run are those of the walk over its answer."""
    target = shallow()
    asked = models.spec("layerskip", {"exit_layer": KEPT}).model_copy(update={"controller": Choice(name="constant", params={"length": length})})
    request = models.prompts(1)[0]
    (done,) = models.loop_of(target, asked, StopRules(NEW, frozenset(), (), str)).run([request], 1)
    assert done.emitted == NEW
    ids = [*request.ids, *done.output]
    (text,) = read([("en", prompt("p"), ids)], target, spec())
    # The first token comes from the prefill; what is drafted follows it.
    assert walk(text.agreeing[len(request.ids) :], length) == (done.drafted, done.verified, len(done.round_drafted))
    assert 0 < done.verified < done.drafted


@pytest.mark.parametrize("family", ["falcon_h1", "qwen3_5"])
def test_a_hybrid_without_attention_costs_what_component_runs(family: str) -> None:
    """Catches another part left out of the text than of the draft: with attention off both run the same share of the layers."""
    target = models.tiny(family)
    part = spec().model_copy(update={"ablation": Component()})
    asked = models.spec("component", {}).model_copy(update={"controller": Choice(name="constant", params={"length": 2})})
    request = models.prompts(1)[0]
    (done,) = models.loop_of(target, asked, StopRules(NEW, frozenset(), (), str)).run([request], 1)
    share = draft_share(target, part)
    assert share == pytest.approx(float(done.passes.parts / (done.drafted * target.layers)))
    (text,) = read([("en", prompt("p"), list(request.ids))], target, part)
    assert text.loss != text.ablated_loss


def test_losses_are_those_of_what_comes_next() -> None:
    """Catches a loss of the token itself, a mean for a sum, and the two models' numbers exchanged."""
    target = models.tiny("llama")
    ids = list(models.prompts(1)[0].ids)
    whole, without = (ablation.logits(target, ids[:-1], part) for part in (ablation.LastLayers(0), part_of(spec())))
    text = compared("en", "p", ids, whole, without)
    by_hand = [sum(-math.log(torch.softmax(each[i].double(), -1)[ids[i + 1]].item()) for i in range(len(ids) - 1)) for each in (whole, without)]
    assert text.loss == pytest.approx(by_hand[0], rel=1e-4)
    assert text.ablated_loss == pytest.approx(by_hand[1], rel=1e-4)
    assert text.tokens == len(ids) - 1


def test_a_whole_model_agrees_with_itself() -> None:
    """Catches a comparison that finds differences in nothing."""
    target = models.tiny("llama")
    ids = list(models.prompts(1)[0].ids)
    text = compared("en", "p", ids, *(ablation.logits(target, ids[:-1], ablation.LastLayers(0)) for _ in range(2)))
    assert set(text.agreeing) == {"1"}
    assert text.loss == text.ablated_loss


def test_too_little_text_is_refused_with_its_count() -> None:
    """Catches a perplexity of a handful of tokens, and one language whose text counts for another."""
    asked = spec(languages=["en", "ru"])
    texts = [("en", prompt(f"en-{n}"), list(range(201))) for n in range(10)] + [("ru", prompt("ru-1"), list(range(201)))]
    with pytest.raises(Unmeasurable, match=r"200 tokens in ru.* needs 2000"):
        check_size(texts, asked)
    check_size(texts[:10], spec())


def test_a_draft_costs_the_layers_that_are_left() -> None:
    """Catches the share that is left out in the place of the one that is run."""
    assert draft_share(models.tiny("llama"), spec(2)) == pytest.approx(4 / 6)
