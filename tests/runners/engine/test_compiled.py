"""Compiled forwards against eager ones. All but the tests of the compiler itself leave the passes as they are: padding is the same."""

from typing import Any

import pytest
import torch

from runners.engine import compiler
from runners.engine.compiled import LEAST_FULL, CompiledTarget
from runners.engine.draft import Batch, Draft
from runners.engine.loop import Loop
from runners.engine.stops import StopRules
from runners.engine.target import Stretch
from runners.engine.transformers_target import TransformersTarget
from runners.protocol.preflight import check_compiler
from runners.protocol.unmeasurable import Unmeasurable
from tests.models import FAMILIES, by_prompt, counts, loop_of, own_logits, plain_loop, prompts, spec, tiny_model

LONGEST = 4
LAYERSKIP = {"exit_layer": 2}


def as_it_is(run: Any, example: Any, _: bool) -> Any:
    """In place of the compiler, with its shapes nailed down as a compiled pass has them."""
    shapes: list[Any] = []

    def fixed(*given: torch.Tensor) -> torch.Tensor:
        found = [tuple(each.shape) for each in given]
        assert found == (shapes or found)
        return run(*given)

    example(lambda *given: shapes.extend(tuple(each.shape) for each in given) or run(*given))
    return fixed


def compiled(family: str, *, slots: int = 4, rows: tuple[int, ...] | None = None, build: Any = as_it_is, kind: Any = CompiledTarget) -> Any:
    target = kind(tiny_model(family), slots=slots, context=256, eos=frozenset(), rows=rows, build=build)
    layers = target.layers
    target.compile({Stretch(0, layers, 1), Stretch(0, layers, LONGEST + 1), Stretch(0, 2, 1), Stretch(2, layers, LONGEST + 1)})
    return target


def eager(family: str, slots: int = 4) -> Any:
    return TransformersTarget(tiny_model(family), slots=slots, context=256, eos=frozenset())


def loops(target: Any) -> list[Loop]:
    """Plain, a drafter whose drafts vary in length, and one that resumes."""
    rules = StopRules(24)
    return [plain_loop(target, rules), loop_of(target, spec("ngram"), rules), loop_of(target, spec("layerskip", LAYERSKIP, "window"), rules)]


@pytest.mark.parametrize("family", ["llama", "gemma3"])
@pytest.mark.parametrize(("slots", "rows", "concurrency"), [(1, None, 1), (3, None, 3), (3, (1, 3), 2)])
def test_everything_counted_is_as_in_eager(family: str, slots: int, rows: Any, concurrency: int) -> None:
    """Catches padding that is counted as work or drafts, rows that come back in another order, and idle rows that write into a neighbour: texts of
    different lengths leave and enter the batch all the time."""
    requests, under_test, reference = prompts(5), compiled(family, slots=slots, rows=rows), eager(family, slots)
    for ours, theirs in zip(loops(under_test), loops(reference), strict=True):
        found, wanted = by_prompt(ours.run(requests, concurrency)), by_prompt(theirs.run(requests, concurrency))
        for prompt, sequence in wanted.items():
            assert counts(found[prompt]) == counts(sequence)
            assert found[prompt].passes == sequence.passes


def worst(target: Any) -> float:
    """How far logits of a padded, ragged and partly idle batch are from the library's, in slots that hold the remains of longer texts."""
    texts, drafts = [list(range(3, 26)), [(7 * i) % 90 for i in range(61)], [(5 * i) % 90 for i in range(40)]], [[5, 9], [], [11]]
    for slot in range(target.slots):
        target.prefill(slot, [(3 * i + slot) % 90 for i in range(200)])
    for slot, text in enumerate(texts):
        target.prefill(slot, text[:-1])
    far = 0.0
    for chosen in ([2, 0], [0, 1, 2]):
        logits = target.verify(Batch(tuple(chosen), tuple(texts[r] for r in chosen)), Draft.from_lists([drafts[r] for r in chosen], target.device))
        for row, r in enumerate(chosen):
            wanted = own_logits(target.model, texts[r] + drafts[r])[len(texts[r]) - 1 :]
            far = max(far, float((logits[row, : len(drafts[r]) + 1] - wanted).abs().max()))
    return far


@pytest.mark.parametrize("family", FAMILIES)
def test_padded_batches_equal_full_forwards(family: str) -> None:
    """Catches a mask that shows what a longer text left behind, a padded column that is seen, and an idle row that overwrites a waiting one."""
    assert worst(compiled(family)) < 1e-4


class SeesTheRest(CompiledTarget):
    def _masks(self, positions: Any, width: int) -> Any:
        return {kind: torch.ones_like(mask) for kind, mask in super()._masks(positions, width).items()}


class SeesOneMore(CompiledTarget):
    def _masks(self, positions: Any, width: int) -> Any:
        return super()._masks(positions + 1, width)


class SeesTooLittle(CompiledTarget):
    def _through(self, hidden: Any, cache: Any, positions: Any, width: int, first: int, last: int, watch: Any = None) -> Any:
        cache._width = min(width, 32)
        return super()._through(hidden, cache, positions, cache._width, first, last, watch)


class IdlesInFront(CompiledTarget):
    def _idle(self, positions: int) -> Any:
        return torch.arange(positions)[None]


@pytest.mark.parametrize("wrong", [SeesTheRest, SeesOneMore, SeesTooLittle, IdlesInFront])
def test_a_wrong_mask_or_width_is_seen(wrong: Any) -> None:
    """A control of the test above: each way to be wrong must fail it."""
    assert worst(compiled("llama", kind=wrong)) > 1e-3


def two_layers(family: str) -> Any:
    """The first layers of a tiny model, of each kind one: the compiler takes long over every further one."""
    model: Any = tiny_model(family)
    model.model.layers = model.model.layers[:2]
    model.config.num_hidden_layers = 2
    model.config.layer_types = (getattr(model.config, "layer_types", None) or [])[:2] or None
    return model


@pytest.mark.parametrize(("family", "positions"), [("llama", {1, LONGEST + 1}), ("qwen3", {LONGEST + 1}), ("gemma3", {LONGEST + 1})])
def test_the_compiler_changes_no_token(family: str, positions: set[int]) -> None:
    """Catches a miscompiled pass: fixed shapes, constant weights and a cache that is written in place, through the compiler itself. Where only the
    longest draft is compiled a plain step is padded to it."""
    model, rules, requests = two_layers(family), StopRules(40), prompts(3)
    target = CompiledTarget(model, slots=2, context=96, eos=frozenset())
    target.compile({Stretch(0, 2, each) for each in positions})
    assert target.compiled is not None
    assert target.compiled.seconds > 0
    assert target.compiled.width == target.cache.context > 96
    assert {(s.rows, s.positions, s.first, s.last) for s in target.compiled.shapes} == {(2, each, 0, 2) for each in positions}
    reference = TransformersTarget(model, slots=2, context=96, eos=frozenset())
    for drafter, make in (("none", plain_loop), ("ngram", lambda t, r: loop_of(t, spec("ngram"), r))):
        ours, theirs = make(target, rules), make(reference, rules)
        found, wanted = by_prompt(ours.run(requests, 2)), by_prompt(theirs.run(requests, 2))
        assert {p: counts(s) for p, s in found.items()} == {p: counts(s) for p, s in wanted.items()}, drafter
        assert ours.counters.eager == 0


def test_nothing_is_compiled_inside_a_clock() -> None:
    """Catches a pass that meets another shape and is compiled again in the middle of a trial, without a word."""
    made = compiler.build(lambda x: x * 2, lambda run: run(torch.ones(2)))
    with torch.inference_mode():
        assert made(torch.ones(2)).tolist() == [2, 2]
        with pytest.raises(RuntimeError, match="recompile"):
            made(torch.ones(3))


def test_a_batch_takes_the_smallest_shape_that_holds_it() -> None:
    """Catches a batch that waits for rows or columns which it does not have, and one that is padded beyond measure."""
    target = compiled("llama", slots=8, rows=(1, 8))
    held = [(1, 1), (1, 5), (8, 1), (8, 5)]
    assert [target._fitting(1, n, held) for n in (1, 2, 5, 6)] == [(1, 1), (1, 5), (1, 5), None]
    emptiest = int(8 * LEAST_FULL)
    assert [target._fitting(r, 1, held) for r in (emptiest - 1, emptiest, 8)] == [None, (8, 1), (8, 1)]


def test_what_fits_no_shape_is_counted() -> None:
    """Catches eager forwards that pass for compiled ones: alone in four slots, and a prefill that is no decode step."""
    target = compiled("llama")
    loop = plain_loop(target, StopRules(8))
    loop.run(prompts(1), 1)
    assert loop.counters.eager == loop.counters.forwards == 7
    full = plain_loop(target, StopRules(8))
    full.run(prompts(4), 4)
    assert (full.counters.forwards, full.counters.eager) == (7, 0)


def test_a_longer_draft_than_there_is_room_for_is_refused() -> None:
    """Catches padded columns that write over the end of the cache."""
    target = CompiledTarget(tiny_model("llama"), slots=1, context=64, eos=frozenset(), build=as_it_is)
    with pytest.raises(ValueError, match="a draft of 64 tokens"):
        target.compile({Stretch(0, 6, 65)})


@pytest.mark.parametrize("named", ["no-such-compiler", None])
def test_a_machine_without_a_compiler_is_told_what_it_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, named: str | None) -> None:
    """Catches a run that fails in the middle of the compiler's own words."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    if named:
        monkeypatch.setenv("CXX", named)
    assert "a C++ compiler" in (compiler.missing(torch.device("cpu")) or "")
    with pytest.raises(Unmeasurable, match="lacks a C\\+\\+ compiler") as refused:
        check_compiler(spec(rule={"compile": True}), torch.device("cpu"))
    assert refused.value.code == "no_compiler"
    check_compiler(spec(), torch.device("cpu"))


def test_headers_of_python_are_needed_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Catches a machine with a compiler on which nothing can be compiled all the same."""
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path)})
    assert "Python.h" in (compiler.missing(torch.device("cpu")) or "")


def test_a_graph_is_recorded_before_it_is_replayed_and_its_output_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a graph that is recorded inside a clock, and logits that the next step overwrites: here the compiled call gives the same memory every
    time, as a graph does."""
    made, memory, asked = [], torch.zeros(2), dict[str, Any]()

    def compiles(run: Any, **options: Any) -> Any:
        asked.update(options["options"])
        return lambda given: made.append(given) or memory.copy_(run(given))

    monkeypatch.setattr(torch, "compile", compiles)
    replay = compiler.build(lambda x: x + 1, lambda run: run(torch.zeros(2)), graphs=True)
    assert (len(made), asked["triton.cudagraphs"]) == (3, True)
    first = replay(torch.ones(2))
    replay(torch.zeros(2))
    assert first.tolist() == [2, 2]


def test_compiled_code_lies_in_a_folder_of_the_runners_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Catches code that is loaded from where another user of the machine may have put it."""
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "elsewhere")
    compiler.keep_in(tmp_path / "compiled")
    assert cache_dir() == str(tmp_path / "compiled")
    assert (tmp_path / "compiled").stat().st_mode & 0o077 == 0
