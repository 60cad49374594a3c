"""Which rows a query may touch. A query over what belongs to a project takes a View, so that a forgotten one is an error of types."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Table, true

# Where things lie that nobody put anywhere else; it is there before any other.
DEFAULT = "default"


@dataclass(frozen=True)
class View:
    """The rows of one project, or with None those of all."""

    project: str | None

    def of(self, table: Table) -> ColumnElement[bool]:
        """A condition on the rows of a table with a column `project`."""
        column: ColumnElement[Any] = table.c.project
        return true() if self.project is None else column == self.project

    def with_common(self, table: Table) -> ColumnElement[bool]:
        """The same, and the rows of no project, which are everybody's."""
        return table.c.project.is_(None) | self.of(table)


# For the service's own work (sweeping, reports, deliveries), never for an answer to somebody.
ALL = View(None)
