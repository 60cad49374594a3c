"""What is asked of a run: the body of POST /api/v1/runs."""

import hashlib
import json
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from app.domain import spelling
from app.domain.canonical import deeper, numbers
from app.domain.language import Language
from app.domain.value import Value

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=spelling.NAME)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256)]
# A trial is two passes of each arm, and answers that are drawn need at least four seeds (definitions § 3).
PASSES, SEEDS = 2, 4
# Prompts for each request at a time that a closed load needs: the edges of the steady window weigh as much as one generation of requests.
GENERATIONS = 3
# Levels of objects and lists in parameters; a schema of theirs has 4.
DEEPEST = 8
# A label that is a word about the run and no demand on its runner: its rule changes what is said (definitions § 5).
OF_THE_RUN = frozenset({"lossy"})
# Logits divided by less than this leave the range of float32.
COLDEST = 0.01
# The engine whose loop is ours.
OWN_ENGINE = "transformers"
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Source = Literal["hub", "path", "package", "zoo"]
# The field of a ModelSource in which a model of each source is named; the zoo comes in Bezmen's own package.
NAMED_IN: dict[Source, str] = {"hub": "repository", "path": "path", "package": "package", "zoo": "package"}
# The three loads that are weighed by different pairs (definitions § 3): one request at a time, several of them, arrivals of their own.
Regime = Literal["single", "closed", "open"]


def _small(params: dict[str, Any]) -> dict[str, Any]:
    if deeper(params, DEEPEST):
        raise ValueError(f"parameters are nested more than {DEEPEST} deep")
    if len(json.dumps(params, allow_nan=False)) > 4096:
        raise ValueError("parameters take more than 4096 characters")
    # Their types are the runner's affair, so nothing else makes 1.0 and 1 one value.
    return dict(numbers(params))


def _no_negative_zero(value: float) -> float:
    return value + 0.0


Params = Annotated[dict[str, Any], AfterValidator(_small)]
PositiveZero = AfterValidator(_no_negative_zero)


def on_engine(drafter: str, engine: str) -> str:
    """A drafter as tables and sentences call it: a served engine's with its alias, since engines give one name to different things."""
    return drafter if engine == OWN_ENGINE else f"{drafter} ({engine})"


class Choice(Value):
    """A named part (drafter, controller, verifier) and its parameters; the runner's offer holds their schema."""

    name: Name
    params: Params = Field(default_factory=dict)

    @property
    def said(self) -> dict[str, Any]:
        """The parameters by name that say something: one that is null is left to the part itself."""
        return {name: value for name, value in sorted(self.params.items()) if value is not None}


def _named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


Named = Annotated[Choice, BeforeValidator(_named)]


class ModelSource(Value):
    """Where the target comes from. `dtype` auto is the runner's fastest 16-bit type, else float32; the passport names what was used."""

    source: Source
    repository: Text | None = None
    path: Annotated[str, Field(min_length=1, max_length=1024)] | None = None
    package: Name | None = None
    file: Text | None = None
    revision: Text | None = None
    dtype: Dtype = "auto"

    @model_validator(mode="after")
    def _names_its_source(self) -> Self:
        field = NAMED_IN[self.source]
        if getattr(self, field) is None:
            raise ValueError(f"a model of source {self.source} is named by {field}, which is missing")
        if self.source != "hub" and self.revision is not None:
            raise ValueError("only a hub model has a revision; what lies on a disk is told apart by its digest")
        if self.file is not None and (self.file.startswith("/") or ".." in self.file.split("/")):
            raise ValueError("file is a name inside the model, without ..")
        others = [other for other in dict.fromkeys(NAMED_IN.values()) if other != field and getattr(self, other) is not None]
        if others:
            raise ValueError(f"a model of source {self.source} is named by {field} alone; leave {', '.join(others)} out")
        return self

    @property
    def title(self) -> str:
        return str(self.repository or self.package or self.path)

    @property
    def found_as(self) -> str | None:
        """What a runner calls the model that it found for this; None for a folder, which has no name of its own."""
        return {"hub": self.repository, "path": None}.get(self.source, f"{self.source}:{self.package}")


class SuiteChoice(Value):
    """Which prompts: a suite, some of its profiles (without them all but those answered in another language), and at most `limit` prompts taken
    evenly over the profiles."""

    id: Name
    profiles: Annotated[tuple[Name, ...], Field(min_length=1, max_length=64)] | None = None
    limit: Annotated[int, Field(ge=1, le=10_000)] | None = None


class Load(Value):
    """Closed: `concurrency` requests in flight, the next one sent when one ends. Open: requests arrive at `rate` per second whatever happens to
    the others, at most `concurrency` are decoded at a time and the rest wait; gaps between arrivals follow a gamma law of shape `burstiness`
    (1 is a Poisson process, less is burstier)."""

    kind: Literal["closed", "open"] = "closed"
    concurrency: Annotated[int, Field(ge=1, le=256)] = 1
    rate: Annotated[float, Field(ge=0.001, le=10_000)] | None = None
    burstiness: Annotated[float, Field(ge=0.25, le=100)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _poisson_unless_said(cls, given: Any) -> Any:
        # Said or left out, a Poisson process is one load, so that its runs compare.
        if isinstance(given, dict) and given.get("kind") == "open" and given.get("burstiness") is None:
            return given | {"burstiness": 1.0}
        return given

    @property
    def regime(self) -> Regime:
        if self.kind == "open":
            return "open"
        return "single" if self.concurrency == 1 else "closed"

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.kind == "open" and self.rate is None:
            raise ValueError("an open load needs rate, the requests that arrive in a second")
        if self.kind == "closed" and (self.rate is not None or self.burstiness is not None):
            raise ValueError("a closed load takes no rate and no burstiness; set kind to open for arrivals of their own")
        return self


class Sampling(Value):
    temperature: Annotated[float, Field(ge=0, le=10), PositiveZero] = 0.0
    top_k: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    top_p: Annotated[float, Field(ge=0.001, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 1

    @model_validator(mode="after")
    def _warm_or_greedy(self) -> Self:
        if 0 < self.temperature < COLDEST:
            raise ValueError(f"a temperature below {COLDEST} is greedy decoding in all but rounding; set temperature to 0")
        return self


class RunSpec(Value):
    """One measurement of one drafter against plain decoding. Language and tokenizer have no default: without them nothing is measured. `compile` is
    an option of our own engine: both arms decode through forwards that were compiled for the shapes of this run."""

    model: ModelSource
    engine: Name = OWN_ENGINE
    compile: bool = False
    drafter: Named
    controller: Named = Choice(name="constant")
    verifier: Named = Choice(name="exact")
    language: Language
    tokenizer: Text
    suite: SuiteChoice
    chat_template: Literal["model", "none"] = "model"
    load: Load = Load()
    sampling: Sampling = Sampling()
    stop: tuple[Annotated[str, Field(min_length=1, max_length=64)], ...] = Field(default=(), max_length=4)
    ignore_eos: bool = False
    max_new_tokens: Annotated[int, Field(ge=2, le=8192)] = 64
    trials: Annotated[int, Field(ge=1, le=50)] = 3
    margin: Annotated[float, Field(ge=0, le=0.5), PositiveZero] = 0.02
    labels: Annotated[dict[Name, Annotated[str, Field(max_length=64)]], Field(max_length=8)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _rule_fits_the_sampling(self) -> Self:
        if self.verifier.name == "exact" and self.sampling.temperature > 0:
            raise ValueError("the verifier exact checks greedy decoding; set sampling.temperature to 0, or the verifier to rejection")
        if self.sampling.temperature > 0 and self.trials * PASSES < SEEDS:
            raise ValueError(
                f"a sampled run needs at least {SEEDS // PASSES} trials: every pass draws with a seed of its own, and {SEEDS} are the fewest"
            )
        return self

    @model_validator(mode="after")
    def _options_fit_the_engine(self) -> Self:
        if self.compile and self.engine != OWN_ENGINE:
            raise ValueError(f"compile is an option of the engine {OWN_ENGINE}; leave it out for {self.engine}, which compiles what it likes")
        return self

    @property
    def drafter_title(self) -> str:
        return on_engine(self.drafter.name, self.engine)

    @property
    def wanted_labels(self) -> dict[str, str]:
        """Those that a runner must have; the others say something of the run itself."""
        return {name: value for name, value in self.labels.items() if name not in OF_THE_RUN}

    @property
    def controlled(self) -> bool:
        """Whether the library's own plain decoding runs beside the arms: it takes one request at a time, in the process of our own loop."""
        return self.engine == OWN_ENGINE and self.load.regime == "single"

    @property
    def target(self) -> tuple[str, ModelSource, bool]:
        """What the process that has measured this holds in memory. One in which something was compiled measures nothing eager."""
        return self.engine, self.model, self.compile

    def digest(self) -> str:
        """SHA-256 over the canonical JSON: equal specs ask for the same measurement."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()
