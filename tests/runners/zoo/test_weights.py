"""The weights that Bezmen brings along: they are those of their records, they know both languages, and the engine decodes with them."""

import json
import re
from pathlib import Path

import pytest
import torch

from app.domain.spec import ModelSource
from runners.engine.families import check_family
from runners.engine.sequence import Request
from runners.engine.stops import StopRules
from runners.engine.targets import target_of
from runners.models.allowlist import Allowlist, ModelRefused
from runners.models.load import config_of, load_tokenizer, load_weights, locate_model
from runners.models.named import source_of
from runners.models.package import digest
from runners.workloads.tokenizers import identify
from runners.zoo.architectures import architectures
from runners.zoo.held_out import measure
from runners.zoo.models.base import VOCABULARY
from runners.zoo.store import ROOT, kept
from tests import models
from tests.runners.zoo.texts import pages

RECORDS = kept()
CPU = torch.device("cpu")
ALLOWED = Allowlist.installed()


def test_the_zoo_is_there_and_every_runner_offers_it() -> None:
    """Catches weights that were left out of the package."""
    assert "dense" in RECORDS
    assert [(offered.name, offered.tokenizer, offered.chat_template) for offered in ALLOWED.offers() if offered.source == "zoo"] == [
        (name, f"zoo:{name}", False) for name in RECORDS
    ]


@pytest.mark.parametrize("name", RECORDS)
def test_weights_are_those_of_the_record(name: str) -> None:
    """Catches weights that were trained anew without their record, and a file too large for a repository."""
    record = RECORDS[name]
    file = ROOT / name / "model.safetensors"
    assert digest([file]) == record.weights
    assert file.stat().st_size < 13e6
    assert record.name == name
    assert record.summary == architectures()[name].summary
    assert set(record.held_out) == set(record.answers) == {"en", "ru"}
    assert 0 < record.core_minutes <= 2 * 40


@pytest.mark.parametrize("name", RECORDS)
def test_the_model_is_what_its_architecture_says(name: str) -> None:
    """Catches a configuration that was changed under trained weights."""
    own = config_of(locate_model(source_of(f"zoo:{name}"), ALLOWED, Path()))
    made = architectures()[name].config().to_dict()
    kept_apart = {"architectures", "dtype", "transformers_version"}  # what saving adds
    assert {key for key in own.keys() & made.keys() - kept_apart if own[key] != json.loads(json.dumps(made[key]))} <= {"time_step_limit"}


@pytest.mark.parametrize("name", RECORDS)
def test_the_model_knows_both_languages(name: str) -> None:
    """Catches weights that are loaded wrongly, or that half of the text never reached: guessing blindly gives 6144."""
    found = locate_model(source_of(f"zoo:{name}"), ALLOWED, Path())
    model, words = load_weights(found, torch.float32, CPU), load_tokenizer(found)
    for language in ("en", "ru"):
        own = [page for page in pages() if page.language == language]
        assert measure(model, words, own, 128, exits=False).perplexity < VOCABULARY / 10


@pytest.mark.parametrize("readme", ["README.md", "README.ru.md"])
def test_the_readme_says_what_the_records_say(readme: str) -> None:
    """Catches numbers of weights that were since trained anew."""
    told = dict(re.findall(r"^\| `zoo:(\w+)` \|.*?\| ([^|]*; [^|]* \| [^|]* \| [^|]*) \|$", (ROOT.parents[2] / readme).read_text(), re.MULTILINE))
    assert set(told) == set(RECORDS)
    for name, record in RECORDS.items():
        english, russian = record.held_out["en"], record.held_out["ru"]
        numbers = f"{english.perplexity:.0f}; {russian.perplexity:.0f} | {english.bits_per_character:.2f}; {russian.bits_per_character:.2f}"
        looping = f"{record.answers['en'].looping}; {record.answers['ru'].looping}"
        assert told[name].replace(",", ".") == f"{numbers} | {looping}"


def test_the_tokenizer_is_one_and_fair() -> None:
    """Catches a model with a tokenizer of its own, text that is not given back, and a language that pays more tokens for its letters."""
    found = [locate_model(source_of(f"zoo:{name}"), ALLOWED, Path()) for name in RECORDS]
    assert {identify(load_tokenizer(each), each.name).fingerprint for each in found} == {identify(load_tokenizer(found[0]), "any").fingerprint}
    words = load_tokenizer(found[0])
    assert len(words) == VOCABULARY
    shares = {}
    for language in ("en", "ru"):
        text = "\n".join(page.text for page in pages() if page.language == language)
        assert words.decode(words(text)["input_ids"]) == text
        shares[language] = len(text) / len(words(text)["input_ids"])
    assert 0.7 < shares["ru"] / shares["en"] < 1.4


def test_a_model_outside_the_zoo_is_refused() -> None:
    """Catches a name that leads out of the folder."""
    for name in ("none", "dense.."):
        with pytest.raises(ModelRefused, match="allowlist"):
            locate_model(ModelSource(source="zoo", package=name), ALLOWED, Path())


@pytest.mark.parametrize("name", RECORDS)
def test_the_engine_decodes_as_the_library_does(name: str) -> None:
    """Catches a model that runs over the slot cache and says something else: token for token, ragged with refill, in float32."""
    found = locate_model(source_of(f"zoo:{name}"), ALLOWED, Path())
    check_family(config_of(found))
    model, words = load_weights(found, torch.float32, CPU), load_tokenizer(found)
    texts = [page.text[:length] for page, length in zip(pages(), (20, 90, 55, 30, 75, 110), strict=True)]
    requests = [Request(f"p{number}", tuple(words(text)["input_ids"])) for number, text in enumerate(texts)]
    eos = frozenset({int(words.eos_token_id)})
    done = models.by_prompt(models.plain_loop(target_of(model, slots=3, context=256, eos=eos), StopRules(48, eos)).run(requests, 3))
    for request in requests:
        ids = torch.tensor([request.ids])
        wanted = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=48, do_sample=False, pad_token_id=words.eos_token_id)
        assert list(done[request.prompt].output) == wanted[0, ids.shape[1] :].tolist()
