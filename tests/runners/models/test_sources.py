"""Models from a hub cache, from folders and from GGUF files: found by what was allowed, told apart by revision or digest, refused in sentences."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf import GGUFWriter
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from app.domain.spec import ModelSource
from runners.engine.families import UnsupportedModel
from runners.models.allowlist import Allowlist, ModelRefused
from runners.models.hub import NoSuchModel, download
from runners.models.load import load_tokenizer, load_weights, locate_model
from runners.models.package import NoWeights, digest
from tests.models import tiny_model
from tests.runners.models.test_package import install

REVISION, OTHER = "a" * 40, "b" * 40
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """What HF_HUB_OFFLINE=1 sets, which the library reads once, when it is imported."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def save(folder: Path) -> Path:
    """A whole tiny model with a tokenizer."""
    tiny_model("llama").save_pretrained(folder)
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(97)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, eos_token="w1").save_pretrained(folder)
    return folder


def hub_cache(cache: Path, repository: str, revision: str, source: Path) -> Path:
    """A snapshot as huggingface_hub lays it out: names that link to blobs."""
    root = cache / "hub" / f"models--{repository.replace('/', '--')}"
    snapshot = root / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (root / "blobs").mkdir(exist_ok=True)
    for file in source.iterdir():
        blob = root / "blobs" / digest([file])
        blob.write_bytes(file.read_bytes())
        (snapshot / file.name).symlink_to(f"../../blobs/{blob.name}")
    return snapshot


def hub(**over: Any) -> ModelSource:
    return ModelSource.model_validate({"source": "hub", "repository": "org/tiny", "revision": REVISION} | over)


ALLOWED = Allowlist(hub=(f"org/tiny@{REVISION}",))


def write_gguf(file: Path, architecture: str = "llama", experts: int = 0) -> Path:
    """The head of a GGUF file with one tensor, as much as a refusal needs."""
    writer = GGUFWriter(str(file), architecture)
    if experts:
        writer.add_expert_count(experts)
    writer.add_tensor("token_embd.weight", torch.zeros(32, 32).numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def test_a_cached_snapshot_is_found_without_a_network(tmp_path: Path) -> None:
    """Catches a passport without the revision that was run, and a cache that cannot be used offline."""
    cache = tmp_path / "cache"
    hub_cache(cache, "org/tiny", REVISION, save(tmp_path / "made"))
    found = locate_model(hub(), ALLOWED, cache)
    assert (found.name, found.revision, found.quantisation) == ("org/tiny", REVISION, None)
    assert found.weights_digest == digest([tmp_path / "made" / "model.safetensors"])
    model = load_weights(found, torch.float32, CPU)
    assert torch.equal(model.lm_head.weight, tiny_model("llama").lm_head.weight)
    assert load_tokenizer(found)("w5 w7")["input_ids"] == [5, 7]


def test_another_revision_of_a_cached_repository_is_not_used(tmp_path: Path) -> None:
    """Catches a snapshot of yesterday that stands in for the one asked for."""
    hub_cache(tmp_path, "org/tiny", OTHER, save(tmp_path / "made"))
    with pytest.raises(NoSuchModel, match="cannot be reached"):
        locate_model(hub(), ALLOWED, tmp_path)


@pytest.mark.parametrize("revision", ["main", "a" * 12, None])
def test_a_revision_that_may_move_is_refused(tmp_path: Path, revision: str | None) -> None:
    """Catches a name under which other weights may lie tomorrow, also where someone has allowed it."""
    with pytest.raises(ModelRefused, match=f"{REVISION}"):
        locate_model(hub(revision=revision), ALLOWED, tmp_path)
    with pytest.raises(NoSuchModel, match="full revision"):
        download("org/tiny", str(revision), None, tmp_path)


def test_a_gguf_file_of_a_hub_repository_is_named(tmp_path: Path) -> None:
    """Catches a file whose blob has no suffix, and a missing one."""
    made = tmp_path / "made"
    made.mkdir()
    write_gguf(made / "tiny.gguf", "gpt2")
    hub_cache(tmp_path, "org/tiny", REVISION, made)
    with pytest.raises(UnsupportedModel, match="absolute positions"):
        locate_model(hub(file="tiny.gguf"), ALLOWED, tmp_path)
    with pytest.raises(NoSuchModel, match=r"no other\.gguf"):
        locate_model(hub(file="other.gguf"), ALLOWED, tmp_path)


def test_pickled_weights_are_never_read(tmp_path: Path) -> None:
    """Catches weights that run code: a folder with a pickle alone is refused, and so is a pickle by name."""
    folder = save(tmp_path / "pickled")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    allowed = Allowlist(roots=(tmp_path,))
    with pytest.raises(NoSuchModel, match="safetensors"):
        locate_model(ModelSource(source="path", path=str(folder)), allowed, tmp_path / "cache")
    with pytest.raises(NoSuchModel, match="GGUF"):
        locate_model(ModelSource(source="path", path=str(folder), file="pytorch_model.bin"), allowed, tmp_path / "cache")


def test_a_checkpoint_that_lacks_weights_is_refused(tmp_path: Path) -> None:
    """Catches random weights in place of missing ones: such a model runs, and its figures look like any others."""
    folder = save(tmp_path / "holed")
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.3.mlp.down_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    found = locate_model(ModelSource(source="path", path=str(folder)), Allowlist(roots=(tmp_path,)), tmp_path / "cache")
    with pytest.raises(NoSuchModel, match=r"layers\.3\.mlp\.down_proj"):
        load_weights(found, torch.float32, CPU)


def test_tied_weights_are_not_missing(tmp_path: Path) -> None:
    """Catches a whole model that is refused because its head is its embedding."""
    model = tiny_model("gemma3")
    model.save_pretrained(tmp_path / "tied")
    found = locate_model(ModelSource(source="path", path=str(tmp_path / "tied")), Allowlist(roots=(tmp_path,)), tmp_path / "cache")
    assert torch.equal(load_weights(found, torch.float32, CPU).lm_head.weight, model.lm_head.weight)


def test_links_do_not_lead_out_of_the_roots(tmp_path: Path) -> None:
    """Catches a folder, a weights file and a GGUF file that are links to where nobody allowed anything to be read."""
    root, secret = tmp_path / "models", save(tmp_path / "secret")
    root.mkdir()
    allowed, cache = Allowlist(roots=(root,)), tmp_path / "cache"
    (root / "folder").symlink_to(secret)
    with pytest.raises(ModelRefused, match="allowlist"):
        locate_model(ModelSource(source="path", path=str(root / "folder")), allowed, cache)
    save(root / "weights")
    (root / "weights" / "model.safetensors").unlink()
    (root / "weights" / "model.safetensors").symlink_to(secret / "model.safetensors")
    with pytest.raises(ModelRefused, match=r"model\.safetensors in weights leads outside"):
        locate_model(ModelSource(source="path", path=str(root / "weights")), allowed, cache)
    (root / "gguf").mkdir()
    (root / "gguf" / "m.gguf").symlink_to(write_gguf(secret / "m.gguf"))
    with pytest.raises(ModelRefused, match="leads outside"):
        locate_model(ModelSource(source="path", path=str(root / "gguf"), file="m.gguf"), allowed, cache)
    assert [(m.name, m.file) for m in allowed.offers()] == [(str(root / "weights"), None)]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    """Catches a traceback in place of a sentence."""
    allowed = Allowlist(roots=(tmp_path,))
    with pytest.raises(NoSuchModel, match="no folder"):
        locate_model(ModelSource(source="path", path=str(tmp_path / "gone")), allowed, tmp_path / "cache")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoSuchModel, match="name a GGUF file"):
        locate_model(ModelSource(source="path", path=str(tmp_path / "empty")), allowed, tmp_path / "cache")
    with pytest.raises(NoSuchModel, match=r"no m\.gguf"):
        locate_model(ModelSource(source="path", path=str(tmp_path / "empty"), file="m.gguf"), allowed, tmp_path / "cache")
    (tmp_path / "empty" / "m.gguf").write_bytes(b"not GGUF at all")
    with pytest.raises(NoWeights, match="not a GGUF file"):
        locate_model(ModelSource(source="path", path=str(tmp_path / "empty"), file="m.gguf"), allowed, tmp_path / "cache")


@pytest.mark.parametrize(
    ("architecture", "experts", "reason"), [("gpt2", 0, "absolute positions"), ("llama", 8, "experts"), ("mamba", 0, "recurrent")]
)
def test_a_gguf_family_is_refused_before_it_is_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, architecture: str, experts: int, reason: str
) -> None:
    """Catches minutes of conversion before a refusal, and a mixture of experts that calls itself a Llama; in a folder and in a package alike."""
    folder = tmp_path / "models"
    folder.mkdir()
    file = write_gguf(folder / "m.gguf", architecture, experts)
    cache = tmp_path / "cache"
    with pytest.raises(UnsupportedModel, match=reason):
        locate_model(ModelSource(source="path", path=str(folder), file="m.gguf"), Allowlist(roots=(folder,)), cache)
    site = tmp_path / "site"
    site.mkdir()
    install(site, "tiny-weights", {"m.gguf": file.read_bytes()})
    monkeypatch.syspath_prepend(str(site))
    with pytest.raises(UnsupportedModel, match=reason):
        locate_model(ModelSource(source="package", package="tiny-weights"), Allowlist(packages=("tiny-weights",)), cache)
    assert not cache.exists()


def test_the_offer_lists_what_can_be_named(tmp_path: Path) -> None:
    """Catches a GGUF file nobody can choose, a folder of settings offered as a model, and a hub model offered without its revision."""
    save(tmp_path / "whole")
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "config.json").write_text(json.dumps({"model_type": "llama"}))
    write_gguf(tmp_path / "settings" / "q4.gguf")
    offered = Allowlist(roots=(tmp_path,), hub=(f"org/tiny@{REVISION}",)).offers()
    assert {(m.source, m.name, m.file, m.revision) for m in offered} == {
        ("hub", "org/tiny", None, REVISION), ("path", str(tmp_path / "whole"), None, None), ("path", str(tmp_path / "settings"), "q4.gguf", None),
    }  # fmt: skip
    assert {m.tokenizer for m in offered if m.source == "hub"} == {"org/tiny"}
