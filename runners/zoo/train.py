"""Training of one model of the zoo, on the processor, in two stages."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from runners.environment import half_type
from runners.zoo.loops import unlikelihood, written_behind
from runners.zoo.recipe import Recipe

PAUSE = 5.0  # a step this many times as long as the median was interrupted, and counts as the median


class Stopwatch:
    """Seconds of the steps alone: a pause of the whole process inside one of them, to let something else be measured, does not count."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._steps: list[float] = []
        self._from = time.monotonic()

    def start(self) -> None:
        self._from = time.monotonic()

    def stop(self) -> None:
        self.add(time.monotonic() - self._from)

    def add(self, took: float) -> None:
        usual = median(self._steps[-50:]) if self._steps else took
        self.seconds += took if took < PAUSE * usual else usual
        self._steps.append(took)


@dataclass
class State:
    """Where a training is. `progress` runs from 0 to 1; `loss` is the mean over the last steps, of the exit behind all layers."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    core_seconds: float = 0.0
    progress: float = 0.0
    loss: float = 0.0


def loss_of(model: Any, batch: Tensor, recipe: Recipe, exit_layer: int | None, asks: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """(what is minimised, the loss of all layers) for rows `[B, T]`. An exit's states go through the model's own last norm and head."""
    out = model(input_ids=batch, output_hidden_states=exit_layer is not None, use_cache=False, **asks)
    whole = _guessing(out.logits, batch)
    loss = whole
    if exit_layer is not None:
        rows = slice(0, (len(batch) + 1) // 2)
        early = model.lm_head(model.model.norm(out.hidden_states[exit_layer][rows]))
        loss = loss + recipe.exit_weight * _guessing(early, batch[rows])
    if (uneven := getattr(out, "aux_loss", None)) is not None:
        loss = loss + model.config.router_aux_loss_coef * uneven
    return loss, whole.detach()


def _guessing(logits: Tensor, batch: Tensor) -> Tensor:
    """Mean nats of the next token. Logits stay in the type they came in: the head's are the largest tensors of all."""
    return cross_entropy(logits[:, :-1].flatten(0, 1), batch[:, 1:].flatten())


def optimisers(model: nn.Module, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for the rest: embeddings, norms, convolutions and what is kept in stacks."""
    inner = {name: p for name, p in model.named_parameters() if p.ndim == 2 and "embed_tokens" not in name and "lm_head" not in name}
    rest = [p for name, p in model.named_parameters() if name not in inner]
    return [
        torch.optim.Muon(list(inner.values()), lr=recipe.matrix_rate, weight_decay=recipe.decay, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(
            [
                {"params": [p for p in rest if p.ndim > 1], "weight_decay": recipe.decay},
                {"params": [p for p in rest if p.ndim < 2], "weight_decay": 0.0},
            ],
            lr=recipe.rate, betas=(0.9, 0.95),
        ),
    ]  # fmt: skip


def train(
    model: Any, batches: Iterator[Tensor], recipe: Recipe, *, exits: bool, asks: dict[str, Any], told: Callable[[State], None] = lambda _: None
) -> State:
    """The first stage, in place: learns text until the recipe's end, or until the process is asked to end. `told` hears of every step."""
    lessons = _lessons(model, batches, recipe, exits, asks)
    return _follow(model, recipe, lambda: next(lessons), rising_and_falling, recipe.steps, told)


def unloop(
    model: Any, batches: Iterator[Tensor], recipe: Recipe, *, exits: bool, asks: dict[str, Any], told: Callable[[State], None] = lambda _: None
) -> State:
    """The second stage (loops.py), in place: every step learns text as before, and makes repeats less likely in what the model writes behind it."""
    lessons = _lessons(model, batches, recipe, exits, asks)

    def lesson() -> Lesson:
        made = written_behind(model, torch.cat([next(batches), next(batches)]))
        with _half():
            against = unlikelihood(model(input_ids=made, use_cache=False).logits, made)
        text = next(lessons)
        return Lesson(text.loss + against, text.whole, text.tokens)

    return _follow(model, recipe, lesson, lambda recipe, state: recipe.unloop_share * (1.0 - state.progress), recipe.unloop_steps, told)


def rising_and_falling(recipe: Recipe, state: State) -> float:
    """The share of the full rate."""
    return min((state.steps + 1) / recipe.warm_up, 1.0) * (1.0 - state.progress)


@dataclass(frozen=True)
class Lesson:
    """`loss` is minimised, `whole` that of all layers on text; `tokens` of text were read."""

    loss: Tensor
    whole: Tensor
    tokens: int


def _lessons(model: Any, batches: Iterator[Tensor], recipe: Recipe, exits: bool, asks: dict[str, Any]) -> Iterator[Lesson]:
    dice = torch.Generator().manual_seed(recipe.seed)
    for batch in batches:
        exit_layer = int(torch.randint(1, model.config.num_hidden_layers, (1,), generator=dice)) if exits else None
        with _half():
            loss, whole = loss_of(model, batch, recipe, exit_layer, asks)
        yield Lesson(loss, whole, batch.numel())


def _half() -> Any:
    """Matrices multiply in the 16-bit type that this processor is fast in, if there is one."""
    half = half_type(torch.device("cpu"))
    return torch.autocast("cpu", half or torch.bfloat16, enabled=half is not None)


def _follow(
    model: Any, recipe: Recipe, lesson: Callable[[], Lesson], rate: Callable[[Recipe, State], float], steps: int | None, told: Callable[[State], None]
) -> State:
    """A stage of `steps` steps, or of the recipe's minutes."""
    torch.set_num_threads(recipe.threads)
    makers, watch, state, spent = optimisers(model, recipe), Stopwatch(), State(), time.process_time()
    full = [[group["lr"] for group in maker.param_groups] for maker in makers]
    model.train()
    with _repeatably(), _heeding_stop() as asked:
        while state.progress < 1.0 and not asked:
            watch.start()
            learnt = lesson()
            learnt.loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            _set_rates(makers, full, rate(recipe, state))
            for maker in makers:
                maker.step()
                maker.zero_grad(set_to_none=True)
            watch.stop()
            _advance(state, recipe, steps, learnt, watch.seconds)
            state.core_seconds = time.process_time() - spent
            told(state)
    model.eval()
    return state


def _advance(state: State, recipe: Recipe, steps: int | None, learnt: Lesson, seconds: float) -> None:
    loss = float(learnt.whole)
    state.loss = loss if state.steps == 0 else 0.95 * state.loss + 0.05 * loss
    state.steps, state.tokens, state.seconds = state.steps + 1, state.tokens + learnt.tokens, seconds
    state.progress = min(1.0, state.steps / steps if steps is not None else seconds / (60 * recipe.minutes))


def _set_rates(makers: Sequence[torch.optim.Optimizer], full: Sequence[Sequence[float]], share: float) -> None:
    for maker, rates in zip(makers, full, strict=True):
        for group, rate in zip(maker.param_groups, rates, strict=True):
            group["lr"] = rate * share


@contextmanager
def _repeatably() -> Iterator[None]:
    """Sums over experts come in any order otherwise, and no training could be repeated."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


@contextmanager
def _heeding_stop() -> Iterator[list[int]]:
    """A list that is empty until the process is asked to end; what was learnt so far is then written down."""
    asked: list[int] = []
    before = {each: signal.signal(each, lambda number, _: asked.append(number)) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
