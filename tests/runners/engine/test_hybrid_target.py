"""Hybrids over slots: the library's own answers, and recurrent states that rejected drafts, padding and neighbours leave alone."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from runners.engine.draft import Batch, Draft
from runners.engine.families import UnsupportedModel
from runners.engine.hybrid_target import HybridTarget
from runners.engine.recurrence import Snapshots, Stream
from runners.engine.stops import StopRules
from runners.engine.targets import target_of
from runners.engine.transformers_target import TransformersTarget
from runners.models.load import Located, cache_entry_bytes, state_bytes
from runners.protocol.preflight import check_recurrence
from runners.protocol.unmeasurable import Unmeasurable
from tests.hybrids import HYBRIDS, hybrid, hybrid_model
from tests.models import by_prompt, counts, loop_of, own_logits, plain_loop, prompts, spec, tiny_model

LIMIT = 30


@pytest.fixture(params=HYBRIDS)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def generated(model: Any, ids: tuple[int, ...], limit: int) -> list[int]:
    with torch.inference_mode():
        found = model.generate(
            torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), max_new_tokens=limit, do_sample=False,
            eos_token_id=None, pad_token_id=0,
        )  # fmt: skip
    answer: list[int] = found[0, len(ids) :].tolist()
    return answer


@pytest.mark.parametrize("drafter", ["none", "ngram", "draft-model", "component", "layerskip"])
def test_greedy_text_is_the_librarys(family: str, drafter: str) -> None:
    """Catches mixers wired, fed or rolled back otherwise than the library does: five requests over three slots with refill, ragged drafts."""
    params = {"layerskip": {"exit_layer": 1}, "none": {}}.get(drafter)
    controls: dict[str, Any] = {"controller": "window"} if drafter == "component" else {"length": 3}
    loop = loop_of(hybrid(family, slots=3), spec(drafter, params, **controls), StopRules(LIMIT))
    model = hybrid_model(family)
    done = loop.run(prompts(5), 3)
    for sequence in done:
        assert sequence.output == generated(model, sequence.request.ids, LIMIT)
    assert max(len(set(s.output)) for s in done) > 12, "texts of few tokens hide what is wrong"
    if drafter not in {"none", "draft-model"}:
        assert 0 < sum(s.verified for s in done) < sum(s.drafted for s in done), "drafts of one fate roll nothing back, or always everything"


def test_ragged_verify_equals_full_forwards(family: str) -> None:
    """Catches padding that goes through a row's mixers for good: drafts of 0, 2 and 4 tokens in one forward, of which some are kept, and so again."""
    target, model = hybrid(family), hybrid_model(family)
    texts = [list(range(1, 8)), list(range(3, 26)), [(7 * i) % 90 for i in range(61)]]
    for slot, text in enumerate(texts):
        target.prefill(slot, text[:-1])
    for drafts, kept in ((([], [5, 9], [11, 3, 60, 2]), (0, 1, 4)), (([8, 1, 1], [2], []), (2, 1, 0)), (([3], [4], [5]), (1, 0, 1))):
        logits = target.verify(Batch((0, 1, 2), tuple(texts)), Draft.from_lists([list(d) for d in drafts], target.device))
        for row, (text, draft, keep) in enumerate(zip(texts, drafts, kept, strict=True)):
            expected = own_logits(model, [*text, *draft])[len(text) - 1 :]
            assert (logits[row, : len(draft) + 1] - expected).abs().max() < 1e-4
            text.extend([*draft[:keep], 70 + row])


def held(target: HybridTarget, slot: int, ids: list[int]) -> list[Tensor]:
    """Windows and states of a slot behind all of a text but its last token."""
    stream = target.snapshots.behind(Batch((slot,), (ids,)), target._replay)
    return [*stream.windows.values(), *stream.states.values()]


@pytest.mark.parametrize("drafter", ["component", "ngram"])
def test_states_after_any_rounds_are_a_fresh_prefills(family: str, drafter: str) -> None:
    """Catches what a rejected draft leaves in a state, and a replay that starts or ends at the wrong token, slot by slot after a whole batch."""
    target = hybrid(family, slots=3)
    loop = loop_of(target, spec(drafter, length=4), StopRules(25))
    for sequence in loop.run(prompts(3), 3):
        fresh = hybrid(family, slots=1)
        fresh.prefill(0, sequence.ids[:-1])
        for ours, theirs in zip(held(target, sequence.slot, sequence.ids), held(fresh, 0, sequence.ids), strict=True):
            assert (ours - theirs).abs().max() < 1e-4 * theirs.abs().max()
            assert theirs.abs().max() > 1e-3, "an empty state hides what is wrong"


class Unrestored(Snapshots):
    """Keeps what the whole verification left, drafts that were rejected included."""

    def _replay(self, kept: int, rows: Any, replay: Any) -> None:
        for slot, fed in rows:
            self._put([slot], fed.stream, [fed.row])


class Unreplayed(Snapshots):
    """Goes back to the snapshot and leaves the kept tokens out."""

    def _replay(self, kept: int, rows: Any, replay: Any) -> None:
        pass


class OneTooMany(Snapshots):
    """Replays one token more than was kept, where it was fed."""

    def _replay(self, kept: int, rows: Any, replay: Any) -> None:
        super()._replay(kept + 1 if all(len(fed.tokens) > kept for _, fed in rows) else kept, rows, replay)


class Shared(Snapshots):
    """Drafts on the slots' own states instead of a copy."""

    def _take(self, slots: Any) -> Stream:
        rows = slice(slots[0], slots[0] + 1)
        return Stream(*({layer: each[rows] for layer, each in held.items()} for held in (self._windows, self._states)))


class Padded(Snapshots):
    """Takes what padding left for what the row's own tokens left."""

    def feed(self, batch: Batch, tokens: Tensor, lengths: Any, stream: Stream) -> None:
        super().feed(batch, tokens, lengths, stream)
        self._fed |= {slot: replace(fed, whole=True) for slot, fed in self._fed.items()}


BROKEN = [(Unrestored, "ngram", 1), (Unreplayed, "ngram", 1), (OneTooMany, "ngram", 1), (Shared, "component", 1), (Padded, "ngram", 3)]


@pytest.mark.parametrize(("broken", "drafter", "slots"), BROKEN)
def test_broken_rollbacks_are_seen(family: str, broken: type[Snapshots], drafter: str, slots: int) -> None:
    """The control of the tests above: without the restore the text is another one. Each of these must fail where the right one passes."""
    model = hybrid_model(family)
    target = hybrid(family, slots=slots)
    target.snapshots = broken(target.wiring.shapes(), slots, target.device)
    done = loop_of(target, spec(drafter, length=4), StopRules(LIMIT)).run(prompts(4), slots)
    assert any(s.output != generated(model, s.request.ids, LIMIT) for s in done)


def test_a_batch_counts_as_its_rows_alone(family: str) -> None:
    """Catches neighbours in a slot's state: six requests over three slots count as six runs alone do."""
    rules = StopRules(20)
    together = by_prompt(loop_of(hybrid(family, slots=3), spec("ngram"), rules).run(prompts(6), 3))
    for request in prompts(6):
        alone = loop_of(hybrid(family, slots=1), spec("ngram"), rules).run([request], 1)[0]
        assert counts(together[request.prompt]) == counts(alone), request.prompt


def test_chunks_change_nothing(family: str) -> None:
    """Catches a text that depends on how the library cuts it: a prompt past a chunk, and drafts far below one."""
    target, model = hybrid(family), hybrid_model(family)
    text = [(11 * i + 5) % 90 for i in range(150)]
    logits = target.prefill(0, text)
    assert logits is not None
    assert (logits - own_logits(model, text)[-1]).abs().max() < 1e-4


def test_a_slot_used_for_another_text_is_refused(family: str) -> None:
    """Catches states that are silently another text's: a token that was never fed, a text cut short, a slot whose text was scored away."""
    target = hybrid(family)
    text = [5, 9, 2, 7]
    target.prefill(0, text)
    for wrong in ([*text, 1, 2], [*text[:2]]):
        with pytest.raises(ValueError, match="another text"):
            target.verify(Batch((0,), (wrong,)), Draft.empty(1, target.device))
    target.verify(Batch((0,), ([*text, 1],)), Draft.from_lists([[4, 4]], target.device))
    with pytest.raises(ValueError, match="another text"):
        target.verify(Batch((0,), ([*text, 1, 3, 8],)), Draft.empty(1, target.device))
    target.prefill(0, text)
    target.scores(text, target.layers)
    with pytest.raises(ValueError, match="another text"):
        target.verify(Batch((0,), ([*text, 1],)), Draft.empty(1, target.device))


def test_the_same_text_may_be_verified_again(family: str) -> None:
    """Catches a verification that changes the slot by itself: its tokens are the text's when the text says so, and not before."""
    target = hybrid(family)
    text = [5, 9, 2, 7, 1]
    target.prefill(0, text[:-1])
    once = target.verify(Batch((0,), (text,)), Draft.from_lists([[4, 6]], target.device))
    again = target.verify(Batch((0,), (text,)), Draft.from_lists([[4, 6]], target.device))
    assert torch.equal(once, again)


def test_layer_passes_count_what_was_run(family: str) -> None:
    """Catches replays that nobody is charged for, and drafts charged as if attention had run."""
    target = hybrid(family, slots=1)
    ran: dict[str, int] = {}

    def count(name: str) -> Callable[..., None]:
        def hook(_: Any, arguments: tuple[Any, ...], named: dict[str, Any], __: Any) -> None:
            hidden = named.get("hidden_states", arguments[0] if arguments else None)
            ran[name] = ran.get(name, 0) + hidden.shape[0] * hidden.shape[1]

        return hook

    for layer in target.stack.layers:
        for name in ("self_attn", "mamba", "linear_attn", "mlp", "feed_forward"):
            if hasattr(layer, name):
                getattr(layer, name).register_forward_hook(count(name), with_kwargs=True)
    sequence = loop_of(target, spec("component", length=3), StopRules(30)).run(prompts(1), 1)[0]
    passes, blocks = sequence.passes, 3 if family == "falcon_h1" else 2
    assert passes.replayed > 0
    assert sum(ran.values()) == blocks * (passes.prefill + passes.verify + passes.parts + passes.replayed)
    assert (passes.drafted, passes.verified) == (-(-passes.parts // 1), passes.verify - (-passes.replayed // 1))


def test_plain_decoding_replays_nothing(family: str) -> None:
    """Catches a plain arm that is made slow: its every token is kept."""
    target = hybrid(family, slots=2)
    done = plain_loop(target, StopRules(12)).run(prompts(3), 2)
    assert all(s.passes.replayed == 0 and s.passes.verified == target.layers * s.undrafted for s in done)


def test_a_model_gets_the_target_that_holds_its_states(family: str) -> None:
    """Catches a hybrid that is run as if it had no states, and a dense model that is denied what only it can do."""
    where: dict[str, Any] = {"slots": 1, "context": 32, "eos": frozenset()}
    assert isinstance(target_of(hybrid_model(family), **where), HybridTarget)
    assert isinstance(target_of(tiny_model("llama"), **where), TransformersTarget)


def test_what_runs_over_a_cache_alone_refuses_a_hybrid(family: str) -> None:
    """Catches a hybrid without its states, which would run and be wrong."""
    with pytest.raises(UnsupportedModel, match="recurrent state"):
        TransformersTarget(hybrid_model(family), slots=1, context=32, eos=frozenset())


def test_a_folder_tells_what_its_hybrid_needs(family: str, tmp_path: Path) -> None:
    """Catches an estimate of memory that is not what states and keys take, and compiled forwards that would leave the states out."""
    target = hybrid(family, slots=3)
    target.model.save_pretrained(tmp_path)
    located = Located(tmp_path, family, None, None, None)
    assert state_bytes(located) * 3 == 3 * target.snapshots.bytes()
    assert cache_entry_bytes(located, torch.float32) * 3 * target.cache.context == target.cache.bytes()
    check_recurrence(spec("ngram"), located)
    with pytest.raises(Unmeasurable, match="leave compile out"):
        check_recurrence(spec("ngram").model_copy(update={"compile": True}), located)
