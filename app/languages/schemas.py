"""What each tokenizer and language cost, and what was accepted there: numbers of single runs beside each other, never pooled."""

from app.domain.estimate import Cell, Figure
from app.domain.sentence import Sentence
from app.domain.spec import OWN_ENGINE, Choice, Load, Sampling, on_engine
from app.domain.tokenizer import TokenizerIdentity
from app.domain.value import Value


class Measured(Value):
    """One of `runs` finished runs on one kind of `device` that ask for the same: target, engine, drafter, draft length, load, sampling, prompts,
    token limit and language. It is the newest that has both speed-up and acceptance; where none has both, the newest that has one of them, or the
    newest of all.

    `tokenizer` is as found by the run's checks; None where no figure of the run tells it. `earlier_analysis` names the analysis that the numbers
    come from, where the run's facts are gone and it is not the one in force.
    """

    run: int
    runs: int
    language: str
    tokenizer: TokenizerIdentity | None
    tokenizer_named: str
    target: str
    dtype: str
    device: str | None = None
    engine: str = OWN_ENGINE
    drafter: Choice
    controller: Choice
    load: Load
    sampling: Sampling
    suite: str
    earlier_analysis: str | None = None
    outcome: str | None
    refused: bool
    speedup: Cell | None
    acceptance: Cell | None
    chars_per_round: Cell | None = None
    tokens_per_target_forward: Cell | None = None

    @property
    def drafter_title(self) -> str:
        return on_engine(self.drafter.name, self.engine)

    @property
    def server(self) -> str | None:
        """The program behind the alias, as the run's passport tells it; None of our own loop, and where no figure has a passport."""
        figure = next((cell for cell in (self.acceptance, self.speedup) if isinstance(cell, Figure)), None)
        return None if self.engine == OWN_ENGINE or figure is None else figure.passport.engine_version.partition(" ")[0]


class Refused(Value):
    """A finished run whose figures are refused, or a failed one that was stopped because of its language or tokenizer (`field`)."""

    run: int
    language: str
    drafter: str
    field: str
    reason: Sentence
    remedy: Sentence | None = None


class LanguageRow(Value):
    """One tokenizer in one language. `fertility` holds the four cells of the run `fertility_run`, that with the most prompts, of `suite`.

    `runs` counts all finished runs behind the row, `refused_runs` those of them with refused figures.
    """

    tokenizer: TokenizerIdentity | None
    tokenizer_named: str
    language: str
    runs: int
    refused_runs: int
    fertility_run: int | None
    suite: str | None
    fertility: tuple[Cell, ...]
    measured: tuple[Measured, ...]


class Languages(Value):
    """Rows by tokenizer, then language. `refusals` are the newest of the refused runs; `stopped` are runs that ended before measuring because
    language or tokenizer were not as said."""

    rows: tuple[LanguageRow, ...]
    refusals: tuple[Refused, ...]
    stopped: tuple[Refused, ...]
