"""A report of results measured elsewhere: their figures under the passport that they carry, and never a verdict (definitions § 1, § 2 and § 5)."""

from typing import Literal

from app.domain.counts import Counts
from app.domain.estimate import Absent, Computed, Refusal
from app.domain.outside.imported import Imported
from app.domain.outside.reading import Engine, Source
from app.domain.outside.supplied import Known, OutsidePassport, Supplied, Teller, issue
from app.domain.sentence import Quantity, Sentence, plain
from app.domain.value import Value
from app.metrics.base import Metric, Reading
from app.metrics.catalogue import key_of
from app.reports import imported_texts as texts
from app.reports import imported_words as words
from app.reports.cells import made
from app.reports.imported_beside import Beside, beside
from app.reports.imported_each import beside_each
from app.reports.imported_figures import FIGURES, OF_DRAFTED, readings
from app.reports.imported_told import carried

HEADLINES = ("acceptance_rate", "acceptance_rate_nodes", "tokens_per_round")


class ImportedFigure(Computed):
    """One count figure of an import; it cannot be built without language and tokenizer, which its passport requires. `drafted_source` is where D
    came from, of figures that divide by it."""

    drafted_source: Source | None = None
    passport: OutsidePassport


ImportedCell = ImportedFigure | Refusal | Absent


class ImportedReport(Value):
    """Everything that is said about one import. `known` are fields of the passport that are told, `told_by` by whom, `missing` those that are not;
    `refusing` names what refuses its figures: fields of the passport, then what is wrong with the counts. `beside` is empty while it does."""

    answer: Sentence
    format: str
    tool: str
    tool_version: str | None
    engine: Engine
    known: dict[str, str]
    told_by: dict[str, Teller]
    missing: tuple[str, ...]
    refusing: tuple[str, ...]
    passport: OutsidePassport | None
    counts: Counts
    drafted_source: Source
    tree: bool
    singles: int
    closure: Literal["closes", "overshoot", "undrafted_implied", "open", "unknown"]
    closing: Sentence
    verdict: Sentence
    cells: tuple[ImportedCell, ...]
    beside: tuple[Beside, ...] = ()
    notes: tuple[Sentence, ...] = ()
    remarks: tuple[Sentence, ...] = ()

    def find(self, id: str, **part: str) -> ImportedCell | None:
        return next((cell for cell in self.cells if cell.id == id and cell.part == part), None)

    @property
    def headline(self) -> ImportedCell:
        """The acceptance, of chains or of nodes."""
        return next(cell for cell in self.cells if cell.id == HEADLINES[1 if self.tree else 0])


def report(imported: Imported, supplied: Supplied) -> ImportedReport:
    """Raises ValueError where a person contradicts the file."""
    known = Known(imported=imported, supplied=supplied)
    language = known.values.get("language")
    passport, refusal = issue(imported, known), words.refusal(imported, language)
    if passport is None:
        field = known.refusing[0]
        both = len(known.refusing) > 1
        cells: tuple[ImportedCell, ...] = refused(
            imported, field, words.NEITHER if both else words.NAMELESS[field], words.ENTER_BOTH if both else words.REMEDIES[field]
        )
    elif refusal is not None:
        cells = refused(imported, *refusal)
    else:
        cells = tuple(_cell(metric, reading, imported, passport) for metric, reading in readings(imported))
    closure = imported.total.closure
    return ImportedReport(
        answer=_answer(imported, cells),
        format=imported.format, tool=imported.tool, tool_version=imported.tool_version, engine=imported.total.engine,
        known=known.values, told_by=known.told_by, missing=known.missing,
        refusing=known.refusing + (() if refusal is None else (refusal[0],)),
        passport=passport, counts=imported.total.counts, drafted_source=imported.total.drafted_source, tree=imported.total.tree,
        singles=len(imported.requests), closure=closure.kind, closing=words.closing(imported), verdict=words.NO_VERDICT, cells=cells,
        beside=_beside(imported, cells) if passport is not None and refusal is None else (),
        notes=_notes(imported, known), remarks=imported.remarks,
    )  # fmt: skip


def refused(imported: Imported, field: str, reason: Sentence, remedy: Sentence) -> tuple[Refusal, ...]:
    """What stands in place of every figure."""
    other = "acceptance_rate" if imported.total.tree else "acceptance_rate_nodes"
    return tuple(Refusal(id=id, field=field, reason=reason, remedy=remedy) for id in FIGURES if id != other)


def _cell(metric: Metric, reading: Reading, imported: Imported, passport: OutsidePassport) -> ImportedCell:
    source = imported.total.drafted_source if metric.id in OF_DRAFTED else None
    return made(ImportedFigure, metric, reading, drafted_source=source, passport=passport)


def _beside(imported: Imported, cells: tuple[ImportedCell, ...]) -> tuple[Beside, ...]:
    points = {key_of(cell.id, cell.part): cell.pooled.point for cell in cells if isinstance(cell, ImportedFigure)}
    return (*beside(imported, points), *(beside_each(each, imported) for each in imported.printed_each))


def _notes(imported: Imported, known: Known) -> tuple[Sentence, ...]:
    counts = [request.reading.counts for request in imported.requests]
    notes = [words.FINGERPRINT] if "tokenizer" in known.values else []
    notes += texts.notes(imported, known.values.get("language"))
    if imported.total.drafted_source == "nominal":
        notes.append(words.NOMINAL)
    if len(counts) > 1:
        told = [name for name in ("emitted", "rounds", "verified", "drafted") if all(getattr(each, name) is not None for each in counts)]
        whole = all(carried(counts, imported.total.counts, (name,)) for name in told)
        notes.append(words.CLUSTERS if whole else words.SUMS)
        if whole and imported.total.counts.requests > len(counts):
            notes.append(words.turns(len(counts), imported.total.counts.requests))
    return tuple(notes)


def _answer(imported: Imported, cells: tuple[ImportedCell, ...]) -> Sentence:
    """One sentence: what was kept of what was drafted, or why there is no such number."""
    name = HEADLINES[1 if imported.total.tree else 0]
    found = next(cell for cell in cells if cell.id == name)
    if not isinstance(found, ImportedFigure):
        return found.reason
    per_round = next((cell for cell in cells if cell.id == "tokens_per_round" and isinstance(cell, ImportedFigure)), None)
    kept = words.quantity("share_of_nodes" if imported.total.tree else "share", found.pooled)
    said: dict[str, str | int | Quantity] = {
        "kept": kept,
        "tool": imported.tool,
        "language": found.passport.language,
        "requests": imported.total.counts.requests,
    }
    if per_round is None:
        return plain("As %(tool)s measured it, %(kept)s of drafted tokens were kept: %(requests)s, language %(language)s.", **said)
    return plain(
        "As %(tool)s measured it, %(kept)s of drafted tokens were kept, and a round gave %(per_round)s: %(requests)s, language %(language)s.",
        **said,
        per_round=words.quantity("tokens", per_round.pooled),
    )
