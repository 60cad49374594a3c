"""What a plot of absolute speeds must say where its runs are of several engines."""

from collections.abc import Sequence

from app.domain.passport import Passport
from app.reports.axes import NAMED_ONLY, canonical
from app.reports.fields import field_name
from app.reports.report import Report
from app.reports.translate import gettext


def apart(reports: Sequence[Report], locale: str) -> str:
    """A sentence behind a caption, with a space before it; empty for runs of one engine."""
    passports = [report.passport for report in reports if report.passport is not None]
    engines = list(dict.fromkeys(f"{found.engine} {found.engine_version}" for found in passports))
    if len({report.spec.engine for report in reports}) < 2:
        return ""
    differing = [name for name in Passport.model_fields if len({canonical(found, name) for found in passports}) > 1 and name not in NAMED_ONLY]
    words = gettext(
        "These are speeds of different engines (%(engines)s): what differs between them is not the drafter alone. In their passports differ: "
        "%(fields)s.",
        locale,
    )
    return " " + words % {"engines": "; ".join(engines), "fields": ", ".join(field_name(name, locale) for name in differing)}
