"""Report and Comparison: every number and sentence that is shown, and nothing else is shown."""

from typing import Literal

from app.domain.compilation import Compilation
from app.domain.drafting import OF
from app.domain.estimate import Cell, Estimate, Figure, Refusal
from app.domain.facts import EnvironmentFact, TrialFact, WarmupFact
from app.domain.observations import DivergenceFact, LearnedFact
from app.domain.passport import Passport
from app.domain.sentence import Sentence
from app.domain.spec import RunSpec
from app.domain.status import RunState
from app.domain.value import Value
from app.reports.imported_beside import Beside
from app.reports.latencies import Ecdf
from app.statistics.verdict import Verdict

CHAINS, NODES = "acceptance_rate", "acceptance_rate_nodes"
NOT_REACHED = "not reached"


class Gate(Value):
    """A check that may refuse a run's headlines: `failing` of `n` requests failed it, `limit` is the share allowed. `asked` counts those that it was
    meant for, where not all of them could be judged."""

    name: Literal[
        "degenerate", "other language", "unknown language", "closure", "lossy", "identity", "requests failed", "forced acceptance",
        "foreign traffic", "engine totals",
    ]  # fmt: skip
    refused: bool
    failing: int
    n: int
    limit: float
    sentence: Sentence
    asked: int | None = None


class AnswerRow(Value):
    """An answer beside plain's, and in how many passes it came out so. `position` is where it parts from plain's, None where it does not or where
    only digests are kept; the token ids there are those of a divergence that was looked at. For looking, not for quoting."""

    prompt: str
    times: int
    tokens: int
    judgement: Literal["equal", "tie", "violation", "not judged"]
    position: int | None = None
    plain_token: int | None = None
    speculative_token: int | None = None


class Losslessness(Value):
    """Requests whose ids equal plain's at the same load, beside plain against plain. `first_divergence` is an output position.

    Of the requests that differ `ties` part where the target's logits are equal but for rounding, `violations` where they are not, and `unjudged` were
    not looked at. `divergence` is the one to show: the first violation, or the first tie where there is none.
    """

    dtype: str
    equal: int
    n: int
    plain_equal: int | None
    plain_n: int | None
    first_divergence: int | None
    diverging_prompt: str | None = None
    repeats_identical: bool | None = None
    ties: int = 0
    violations: int = 0
    unjudged: int = 0
    divergence: DivergenceFact | None = None
    answers: tuple[AnswerRow, ...] = ()


class PromptRow(Value):
    """One prompt of one run, for dots and tables: never quoted without the figures above it. A count is None where one of its requests lacks it."""

    prompt: str
    profile: str
    parallel: str | None
    speedup: float | None
    drafted: int | None
    verified: int | None
    rounds: int | None
    emitted: int
    degenerate: bool | None
    answer_language: str | None


class LengthRow(Value):
    """Draft lengths in rounds `first` … `last` of an answer, over the `requests` whose answers had a round so late: mean and quartiles of what was
    drafted (of a tree its longest path), and the mean of what was kept. Steps without a draft are no rounds. For looking, without intervals."""

    first: int
    last: int
    requests: int
    drafted: float
    low: float
    high: float
    kept: float


class Bar(Value):
    """What a round of `drafts` drafts costs, in plain steps, and the acceptance at which it is worth that: below 0 any is, above 1 none."""

    drafts: float
    draft_cost: float
    verify_cost: float
    needed: float


class Economics(Value):
    """Acceptance beside its bar. `mean` is the round of n̄ drafts over as many `sequences` as in most rounds, `bars` are the rounds that were profiled
    there; `gap` is the acceptance less the bar of `mean`, which is taken as exact. The bar itself is the figure break_even_acceptance."""

    sequences: int
    mean: Bar
    bars: tuple[Bar, ...]
    gap: Estimate


class Peak(Value):
    """The largest of `n` windows of a run, output tokens `first` … `last` of a prompt: a dot beside the quantiles, never a figure of the run."""

    speedup: float
    n: int
    prompt: str
    profile: str
    first: int
    last: int


class Report(Value):
    """One run. `cells` hold figures, refusals and absences in the order of the catalogue; `headline` is the id of the load's headline figure.
    `beside` is what a served engine would print of it (app.reports.engine_beside)."""

    run: int
    state: str
    question: Sentence
    answer: Sentence
    spec: RunSpec
    passport: Passport | None
    missing: tuple[str, ...] = ()
    headline: str
    verdict: Verdict
    gates: tuple[Gate, ...]
    losslessness: tuple[Losslessness, ...]
    cells: tuple[Cell, ...]
    prompts: tuple[PromptRow, ...]
    lengths: tuple[LengthRow, ...] = ()
    latencies: tuple[Ecdf, ...] = ()
    peak: Peak | None = None
    economics: Economics | None = None
    trials: tuple[TrialFact, ...]
    warmup: WarmupFact | None
    environment: EnvironmentFact | None
    compiled: Compilation | None = None
    learned: LearnedFact | None = None
    notes: tuple[Sentence, ...] = ()
    beside: tuple[Beside, ...] = ()

    def find(self, id: str, **part: str) -> Cell | None:
        """The cell of a figure, by its exact part; None when the report has no such cell."""
        return next((cell for cell in self.cells if cell.id == id and cell.part == part), None)

    @property
    def outcome(self) -> str:
        """The verdict, or that there is none: only a run that succeeded is judged."""
        return self.verdict.outcome if self.state == RunState.SUCCEEDED else NOT_REACHED

    @property
    def acceptance(self) -> str:
        """The id of the acceptance that this run has: of trees that of their nodes. One that was cut off is refused both."""
        nodes, chains = (isinstance(self.find(id), Figure | Refusal) for id in (NODES, CHAINS))
        return NODES if nodes and (not chains or OF in self.spec.drafter.params) else CHAINS


class Difference(Value):
    """A field in which passports differ. `forbids` names why the runs cannot be compared because of it; `expected` marks what is being compared."""

    field: str
    values: tuple[str, ...]
    expected: bool = False
    forbids: Sentence | None = None


class Contrast(Value):
    """A figure of run A against run B on parallel pairs: share figures as a difference in points, ratios as a quotient."""

    id: str
    part: dict[str, str] = {}
    kind: Literal["difference", "quotient"]
    estimate: Estimate


class BreakEven(Value):
    """`low` is the last load that is faster beyond doubt, `high` the first that is slower beyond doubt; between them the speed-up crosses 1. `point`
    interpolates there, on the logarithm of load and speed-up. All None where loads do not bracket it; `sentence` says what there is instead."""

    low: float | None = None
    high: float | None = None
    point: float | None = None
    sentence: Sentence


class Pair(Value):
    """One run against another, with whatever may be contrasted of them; `refused` says what may not and why, `allowed` what is left."""

    run: int
    against: int
    axis: str
    load: str
    question: Sentence
    answer: Sentence
    comparable: bool
    contrasts: tuple[Contrast, ...]
    refused: tuple[Sentence, ...] = ()
    allowed: Sentence | None = None


class Series(Value):
    """Runs that differ in how heavy their load is and in nothing else, from light to heavy, and where their speed-up crosses 1."""

    runs: tuple[int, ...]
    break_even_load: BreakEven | None = None


class Comparison(Value):
    """Two or more runs side by side. The first two reports are the pair that question, answer, `contrasts` and `refused` are about; `pairs` holds
    each pair of another run with one of the first run's series, that one among them. `loads` are those at which there is a pair
    (app.reports.loads.slug), `load` the one chosen; both are empty where no load is to be chosen. Contrasts only where both runs have the figure."""

    reports: tuple[Report, ...]
    question: Sentence
    answer: Sentence
    comparable: bool
    differences: tuple[Difference, ...]
    agreeing: tuple[str, ...]
    contrasts: tuple[Contrast, ...]
    refused: tuple[Sentence, ...] = ()
    break_even_load: BreakEven | None = None
    pairs: tuple[Pair, ...] = ()
    series: tuple[Series, ...] = ()
    loads: tuple[str, ...] = ()
    load: str | None = None
