"""Kinds of columns and rules that most tables share, and the naming of constraints."""

from sqlalchemy import BigInteger, CheckConstraint, Column, DateTime, ForeignKey, Identity, Integer, MetaData, Text, func

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def identity() -> Column[int]:
    return Column("id", BigInteger, Identity(always=True), primary_key=True)


def time(name: str, *, now: bool = False) -> Column[object]:
    kind = DateTime(timezone=True)
    return Column(name, kind, server_default=func.clock_timestamp(), nullable=False) if now else Column(name, kind)


def text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def count(name: str, *, nullable: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=nullable)


def project(*, every: bool = False) -> Column[str]:
    """Whose a row is; where `every`, NULL stands for all projects. It has no default: a row that nobody places is refused."""
    return Column("project", ForeignKey("projects.name"), nullable=every, index=True)


def filled(*names: str) -> list[CheckConstraint]:
    return [CheckConstraint(f"btrim({name}) <> ''", name=f"{name}_given") for name in names]


def one_of(column: str, values: list[str]) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")
