"""What a receiver is told: states, figures with their passports, words of ours. Never a prompt, an answer or what a runner wrote."""

import json
from typing import Any

from app.domain.estimate import Cell
from app.domain.status import RunState
from app.gates.schemas import Check, GateOut
from app.reports.format import say
from app.reports.report import Report
from app.reports.shown import is_refused


def of_run(report: Report, base: str) -> dict[str, Any]:
    """Only of a run that succeeded is more said than how it ended: why one failed is told in a runner's own words, on the page."""
    succeeded = report.state == RunState.SUCCEEDED
    cells: list[Cell] = [cell for id in (report.headline, report.acceptance) if (cell := report.find(id)) is not None] if succeeded else []
    return {
        "state": report.state,
        "language": report.spec.language,
        "engine": report.spec.engine,
        "drafter": report.spec.drafter.name,
        "outcome": report.verdict.outcome if succeeded else None,
        "refused": is_refused(report) if succeeded else None,
        "answer": say(report.answer) if succeeded else None,
        "figures": [cell.model_dump(mode="json") for cell in cells],
        "url": f"{base}/runs/{report.run}",
    }


def of_gate(found: GateOut) -> dict[str, Any]:
    """Without the sentences of single checks, since of a failed run those are its runner's."""
    kept = {"kind", "figure", "part", "unit", "min", "max", "wanted", "answer"}
    checks = [check.model_dump(mode="json", include=kept) | {"estimate": _estimate(check)} for check in found.checks]
    return {
        "baseline": found.baseline,
        "repeat": found.repeat,
        "answer": found.answer,
        "sentence": say(found.sentence),
        "confirmed": found.confirmed,
        "checks": checks,
        "passport": found.passport.model_dump(mode="json") if found.passport is not None else None,
    }


def of_judgement(found: GateOut) -> dict[str, Any]:
    """The same in few words, for the log of the run."""
    named = {"baseline": found.baseline, "repeat": found.repeat}
    checks = [(_bound(check), check.answer) for check in found.checks]
    return {"answer": found.answer, "checks": checks} | {name: run for name, run in named.items() if run is not None}


def _bound(check: Check) -> str:
    """`speedup_end_to_end profile code ≥ 1.2`"""
    part = "".join(f" {name} {value}" for name, value in check.part.items())
    limits = [f" {sign} {limit:g}" for sign, limit in (("≥", check.min), ("≤", check.max)) if limit is not None]
    return f"{check.figure}{part}{''.join(limits)}{f' {check.wanted}' if check.wanted else ''}"


def _estimate(check: Any) -> Any:
    found = check.word.estimate
    return None if found is None else found.model_dump(mode="json", exclude={"reason"})


def text(delivery: int, event: str, run: int, project: str, rest: dict[str, Any]) -> str:
    """The body of a delivery. `delivery` tells a repeated one."""
    return json.dumps({"event": event, "delivery": delivery, "project": project, "run": run, **rest}, ensure_ascii=False, sort_keys=True)
