"""What two or more runs differ in: what is being compared, what is named, and what forbids comparing."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.domain.passport import Passport, stays_quantised
from app.domain.sentence import Sentence, plain
from app.domain.spec import OWN_ENGINE, Sampling
from app.domain.tokenizer import TokenizerIdentity
from app.reports.loads import code
from app.reports.report import Difference

Axis = Literal["language", "engine", "drafter", "load", "controller", "model", "nothing"]
Scope = Literal["all", "tokens", "speed"]

# A model that the drafter brings along; it is run in the target's dtype.
_DRAFTER_MODEL = ("drafter_checkpoint", "drafter_revision", "drafter_weights_digest", "drafter_dtype", "drafter_quantisation")
_OF_DRAFTER = frozenset({"drafter", *_DRAFTER_MODEL, "drafter_memory", "drafter_tokenizer", "shared_cache", "batched_verification", "controller"})
# An engine keeps its cache as it likes, computes with a file's weights as they are or unpacked, and speculates in its own ways.
_OF_ENGINE = ("engine", "engine_version", "engine_build", "engine_arguments", "compile", "prefix_cache", "cache_dtype", "quantisation")
# Fields that may differ because the axis does. The answers' language is an outcome, so it follows any axis.
_FOLLOWS: dict[Axis, frozenset[str]] = {
    "language": frozenset({"language", "suite_digest"}),
    "engine": frozenset({*_OF_ENGINE, *_OF_DRAFTER}),
    "drafter": _OF_DRAFTER,
    "load": frozenset({"load"}),
    "controller": frozenset({"controller"}),
    "model": frozenset(
        {
            "target",
            "revision",
            "weights_digest",
            "dtype",
            "quantisation",
            "drafter_dtype",
            "chat_template_digest",
            "context_length",
            "cache_dtype",
            "thinking",
        }
    ),
    "nothing": frozenset(),
}
_AXES: tuple[tuple[Axis, frozenset[str]], ...] = (
    ("language", frozenset({"language"})),
    ("engine", frozenset({"engine"})),
    ("drafter", frozenset({"drafter", *_DRAFTER_MODEL} - {"drafter_dtype"})),
    ("controller", frozenset({"controller"})),
    ("load", frozenset({"load"})),
    ("model", frozenset({"target", "weights_digest", "dtype", "quantisation"})),
)
# A type, and the quantisation without which it would be read as that of the weights.
PRECISIONS = {"dtype": "quantisation", "drafter_dtype": "drafter_quantisation"}
# Draft lengths of a served engine, which decides itself.
ENGINES_OWN = "the engine's own"
_ALL = [
    "definition",
    "target",
    "revision",
    "weights_digest",
    "dtype",
    "quantisation",
    "parallel_layout",
    "drafter",
    *_DRAFTER_MODEL,
    "drafter_memory",
    "controller",
    "language",
    "suite",
    "suite_version",
    "suite_digest",
    "chat_template_digest",
    "thinking",
    "sampling",
    "verifier",
    "lossless",
    "stop",
    "ignore_eos",
    "max_new_tokens",
    "load",
    "engine",
]
_TOKENS = ("tokenizer", "drafter_tokenizer")
_SPEED = (
    "hardware", "hardware_digest", "engine_version", "engine_build", "engine_arguments", "compile", "prefix_cache", "cache_dtype", "shared_cache",
    "batched_verification",
)  # fmt: skip
FORBIDS: dict[str, Scope] = {**dict.fromkeys(_ALL, "all"), **dict.fromkeys(_TOKENS, "tokens"), **dict.fromkeys(_SPEED, "speed")}

# Outcomes of a run, what pairs take care of, and a command whose words other fields say: named beside a comparison, never against it.
NAMED_ONLY = frozenset({"answer_language", "profiles", "context_length", "engine_command"})


@dataclass(frozen=True)
class Differences:
    """`forbidden` holds the scopes in which the first two runs may not be contrasted, each with its reason."""

    axis: Axis
    fields: tuple[Difference, ...]
    agreeing: tuple[str, ...]
    forbidden: dict[Scope, Sentence]


def differences(passports: Sequence[Passport], *, over_loads: bool = False) -> Differences:
    """Every field in which passports differ. The first two runs are contrasted, so they decide what forbids; further ones are only named.
    `over_loads` says that the pair is one of several, each at its own load."""
    names = list(Passport.model_fields)
    first, second = passports[0], passports[1]
    axis = axis_of(first, second)
    differing = [name for name in names if len({canonical(passport, name) for passport in passports}) > 1]
    expected = _expected(axis, first, second)
    if over_loads and first.load == second.load:
        expected |= {"load"}
    forbidden: dict[Scope, Sentence] = {}
    fields = []
    for name in differing:
        reason = None
        if name not in expected and name in FORBIDS and canonical(first, name) != canonical(second, name):
            reason = _reason(name, first, second)
            forbidden.setdefault(FORBIDS[name], reason)
        values = tuple(shown(passport, name) for passport in passports)
        fields.append(Difference(field=name, values=values, expected=name in expected, forbids=reason))
    return Differences(axis, tuple(fields), tuple(name for name in names if name not in differing), forbidden)


def axis_of(a: Passport, b: Passport) -> Axis:
    """What is compared: the first of language, engine, drafter, draft length, load and model in which two passports differ."""
    return next((axis for axis, fields in _AXES if any(canonical(a, name) != canonical(b, name) for name in fields)), "nothing")


def _expected(axis: Axis, first: Passport, second: Passport) -> frozenset[str]:
    expected = _FOLLOWS[axis] | {"answer_language"}
    if axis == "language" and first.language == second.language:
        return expected - {"suite_digest"}
    return expected


def but_load(passport: Passport) -> tuple[str, ...]:
    """What must be equal for two runs to be points of one line over loads."""
    return tuple(canonical(passport, name) for name in Passport.model_fields if name != "load" and name not in NAMED_ONLY)


def canonical(passport: Passport, name: str) -> str:
    """A field as a text that is equal where the field says the same."""
    if name == "controller" and passport.engine != OWN_ENGINE:
        return ENGINES_OWN
    value = getattr(passport, name)
    if isinstance(value, TokenizerIdentity):
        # A renamed copy is the same tokenizer.
        return value.fingerprint
    return json.dumps(passport.model_dump(mode="json", include={name})[name], sort_keys=True, ensure_ascii=False)


def shown(passport: Passport, name: str) -> str:
    """A field as tables print it: long digests cut, loads and choices in words."""
    if name == "controller" and passport.engine != OWN_ENGINE:
        return ENGINES_OWN
    show = _SHOWN.get(name)
    value = getattr(passport, name)
    if show is not None:
        return show(value)
    if value is None:
        return "none"
    if name in PRECISIONS and stays_quantised(quantisation := getattr(passport, PRECISIONS[name])):
        return f"{quantisation}, {value}"
    text = value if isinstance(value, str) else canonical(passport, name)
    return text[:12] if name.endswith("digest") and len(text) == 64 else text


def _choice(value: Any) -> str:
    return str(value.name) if not value.said else f"{value.name} {json.dumps(value.said, sort_keys=True, ensure_ascii=False)}"


def _sampling(value: Sampling) -> str:
    """`greedy`, or `temperature 0.7, top-k 50, seed 1`: what is not asked for is not said."""
    if value.temperature == 0:
        return "greedy"
    named = (("temperature", value.temperature), ("top-k", value.top_k), ("top-p", value.top_p), ("seed", value.seed))
    return ", ".join(f"{name} {number}" for name, number in named if number is not None)


_SHOWN: dict[str, Callable[[Any], str]] = {
    "context_length": lambda value: "unknown" if value is None else str(value),
    "drafter": _choice,
    "controller": _choice,
    "verifier": _choice,
    "tokenizer": lambda value: str(value.short),
    "drafter_tokenizer": lambda value: str(value.short),
    "load": code,
    "sampling": _sampling,
    "engine_command": lambda value: shlex.join(value) or "none",
    "engine_arguments": lambda value: shlex.join(value) or "none",
    "answer_language": lambda value: ", ".join(f"{tag} {share:.0%}" for tag, share in value.items()),
    "profiles": lambda value: ", ".join(f"{name} {n}" for name, n in value.items()),
    "stop": lambda value: ", ".join(map(repr, value)) or "none",
}


def allowed(forbidden: Mapping[Scope, Sentence]) -> Sentence | None:
    """What may still be compared where something may not."""
    if "all" in forbidden or not forbidden:
        return None
    if "tokens" in forbidden and "speed" in forbidden:
        return plain("What may be compared is how many tokens a word takes, and nothing else.")
    if "tokens" in forbidden:
        return plain("What may be compared: what a clock measured, and how many tokens a word takes. What counts tokens may not.")
    return plain("What may be compared: everything that is counted. What a clock measured may not.")


def _reason(name: str, a: Passport, b: Passport) -> Sentence:
    values = {"first": shown(a, name), "second": shown(b, name)}
    if name == "definition":
        return plain("These runs cannot be compared: their figures are defined differently (%(first)s, %(second)s).", **values)
    if FORBIDS[name] == "tokens":
        return plain("Acceptance is not contrasted: it counts tokens, and the tokenizers differ (%(first)s, %(second)s).", **values)
    if FORBIDS[name] == "speed":
        return plain("Speed is not contrasted: %(field)s differs (%(first)s, %(second)s).", field=name, **values)
    return plain("These runs cannot be compared: besides what is compared, %(field)s differs (%(first)s, %(second)s).", field=name, **values)
