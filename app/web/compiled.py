"""What was compiled before a run was measured, in words."""

from app.domain.compilation import CompiledShape
from app.reports.format import decimal, duration
from app.reports.report import Report
from app.reports.translate import gettext


def compiled(report: Report, locale: str) -> str | None:
    """The shapes, how long compiling took, and how many steps of the headline's trials ran eager all the same; None where nothing was compiled."""
    found = report.compiled
    if found is None:
        return None
    told = [trial for trial in report.trials if trial.purpose == "headline" and trial.eager_forwards is not None]
    words = gettext("%(shapes)s (rows × tokens: layers), in %(time)s before the warm-up; %(eager)s of %(forwards)s decode steps ran eager", locale)
    return words % {
        "shapes": ", ".join(map(_shape, found.shapes)),
        "time": duration(found.seconds, locale),
        "eager": decimal(sum(trial.eager_forwards or 0 for trial in told), 0, locale),
        "forwards": decimal(sum(trial.forwards or 0 for trial in told), 0, locale),
    }


def _shape(shape: CompiledShape) -> str:
    return f"{shape.rows} × {shape.positions}: {shape.first}–{shape.last - 1}"
