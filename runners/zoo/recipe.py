"""How a model of the zoo is trained, and what is written down beside its weights."""

from app.domain.value import Value


class Recipe(Value):
    """`minutes` are of training steps alone; with `steps` given the schedule follows those and not the clock, so that it can be repeated exactly.

    Matrices learn by Muon (Jordan and others, 2024), everything else by AdamW; both rates rise over `warm_up` steps and fall linearly to zero.
    An early exit is drawn anew for every step; its loss on half of the rows counts `exit_weight` (after LayerSkip, Elhoushi and others, 2024).
    `unloop_steps` against repeats follow (loops.py), at `unloop_share` of the rates, which falls to nothing too.
    """

    seed: int = 1
    minutes: float = 20.0
    steps: int | None = None
    threads: int = 2
    batch: int = 4
    length: int = 512
    rate: float = 3e-3
    matrix_rate: float = 6e-3
    decay: float = 0.1
    warm_up: int = 50
    exit_weight: float = 0.5
    unloop_steps: int = 200
    unloop_share: float = 0.1


class Measured(Value):
    """Held-out text of one language. `bits` are per character and per byte of UTF-8; `agreement` is the share of positions at which the exit after
    layer 1, 2, … gives the same next token as all layers."""

    tokens: int
    perplexity: float
    bits_per_character: float
    bits_per_byte: float
    characters_per_token: float
    agreement: tuple[float, ...] = ()


class Answers(Value):
    """Plain greedy answers in one language, of at most `tokens` tokens: how many there are, and how many of them are empty, loop, or are written in
    another language."""

    suite: str
    tokens: int
    prompts: int
    empty: int
    looping: int
    other_language: int


class Record(Value):
    """The content of recipe.json. `progress` is 1 when the first stage ended by itself, `unloop_steps` are of the second; `minutes` are of all steps,
    `core_minutes` what they took of all cores; `characters` were there to learn from; `weights` is the SHA-256 of model.safetensors."""

    name: str
    summary: str
    parameters: int
    recipe: Recipe
    progress: float
    steps: int
    unloop_steps: int
    tokens: int
    minutes: float
    core_minutes: float
    machine: str
    versions: dict[str, str]
    packages: dict[str, str]
    characters: dict[str, int]
    held_out: dict[str, Measured]
    answers: dict[str, Answers] = {}
    weights: str
