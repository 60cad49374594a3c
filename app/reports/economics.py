"""Acceptance beside the acceptance that a round asks for, by the number of drafts (definitions § 2, break_even_acceptance)."""

from collections.abc import Sequence

from app.domain.estimate import Cell, Estimate, Figure
from app.metrics.costs import Costs, needed, usual_round
from app.metrics.frame import Frames
from app.reports.report import Bar, Economics


def economics(frames: Frames, shown: Sequence[Cell]) -> Economics | None:
    """None where the bar or the acceptance is not a figure: their cells say why."""
    bar, accepted = _point(shown, "break_even_acceptance"), _point(shown, "acceptance_rate")
    usual = usual_round(frames)
    if bar is None or bar.point is None or accepted is None or accepted.point is None or usual is None:
        return None
    drafts, sequences = usual
    costs = Costs.of(frames)
    mean = _bar(costs, sequences, drafts)
    bars = [found for n in costs.profiled(sequences) if (found := _bar(costs, sequences, n)) is not None]
    return None if mean is None else Economics(sequences=sequences, mean=mean, bars=tuple(bars), gap=_less(accepted, bar.point))


def _point(shown: Sequence[Cell], id: str) -> Estimate | None:
    return next((cell.pooled for cell in shown if cell.id == id and not cell.part and isinstance(cell, Figure)), None)


def _bar(costs: Costs, sequences: int, drafts: float) -> Bar | None:
    draft, verify = costs.at("draft", sequences, drafts), costs.at("verify", sequences, drafts)
    if draft is None or verify is None:
        return None
    return Bar(drafts=drafts, draft_cost=draft, verify_cost=verify, needed=needed(draft + verify, drafts))


def _less(found: Estimate, bar: float) -> Estimate:
    """An estimate minus a number without spread."""
    moved = {name: None if (value := getattr(found, name)) is None else value - bar for name in ("point", "low", "high")}
    return found.model_copy(update=moved)
