"""The submit form as an order: a spec for each language, load and drafter that was asked for, or what has to be corrected first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from app.domain.catalogue import OfferedModel, OfferedSuite, Part, ServedEngine
from app.domain.language import standard_tag
from app.domain.multiply import MOST_RUNS, bodies, size
from app.domain.spec import COLDEST, NAMED_IN, PASSES, SEEDS, RunSpec
from app.reports.format import asked
from app.reports.retold import retell
from app.reports.translate import gettext
from app.reports.words import mark
from app.runners_registry.schemas import Catalogue
from app.web.schema_form import values

HOW_LONG: dict[str, Any] = {
    "type": "object",
    "properties": {
        "max_new_tokens": {"type": "integer", "minimum": 2, "maximum": 8192, "default": 64, "title": mark("Tokens per answer")},
        "trials": {
            "type": "integer", "minimum": 1, "maximum": 50, "default": 3, "title": mark("Blocks of trials"),
            "description": mark("A block holds two plain and two speculative passes."),
        },
        "margin": {
            "type": "number", "minimum": 0, "maximum": 0.5, "default": 0.02, "title": mark("Margin"),
            "description": mark("A drafter pays when the whole interval lies above 1 plus this."),
        },
    },
}  # fmt: skip
SAMPLING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "temperature": {
            "type": "number", "minimum": 0, "maximum": 10, "default": 0, "title": mark("Temperature"), "description": mark("0 is greedy."),
        },
        "top_k": {
            "type": "integer", "minimum": 1, "maximum": 1_000_000, "title": mark("Top-k"),
            "description": mark("Only the k likeliest tokens; empty means all."),
        },
        "top_p": {
            "type": "number", "minimum": 0.001, "maximum": 1, "title": mark("Top-p"),
            "description": mark("Only the likeliest tokens that have this probability together; empty means all."),
        },
        "seed": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1, "default": 1, "title": mark("Seed")},
    },
}  # fmt: skip
FEWEST_SAMPLED = SEEDS // PASSES
LOAD: dict[str, Any] = {
    "properties": {
        "load": {
            "type": "string", "enum": ["closed", "open"], "default": "closed", "title": mark("Kind of load"),
            "description": mark("Closed: the next request is sent when one ends. Open: requests arrive at a rate of their own and wait their turn."),
        },
        "concurrency": {"type": "integer", "minimum": 1, "maximum": 256, "default": 1, "title": mark("Requests at once")},
        "rate": {
            "type": "number", "minimum": 0.001, "maximum": 10_000, "title": mark("Arrivals per second"),
            "description": mark("For an open load; a trial lasts about as many seconds as prompts ÷ this."),
        },
        "burstiness": {
            "type": "number", "minimum": 0.25, "maximum": 100, "title": mark("Burstiness"),
            "description": mark("For an open load; 1 or empty is a Poisson process, less comes in bursts."),
        },
    }
}  # fmt: skip
LABELS: dict[str, Any] = {
    "properties": {
        "labels": {
            "type": "string", "title": mark("Labels"),
            "description": mark(
                "Such as gpu=h200, several with commas between: only a runner that has them all measures this. lossy=yes says of the run itself that "
                "its rule may change the answers."
            ),
        }
    }
}  # fmt: skip
LIMIT: dict[str, Any] = {
    "properties": {
        "limit": {
            "type": "integer", "minimum": 1, "maximum": 10_000, "title": mark("Prompts at most"),
            "description": mark("Taken evenly over the profiles; empty means all."),
        }
    }
}  # fmt: skip
ENGINE: dict[str, Any] = {
    "properties": {
        "compile": {
            "type": "boolean", "default": False, "title": mark("Compile the forwards"),
            "description": mark("Both arms decode faster, in a few fixed shapes. Compiling takes a minute or more and is not timed."),
        }
    }
}  # fmt: skip
# Where a spec's field is on the form: errors of the API find their way back by this.
_PLACES = {"suite.limit": "limit", "suite.id": "suite", "suite.profiles": "suite", "load.concurrency": "concurrency"}
_PLACES |= {"load.rate": "rate", "load.burstiness": "burstiness"}
_PLACES |= {f"sampling.{name}": name for name in SAMPLING["properties"]}
_PLACES |= {"model": "model", "drafter": "drafter", "controller": "controller", "labels": "labels", "engine": "engine"}


@dataclass(frozen=True)
class Also:
    """What is checked beside the first language, drafter and number of requests at once."""

    languages: tuple[str, ...] = ()
    drafters: tuple[str, ...] = ()
    concurrencies: tuple[int, ...] = ()

    def loads_beside(self, load: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The form's own load, and the same with each other number of requests."""
        return [dict(load), *({**load, "concurrency": n} for n in self.concurrencies if n != load.get("concurrency", 1))]


@dataclass(frozen=True)
class Order:
    """`specs` is empty while there are errors; errors are {field name: sentence}."""

    specs: tuple[RunSpec, ...] = ()
    languages: tuple[str, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)


def load_for(catalogue: Catalogue) -> dict[str, Any]:
    """The fields of a load, with as many requests at once as live runners serve."""
    fields = LOAD["properties"]
    most = catalogue.max_concurrency or fields["concurrency"]["maximum"]
    return {"properties": fields | {"concurrency": fields["concurrency"] | {"maximum": most}}}


def sampling_for(served: ServedEngine | None) -> dict[str, Any]:
    """The fields of sampling; on a served engine with what app.domain.fit would refuse said beforehand."""
    words = mark("Leave it empty: this engine is asked to draw from the whole distribution.")
    whole = {name: SAMPLING["properties"][name] | {"description": words} for name in ("top_k", "top_p")}
    return SAMPLING if served is None else SAMPLING | {"properties": SAMPLING["properties"] | whole}


def key_of(model: OfferedModel) -> str:
    """How a model is named in the form."""
    return f"{model.source}:{model.name}" + (f"@{model.revision}" if model.revision else "") + (f"#{model.file}" if model.file else "")


def read(typed: Mapping[str, str], also: Also, profiles: Sequence[str], catalogue: Catalogue, locale: str) -> Order:
    """Everything wrong is found at once; nothing is guessed for what was left empty. Runs that share a plain arm stand next to each other."""
    errors: dict[str, str] = {}
    engine = engine_of(typed, catalogue)
    catalogue = catalogue.on(engine)
    body: dict[str, Any] = _parts(typed, catalogue, errors, locale) | ({"engine": engine} if engine else {})
    body |= _measure(typed, catalogue, errors, locale)
    body["labels"] = _labels(typed.get("labels", ""), errors, locale)
    errors |= _unfit(body, locale)
    body["suite"] = _suite(typed, profiles, catalogue, errors, locale)
    body["tokenizer"] = _needed(
        typed, "tokenizer", mark("Name the tokenizer of the model, for example %(example)s."), errors, locale, example=_example(catalogue)
    )
    languages = _languages(typed, also.languages, errors, locale)
    others = [name for name in also.drafters if name != typed.get("drafter")]
    drafters = [body["drafter"], *(_part("drafter", catalogue.drafters, {**typed, "drafter": name}, errors, locale) for name in others)]
    each = (("language", languages), ("load", also.loads_beside(body["load"])), ("drafter", drafters))
    axes = [[{name: value} for value in values] for name, values in each]
    if (runs := size(axes)) > MOST_RUNS:
        errors[""] = gettext("These are %(runs)s runs at once; %(most)s are the most.", locale) % {"runs": runs, "most": MOST_RUNS}
    if errors:
        return Order((), languages, errors)
    specs: list[RunSpec] = []
    for made in bodies(body, axes):
        try:
            specs.append(RunSpec.model_validate(made))
        except ValidationError as error:
            errors |= {place(".".join(map(str, item["loc"]))): retell(item["msg"].removeprefix("Value error, "), locale) for item in error.errors()}
    return Order(() if errors else tuple(specs), languages, errors)


def engine_of(typed: Mapping[str, str], catalogue: Catalogue) -> str:
    """The engine that is asked for, else the first that is offered, which is our own loop where it is; empty where none is."""
    return typed.get("engine") or next(iter(catalogue.engines), "")


def place(path: str) -> str:
    """The form field of a spec's field: "suite.limit" -> "limit", "drafter.params.max_ngram" -> "drafter"."""
    return next((name for start, name in _PLACES.items() if path == start or path.startswith(start + ".")), path.split(".")[0])


def _example(catalogue: Catalogue) -> str:
    return catalogue.models[0].tokenizer if catalogue.models else "HuggingFaceTB/SmolLM2-135M-Instruct"


def _needed(typed: Mapping[str, str], name: str, words: str, errors: dict[str, str], locale: str, **fill: str) -> str:
    text = typed.get(name, "").strip()
    if not text:
        errors[name] = gettext(words, locale) % fill
    return text


def _languages(typed: Mapping[str, str], also: Sequence[str], errors: dict[str, str], locale: str) -> tuple[str, ...]:
    """The language and those checked beside it, each once, in the order of the form."""
    first = _needed(typed, "language", mark("Enter the language of the prompts as a tag, for example ru."), errors, locale)
    found: list[str] = []
    for text in [first, *also]:
        if not text:
            continue
        try:
            found.append(standard_tag(text))
        except ValueError:
            words = gettext("%(text)s is not a language tag; enter one such as ru or en.", locale)
            errors["language"] = words % {"text": text}
    return tuple(dict.fromkeys(found))


def _parts(typed: Mapping[str, str], catalogue: Catalogue, errors: dict[str, str], locale: str) -> dict[str, Any]:
    body: dict[str, Any] = {}
    model = next((m for m in catalogue.models if key_of(m) == typed.get("model")), None)
    if model is None:
        errors["model"] = gettext("Choose a model that a runner offers.", locale)
    else:
        source = {"source": model.source, NAMED_IN[model.source]: model.name, "file": model.file, "revision": model.revision}
        body["model"] = source | {"dtype": typed.get("dtype") or "auto"}
        body["chat_template"] = "model" if model.chat_template else "none"
    for kind, parts in (("drafter", catalogue.drafters), ("controller", catalogue.controllers)):
        body[kind] = _part(kind, parts, typed, errors, locale)
    if typed.get("verifier"):
        body["verifier"] = _part("verifier", catalogue.verifiers, typed, errors, locale)
    return body


def _part(kind: str, parts: Sequence[Part], typed: Mapping[str, str], errors: dict[str, str], locale: str) -> dict[str, Any]:
    chosen = next((part for part in parts if part.name == typed.get(kind)), None)
    if chosen is None:
        names = ", ".join(part.name for part in parts)
        errors[kind] = gettext("Choose one of: %(options)s.", locale) % {"options": names}
        return {"name": typed.get(kind, "")}
    params, wrong = values(f"{kind}.{chosen.name}.", chosen.schema_, typed, locale)
    errors |= wrong
    return {"name": chosen.name, "params": params}


def _suite(typed: Mapping[str, str], profiles: Sequence[str], catalogue: Catalogue, errors: dict[str, str], locale: str) -> dict[str, Any]:
    suite = next((s for s in catalogue.suites if s.id == typed.get("suite")), None)
    limits, wrong = values("", LIMIT, typed, locale)
    errors |= wrong
    if suite is None:
        errors["suite"] = gettext("Choose the prompts.", locale)
        return {}
    kept = [p for p in suite.profiles if f"{suite.id}/{p}" in profiles]
    return {"id": suite.id, "profiles": kept or None} | limits


def _labels(text: str, errors: dict[str, str], locale: str) -> dict[str, str]:
    """`gpu=h200, lossy=yes`"""
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    pairs = [(name.strip(), value.strip()) for name, _, value in (piece.partition("=") for piece in pieces)]
    if not all(name and value for name, value in pairs) or len(dict(pairs)) < len(pairs):
        errors["labels"] = gettext("Write each label once, as name=value, with commas between, such as gpu=h200.", locale)
    return dict(pairs)


def _measure(typed: Mapping[str, str], catalogue: Catalogue, errors: dict[str, str], locale: str) -> dict[str, Any]:
    load, wrong = values("", load_for(catalogue), typed, locale)
    # Only our own loop compiles, so only its form has the field.
    own = {} if catalogue.at(engine_of(typed, catalogue)) else values("", ENGINE, typed, locale)[0]
    long, more = values("", HOW_LONG, typed, locale)
    sampling, unread = values("", SAMPLING, typed, locale)
    errors |= wrong | more | unread
    load["kind"] = load.pop("load", "closed")
    errors |= _unfit_load(load, wrong, locale)
    return own | long | {"load": load, "sampling": sampling}


def _unfit_load(load: Mapping[str, Any], wrong: Mapping[str, str], locale: str) -> dict[str, str]:
    if load["kind"] == "open":
        missing = "rate" not in load and "rate" not in wrong
        return {"rate": gettext("An open load needs the number of requests that arrive in a second.", locale)} if missing else {}
    given = next((name for name in ("rate", "burstiness") if name in load), None)
    return {} if given is None else {given: gettext("Leave this empty, or choose an open load.", locale)}


def _unfit(body: Mapping[str, Any], locale: str) -> dict[str, str]:
    """What a temperature asks of the other fields; said at the field that has to change."""
    temperature = body["sampling"].get("temperature", 0)
    if temperature == 0:
        return {}
    if temperature < COLDEST:
        words = gettext("Below %(coldest)s it is greedy decoding in all but rounding: enter 0.", locale)
        return {"temperature": words % {"coldest": asked("number", COLDEST, locale)}}
    found: dict[str, str] = {}
    if body.get("verifier", {}).get("name", "exact") == "exact":
        found["verifier"] = gettext("exact checks greedy decoding: choose rejection, or temperature 0.", locale)
    if body.get("trials", FEWEST_SAMPLED) < FEWEST_SAMPLED:
        words = gettext("Drawn answers need at least %(blocks)s blocks: every pass draws with a seed of its own.", locale)
        found["trials"] = words % {"blocks": FEWEST_SAMPLED}
    return found


def prompts_of(spec: RunSpec, suites: Sequence[OfferedSuite]) -> int | None:
    """How many prompts a spec takes, as far as the offer says it: profiles are not counted apart, so a part of them gives None."""
    suite = next((s for s in suites if s.id == spec.suite.id), None)
    if suite is None or spec.suite.profiles is not None:
        return spec.suite.limit
    return min(suite.prompts, spec.suite.limit or suite.prompts)
