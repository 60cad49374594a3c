"""How hybrid families put attention and recurrent mixers together: the library's own modules, in the library's own order."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

from torch import Tensor

from runners.engine.recurrence import Shapes, Stream

# What an attention is given beside its states: mask, angles, positions and cache; None leaves it out.
Seen = dict[str, Any] | None
CHUNK = 64


class Wiring(ABC):
    """One layer after another of `ours`, a model of transformers. `attends` and `recurs` number the layers that have attention and those that have a
    recurrent mixer, which a layer calls `mixer`. Of the `blocks` of a layer, mixers and MLP, each counts as that part of a layer pass."""

    mixer: ClassVar[str]
    blocks: ClassVar[int]

    def __init__(self, ours: Any) -> None:
        self.ours, self.stack = ours, ours.model
        self.attends = tuple(number for number, layer in enumerate(self.stack.layers) if hasattr(layer, "self_attn"))
        self.recurs = tuple(number for number, layer in enumerate(self.stack.layers) if hasattr(layer, self.mixer))

    @abstractmethod
    def embed(self, tokens: Tensor) -> Tensor:
        """The states `[…, H]` before the first layer."""

    @abstractmethod
    def head(self, hidden: Tensor) -> Tensor:
        """Logits `[…, V]`."""

    @abstractmethod
    def run(self, number: int, hidden: Tensor, stream: Stream, seen: Seen) -> Tensor:
        """A layer over the states `[R, n, H]` of the next n tokens of each row."""

    @abstractmethod
    def state_of(self, mixer: Any) -> tuple[int, ...]:
        """The shape of a mixer's recurrent state."""

    def shapes(self) -> Shapes:
        mixers = {number: getattr(self.stack.layers[number], self.mixer) for number in self.recurs}
        return {number: ((int(mixer.conv_dim), int(mixer.conv_kernel_size)), self.state_of(mixer)) for number, mixer in mixers.items()}

    def mix(self, number: int, hidden: Tensor, stream: Stream) -> Tensor:
        """The recurrent mixer of a layer over its inputs `[R, n, H]`."""
        stream.given(number, hidden)
        return self._mixed(getattr(self.stack.layers[number], self.mixer), hidden, stream)

    @abstractmethod
    def _mixed(self, mixer: Any, hidden: Tensor, stream: Stream) -> Tensor: ...

    def passes(self, first: int, last: int, left_out: frozenset[int]) -> Fraction:
        """Layer passes of layers `first` … `last` − 1 over one token without the attention of the layers `left_out`."""
        return last - first - Fraction(sum(first <= number < last for number in left_out), self.blocks)

    def replayed(self) -> Fraction:
        """Layer passes of the recurrent mixers alone over one token."""
        return Fraction(len(self.recurs), self.blocks)


class Parallel(Wiring):
    """Falcon-H1: in every layer Mamba-2 and attention read the same input, and their sum goes on."""

    mixer = "mamba"
    blocks = 3

    def __init__(self, ours: Any) -> None:
        super().__init__(ours)
        self.chunk = int(ours.config.mamba_chunk_size)

    def embed(self, tokens: Tensor) -> Tensor:
        states: Tensor = self.stack.embed_tokens(tokens) * self.stack.embedding_multiplier
        return states

    def head(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.ours.lm_head(self.stack.final_layernorm(hidden)) * self.stack.lm_head_multiplier
        return logits

    def run(self, number: int, hidden: Tensor, stream: Stream, seen: Seen) -> Tensor:
        layer = self.stack.layers[number]
        normed = layer.input_layernorm(hidden)
        found = self.mix(number, normed, stream) * layer.ssm_out_multiplier
        if seen is not None:
            found = found + layer.self_attn(hidden_states=normed * layer.attention_in_multiplier, **seen)[0] * layer.attn_out_multiplier
        hidden = hidden + found
        fed: Tensor = hidden + layer.feed_forward(layer.pre_ff_layernorm(hidden))
        return fed

    def state_of(self, mixer: Any) -> tuple[int, ...]:
        return int(mixer.num_heads), int(mixer.head_dim), int(mixer.ssm_state_size)

    def _mixed(self, mixer: Any, hidden: Tensor, stream: Stream) -> Tensor:
        # A text is padded to whole chunks, of which a draft would fill a fiftieth; how it is cut does not change what comes out.
        mixer.chunk_size = min(self.chunk, hidden.shape[1])
        found: Tensor = mixer(hidden_states=hidden, cache=stream)
        return found


class Sequential(Wiring):
    """Qwen3.5: some layers mix by gated delta-net, the others by full attention."""

    mixer = "linear_attn"
    blocks = 2

    def embed(self, tokens: Tensor) -> Tensor:
        states: Tensor = self.stack.embed_tokens(tokens)
        return states

    def head(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.ours.lm_head(self.stack.norm(hidden))
        return logits

    def run(self, number: int, hidden: Tensor, stream: Stream, seen: Seen) -> Tensor:
        layer = self.stack.layers[number]
        if number in self.recurs:
            hidden = hidden + self.mix(number, layer.input_layernorm(hidden), stream)
        elif seen is not None:
            hidden = hidden + layer.self_attn(hidden_states=layer.input_layernorm(hidden), **seen)[0]
        fed: Tensor = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        return fed

    def state_of(self, mixer: Any) -> tuple[int, ...]:
        return int(mixer.num_v_heads), int(mixer.head_k_dim), int(mixer.head_v_dim)

    def _mixed(self, mixer: Any, hidden: Tensor, stream: Stream) -> Tensor:
        found: Tensor = mixer(hidden_states=hidden, cache=stream, chunk_size=min(CHUNK, hidden.shape[1]))
        return found


WIRINGS: dict[str, Callable[[Any], Wiring]] = {"falcon_h1": Parallel, "qwen3_5_text": Sequential}
