"""Reports as flat rows and as CSV: full precision, and where a number is refused or absent its reason and no number."""

import csv
import io
from collections.abc import Iterable, Sequence

from app.domain.canonical import text
from app.domain.estimate import Absent, Cell, Estimate, Figure, Refusal
from app.domain.passport import Passport
from app.domain.spec import RunSpec
from app.reports.format import say
from app.reports.loads import code
from app.reports.report import Comparison, Report

Value = str | float | int | None
Row = dict[str, Value]

# What was asked, which is known even of a run that never got a passport; and what its checks found.
ASKED = [
    "engine", "compile", "drafter", "drafter_params", "controller", "controller_params", "verifier", "verifier_params", "language", "suite_profiles",
    "suite_limit", "chat_template", "sampling", "stop", "ignore_eos", "max_new_tokens", "load", "trials", "margin",
]  # fmt: skip
_PASSPORT = [
    "definition", "target", "revision", "weights_digest", "dtype", "quantisation", "drafter_checkpoint", "drafter_revision", "answer_language",
    "tokenizer", "drafter_tokenizer", "suite", "suite_digest", "lossless", "engine_version", "hardware",
]  # fmt: skip
_NUMBERS = [
    "pooled", "low", "high", "level", "n", "of", "counted", "scope", "reason", "macro", "macro_low", "macro_high", "left_out", "rounds", "emitted",
]  # fmt: skip
COLUMNS = ["run", "state", "figure", "part", "status", "unit", *_NUMBERS, "refused_field", "remedy", "verdict", *ASKED, *_PASSPORT]
CONTRAST_COLUMNS = ["run", "against", "figure", "part", "kind", "point", "low", "high", "level", "n", "of", "counted", "scope", "reason"]
# A spreadsheet runs a cell that begins so; the true minus is there for those that normalise it.
_DANGEROUS = ("=", "+", "-", "−", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def report_rows(report: Report) -> list[Row]:
    """One row a cell, and after the cells the counts of losslessness; every row with the same columns (COLUMNS), the passport in each."""
    return [*(_row(report, cell) for cell in report.cells), *_losslessness(report)]


def to_csv(report: Report) -> str:
    return rows_csv(COLUMNS, report_rows(report))


def comparison_csv(comparison: Comparison) -> str:
    """The cells of all reports, an empty line, then the contrasts of every pair and what was not contrasted."""
    cells = [row for report in comparison.reports for row in report_rows(report)]
    return rows_csv(COLUMNS, cells) + "\r\n" + rows_csv(CONTRAST_COLUMNS, contrast_rows(comparison))


def _row(report: Report, cell: Cell) -> Row:
    row: Row = dict.fromkeys(COLUMNS) | {"run": report.run, "state": report.state, "figure": cell.id, "part": _part(cell.part)}
    row |= {"verdict": report.outcome} | _about(report)
    if isinstance(cell, Figure):
        return row | _figure(cell)
    if isinstance(cell, Refusal):
        remedy = say(cell.remedy) if cell.remedy else None
        return row | {"status": "refused", "reason": say(cell.reason), "refused_field": cell.field, "remedy": remedy}
    return row | _absent(cell)


def _losslessness(report: Report) -> list[Row]:
    """Shares of the answers compared: those that equal plain's, plain's own repeats that do, and what was said of each that differs."""
    if report.passport is None:
        return []
    rows = []
    for found in report.losslessness:
        counts = [
            ("equal to plain", found.equal, found.n),
            ("plain equal to plain", found.plain_equal, found.plain_n),
            ("ties", found.ties, found.n),
            ("violations", found.violations, found.n),
            ("not judged", found.unjudged, found.n),
        ]
        for name, count, n in counts:
            if count is not None and n:
                rows.append(_counted(report, {"dtype": found.dtype, "answers": name}, count / n, n))
    return rows


def _counted(report: Report, part: dict[str, str], share: float, n: int) -> Row:
    row: Row = dict.fromkeys(COLUMNS) | {"run": report.run, "state": report.state, "figure": "losslessness", "part": _part(part)}
    row |= {"verdict": report.outcome} | _about(report)
    return row | {"status": "value", "unit": "share", "pooled": share, "n": n, "counted": "requests"}


def _absent(cell: Absent) -> Row:
    return {"status": "absent", "reason": say(cell.reason)}


def _figure(cell: Figure) -> Row:
    pooled, macro = cell.pooled, cell.macro
    return {
        "status": "value",
        "unit": cell.unit,
        **_estimate(pooled, "pooled"),
        "macro": macro.point if macro else None,
        "macro_low": macro.low if macro else None,
        "macro_high": macro.high if macro else None,
        "left_out": say(cell.left_out) if cell.left_out else None,
        "rounds": cell.rounds,
        "emitted": cell.emitted,
    }


def _estimate(found: Estimate, name: str) -> Row:
    return {
        name: found.point,
        "low": found.low,
        "high": found.high,
        "level": found.level if found.low is not None else None,
        "n": found.n,
        "of": found.of,
        "counted": found.counted,
        "scope": found.scope,
        "reason": say(found.reason) if found.reason else None,
    }


def _about(report: Report) -> Row:
    """All that tells the rows of one run from those of another."""
    return _asked(report.spec) | _passport(report.passport)


def _asked(spec: RunSpec) -> Row:
    parts = (("drafter", spec.drafter), ("controller", spec.controller), ("verifier", spec.verifier))
    found: Row = {kind: choice.name for kind, choice in parts}
    found |= {f"{kind}_params": text(choice.params) for kind, choice in parts}
    return found | {
        "engine": spec.engine,
        "compile": _truth(spec.compile),
        "language": spec.language,
        "suite_profiles": None if spec.suite.profiles is None else " ".join(spec.suite.profiles),
        "suite_limit": spec.suite.limit,
        "chat_template": spec.chat_template,
        "sampling": text(spec.sampling.model_dump(mode="json")),
        "stop": text(spec.stop),
        "ignore_eos": _truth(spec.ignore_eos),
        "max_new_tokens": spec.max_new_tokens,
        "load": code(spec.load),
        "trials": spec.trials,
        "margin": spec.margin,
    }


def _passport(passport: Passport | None) -> Row:
    if passport is None:
        return {}
    return {
        "definition": passport.definition,
        "target": passport.target,
        "revision": passport.revision,
        "weights_digest": passport.weights_digest,
        "dtype": passport.dtype,
        "quantisation": passport.quantisation,
        "drafter_checkpoint": passport.drafter_checkpoint,
        "drafter_revision": passport.drafter_revision,
        "answer_language": " ".join(f"{tag}:{share:.4f}" for tag, share in passport.answer_language.items()),
        "tokenizer": f"{passport.tokenizer.name} {passport.tokenizer.fingerprint}",
        "drafter_tokenizer": f"{passport.drafter_tokenizer.name} {passport.drafter_tokenizer.fingerprint}",
        "suite": f"{passport.suite} {passport.suite_version}",
        "suite_digest": passport.suite_digest,
        "lossless": _truth(passport.lossless),
        "engine_version": passport.engine_version,
        "hardware": passport.hardware,
    }


def _truth(value: bool) -> str:
    return str(value).lower()


def contrast_rows(comparison: Comparison) -> list[Row]:
    """A row a contrast of every pair, and one for each reason why something was not contrasted."""
    rows: list[Row] = []
    for pair in comparison.pairs:
        about: Row = {"run": pair.run, "against": pair.against}
        rows += [
            about | {"figure": each.id, "part": _part(each.part), "kind": each.kind} | _estimate(each.estimate, "point") for each in pair.contrasts
        ]
        rows += [about | {"kind": "refused", "reason": say(said)} for said in pair.refused]
    if not comparison.pairs:
        first, second = (report.run for report in comparison.reports[:2])
        rows += [{"run": first, "against": second, "kind": "refused", "reason": say(said)} for said in comparison.refused]
    return rows


def _part(part: dict[str, str]) -> str:
    return ";".join(f"{name}={value}" for name, value in part.items())


def rows_csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Rows under their columns; what a row does not have is empty."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([_cell(row.get(column)) for column in columns] for row in rows)
    return out.getvalue()


def _cell(value: Value) -> str:
    """Text that a spreadsheet would run gets an apostrophe before it; numbers are numbers, their minus stays."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_DANGEROUS) else value
    return repr(value)
