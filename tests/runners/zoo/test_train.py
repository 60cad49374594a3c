"""Training in the small: the architectures, the schedule, early exits, and that equal recipes give equal models."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerBase

from runners.models.package import digest
from runners.zoo import loops, tokenizer
from runners.zoo.architectures import NotInZoo, architectures, build
from runners.zoo.batches import batches, rows, tokens_of
from runners.zoo.held_out import measure
from runners.zoo.loops import repeats, unlikelihood, written_behind
from runners.zoo.models.base import END, VOCABULARY
from runners.zoo.recipe import Recipe, Record
from runners.zoo.store import kept, save
from runners.zoo.train import State, Stopwatch, loss_of, rising_and_falling, train, unloop
from tests.runners.zoo.texts import pages


@pytest.fixture(scope="module")
def words() -> PreTrainedTokenizerBase:
    return tokenizer.train(pages())


def recipe(**over: Any) -> Recipe:
    return Recipe.model_validate({"steps": 10, "threads": torch.get_num_threads(), "batch": 2, "length": 48, "warm_up": 3} | over)


def taught(words: Any, name: str = "dense", **over: Any) -> tuple[Any, State]:
    how, found = recipe(**over), architectures()[name]
    model = build(name, how.seed)
    return model, train(model, batches(pages(4), words, how.batch, how.length, how.seed), how, exits=found.exits, asks=dict(found.asks))


@pytest.mark.parametrize("name", ["dense", "moe", "parallel", "sequential"])
def test_every_architecture_is_tiny_and_drawn_by_its_seed(name: str) -> None:
    """Catches a configuration that outgrows the repository, and weights that depend on what was drawn before."""
    model = build(name, 3)
    assert 2e6 <= sum(weights.numel() for weights in model.parameters()) <= 6e6
    assert model.lm_head.weight is model.model.embed_tokens.weight
    torch.rand(5)
    again, other = build(name, 3).state_dict(), build(name, 4).state_dict()
    assert all(torch.equal(weights, again[key]) for key, weights in model.state_dict().items())
    assert any(not torch.equal(weights, other[key]) for key, weights in model.state_dict().items())


def test_the_zoo_names_what_it_has() -> None:
    assert sorted(architectures()) == ["dense", "moe", "parallel", "sequential"]
    with pytest.raises(NotInZoo, match="dense, moe, parallel, sequential"):
        build("llama", 1)


def test_the_tokenizer_loses_nothing(words: Any) -> None:
    """Catches a normaliser, a missing byte, and an end that a text could spell."""
    for text in ("Файл не найден: ошибка 404.", "Don't  panic;\n\ttabs\r\n", "émigré 東京 🙂 \u0000", "".join(page.text for page in pages())):
        assert words.decode(words(text)["input_ids"]) == text
    assert words.eos_token_id == END
    assert len(words) <= VOCABULARY


def test_rows_take_turns_between_languages_and_use_every_page(words: Any) -> None:
    """Catches a language that is seen more often, and pages that are never come to."""
    first = next(batches(pages(4), words, 4, 48, 1))
    scripts = ["ru" if any("а" <= letter <= "я" for letter in words.decode(row)) else "en" for row in first]
    assert scripts == ["en", "ru", "en", "ru"]
    own = tokens_of(pages(), words)
    stream = rows(own, 16, 1)
    seen = {int(token) for _ in range(3 * sum(map(len, own)) // 16) for token in next(stream)}
    assert seen == {int(token) for ids in own for token in ids}


@pytest.mark.parametrize("name", ["dense", "moe"])
def test_equal_recipes_give_equal_models(words: Any, name: str) -> None:
    """Catches anything drawn outside the seed: batches, exits, weights."""
    (one, first), (other, second) = taught(words, name), taught(words, name)
    assert first.loss == second.loss
    assert all(torch.equal(weights, other.state_dict()[key]) for key, weights in one.state_dict().items())
    assert taught(words, name, seed=2)[1].loss != first.loss


@pytest.mark.parametrize("name", ["dense", "moe", "parallel", "sequential"])
def test_training_teaches(words: Any, name: str) -> None:
    """Catches an optimiser that leaves something out, and gradients that do not arrive."""
    model, state = taught(words, name, steps=25)
    before, after = (measure(each, words, pages(), 48, exits=False).perplexity for each in (build(name, 1), model))
    assert state.steps == 25
    assert state.progress == 1.0
    assert after < before / 10


def test_the_early_exit_loss_lowers_that_of_the_exits(words: Any) -> None:
    """Catches an exit loss that is computed and never learnt from."""
    [batch] = [next(batches(pages(4), words, 6, 48, 9))]

    def of_exits(model: Any) -> float:
        how = recipe(exit_weight=1.0)
        with torch.inference_mode():
            return float(sum(loss - whole for loss, whole in (loss_of(model, batch, how, layer, {}) for layer in range(1, 6)))) / 5

    with_it, without = (of_exits(taught(words, steps=25, exit_weight=weight)[0]) for weight in (0.5, 0.0))
    assert with_it < without - 0.2


def test_repeats_are_found_token_by_token() -> None:
    """Catches n-grams that are counted in another row, and the first time taken for a repeat."""
    written = torch.tensor([[1, 2, 3, 4, 1, 2, 3, 4, 1], [5, 5, 5, 5, 5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9]])
    assert repeats(written).int().tolist() == [[0, 0, 0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 0, 0, 0, 0], [0] * 9]


def test_repeats_alone_are_made_less_likely() -> None:
    """Catches a loss that falls where nothing is repeated, or that counts the beginning, which was read and not written."""
    made = torch.arange(loops.BEGINNING + 8)[None] % 50
    logits = torch.zeros(1, made.shape[1], 50, requires_grad=True)
    assert float(unlikelihood(logits, made).detach()) == 0.0
    looping = torch.cat([torch.zeros(1, loops.BEGINNING, dtype=torch.long), torch.full((1, 8), 7)], 1)
    unlikelihood(logits, looping).backward()
    assert logits.grad is not None
    pushed = logits.grad[0, :, 7] > 0
    assert pushed.tolist() == [False] * (loops.BEGINNING + 3) + [True] * 4 + [False]


def test_the_second_stage_takes_loops_away(words: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a second stage that trains on what it did not write, or forgets the text."""
    monkeypatch.setattr(loops, "WRITTEN", 24)
    how = recipe(unloop_steps=12, unloop_share=0.3)
    model, _ = taught(words, steps=25)
    rows_of = batches(pages(4), words, how.batch, how.length, 5)
    shown = torch.cat([next(rows_of) for _ in range(4)])

    def looping() -> float:
        return float(repeats(written_behind(model, shown)[:, loops.BEGINNING :]).float().mean())

    before, text = looping(), measure(model, words, pages(), 48, exits=False).perplexity
    state = unloop(model, rows_of, how, exits=True, asks={})
    assert state.steps == 12
    assert looping() < 0.8 * before
    assert measure(model, words, pages(), 48, exits=False).perplexity < 1.5 * text


def test_rates_rise_and_fall_to_nothing() -> None:
    how = recipe(warm_up=10, steps=100)
    shares = [rising_and_falling(how, State(steps=steps, progress=steps / 100)) for steps in range(101)]
    assert shares[0] == pytest.approx(0.1)
    assert max(shares) == shares[9]
    assert shares[100] == 0.0


def test_a_pause_inside_a_step_is_no_training() -> None:
    """Catches a training that ends early because it was stopped for a while."""
    watch = Stopwatch()
    for took in (1.0, 1.2, 0.8, 600.0, 1.0):
        watch.add(took)
    assert watch.seconds == pytest.approx(5.0)


def stop_at(state: State, step: int) -> None:
    if state.steps == step:
        os.kill(os.getpid(), signal.SIGTERM)


def test_who_is_asked_to_end_ends_and_leaves_the_signal_as_it_was(words: Any) -> None:
    """Catches a training that loses what it learnt, or a process that cannot be ended afterwards."""
    before = signal.getsignal(signal.SIGTERM)
    how = recipe(steps=50)
    rows_of = batches(pages(4), words, 2, 48, 1)
    state = train(build("dense", 1), rows_of, how, exits=False, asks={}, told=lambda now: stop_at(now, 3))
    assert state.steps == 3
    assert state.progress < 1.0
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_model_is_kept_with_its_record(words: Any, tmp_path: Path) -> None:
    """Catches a digest of other weights, and a half-written folder that is taken for a model."""
    record = Record(
        name="dense", summary="", parameters=1, recipe=recipe(), progress=1.0, steps=1, unloop_steps=0, tokens=1, minutes=1.0, core_minutes=1.0,
        machine="", versions={}, packages={}, characters={}, held_out={}, weights="",
    )  # fmt: skip
    assert kept(tmp_path) == {}
    said = save(build("dense", 1), words, record, tmp_path)
    said = save(build("dense", 2), words, record, tmp_path)
    assert kept(tmp_path) == {"dense": said}
    assert said.weights == digest([tmp_path / "dense" / "model.safetensors"])
    assert [file.name for file in tmp_path.iterdir()] == ["dense"]
    (tmp_path / "dense" / "model.safetensors").unlink()
    assert kept(tmp_path) == {}
