"""Columns of many rows, each as one value in which the database has put its numbers one behind the other: nobody parses them one by one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGconn
from sqlalchemy import Column, ColumnElement, Double, Integer, cast, func, literal_column, select
from sqlalchemy import text as sql
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.asyncio import AsyncConnection

from app.errors import DatabaseUnavailable

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
T = TypeVar("T")

# An array of the database in the format of array_send, all big-endian: a head, which is shorter where nothing follows, and of each element its size
# and its value.
HEAD, EMPTY_HEAD = 20, 12
SMALLINTS = np.dtype([("size", ">i4"), ("value", ">i2")])
DOUBLES = np.dtype([("size", ">i4"), ("value", ">f8")])
# Between two texts, neither of which can hold a NUL; and what is no text in UTF-8 stands for an absent one.
BETWEEN, ABSENT = b"\0", b"\xff"
PLANNED = ("enable_sort", "enable_incremental_sort", "jit")


@dataclass(frozen=True)
class Packed:
    """Columns that the database puts together, and what `unpack` makes of their bytes: b"" where there is no row."""

    columns: tuple[ColumnElement[Any], ...]
    unpack: Callable[..., Any]


class Wire:
    """A connection to be asked by one thread at a time."""

    def __init__(self, connection: PGconn, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def ask(self, packed: Mapping[str, Packed], *where: ColumnElement[bool]) -> dict[str, tuple[bytes, ...]]:
        """The bytes of the columns, over all rows for which all of `where` holds. Raises the driver's errors."""
        statement = select(*(column for each in packed.values() for column in each.columns)).where(*where)
        text = str(statement.compile(dialect=self._dialect, compile_kwargs={"literal_binds": True}))
        result = self._connection.exec_params(text.encode(), None, result_format=Format.BINARY)
        if result.status != ExecStatus.TUPLES_OK:
            lost = self._connection.status == ConnStatus.BAD
            raise psycopg.OperationalError("the connection is lost") if lost else error_from_result(result)
        values = iter([result.get_value(0, at) or b"" for at in range(result.nfields)])
        return {name: tuple(next(values) for _ in each.columns) for name, each in packed.items()}


def unpack(packed: Mapping[str, Packed], told: Mapping[str, tuple[bytes, ...]]) -> dict[str, Any]:
    return {name: each.unpack(*told[name]) for name, each in packed.items()}


@asynccontextmanager
async def hashing(connection: AsyncConnection) -> AsyncIterator[None]:
    """Within it groups are found by hashing: of a group by many columns the planner expects about as many groups as rows, and would sort them all."""
    for name in PLANNED:
        await connection.execute(sql(f"SET LOCAL {name} = off"))
    yield
    for name in PLANNED:
        await connection.execute(sql(f"SET LOCAL {name} TO DEFAULT"))


async def in_thread(connections: Sequence[AsyncConnection], work: Callable[..., T]) -> T:
    """What `work` makes of these connections, a Wire each, in a thread, which nothing cuts short: until it ends they are its own.

    Raises DatabaseUnavailable.
    """
    drivers: list[Any] = [(await each.get_raw_connection()).driver_connection for each in connections]
    wires = [Wire(driver.pgconn, each.dialect) for driver, each in zip(drivers, connections, strict=True)]
    async with AsyncExitStack() as locks:
        for driver in drivers:
            await locks.enter_async_context(driver.lock)
        working = asyncio.create_task(asyncio.to_thread(work, *wires))
        try:
            return await asyncio.shield(working)
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise DatabaseUnavailable() from error
        finally:
            await asyncio.wait([working])


def whole(column: ColumnElement[int], kind: str = "int4") -> Packed:
    """Whole numbers of a column without NULL, `[rows]`; `kind` is the widest that it may hold."""
    width = {"int4": ">i4", "int8": ">i8"}[kind]
    return Packed((joined(getattr(func, f"{kind}send")(column)),), lambda body: np.frombuffer(body, dtype=width).astype(np.int64))


def number(column: ColumnElement[Any], like: Column[Any]) -> Packed:
    """Numbers of a column that is as `like`, as float64, `[rows]`; NaN where there is none."""
    if isinstance(like.type, Integer) and not like.nullable:
        return Packed((joined(func.int4send(column)),), lambda body: np.frombuffer(body, dtype=">i4").astype(np.float64))
    value = column if isinstance(like.type, Double) else cast(cast(column, Integer), Double)
    sent = func.float8send(func.coalesce(value, literal_column("'NaN'::float8")) if like.nullable else value)
    return Packed((joined(sent),), lambda body: np.frombuffer(body, dtype=">f8").astype(np.float64))


def text(column: ColumnElement[str]) -> Packed:
    """The bytes of each text in UTF-8, ABSENT where there is none."""
    sent = func.coalesce(func.convert_to(column, "UTF8"), literal_column(rf"'\x{ABSENT.hex()}'::bytea"))
    return Packed((func.int8send(func.count()), joined(sent, BETWEEN)), lambda rows, body: body.split(BETWEEN) if any(rows) else [])


def arrays(column: ColumnElement[Sequence[float]], kind: np.dtype[Any]) -> Packed:
    """(values of all arrays, one under the other; how many each has, −1 where there is none)."""
    size = func.coalesce(func.cardinality(column), -1)
    return Packed((joined(func.int4send(size)), joined(func.array_send(column))), lambda sizes, body: _arrays(sizes, body, kind))


def joined(value: ColumnElement[Any], between: bytes = b"") -> ColumnElement[Any]:
    """The bytes of all rows, in the order in which the database comes upon them: the same for all columns of a statement."""
    return func.string_agg(value, literal_column(rf"'\x{between.hex()}'::bytea"))


def _arrays(sizes: bytes, body: bytes, kind: np.dtype[Any]) -> tuple[Array, Whole]:
    """Raises ValueError where an element is NULL."""
    lengths = np.frombuffer(sizes, dtype=">i4").astype(np.int64)
    told = lengths[lengths >= 0]
    bytes_each = np.where(told > 0, HEAD + told * kind.itemsize, EMPTY_HEAD)
    if bytes_each.sum() != len(body):
        raise ValueError("an array of the database holds a NULL")
    elements = _without_heads(body, bytes_each, told > 0, kind)
    if (elements["size"] != kind["value"].itemsize).any():
        raise ValueError("an array of the database holds a NULL")
    return elements["value"].astype(np.float64), lengths


def _without_heads(body: bytes, bytes_each: Whole, filled: NDArray[np.bool_], kind: np.dtype[Any]) -> NDArray[Any]:
    """By the widest unit of which heads and elements are whole numbers."""
    unit = np.gcd(kind.itemsize, 4)
    units = np.frombuffer(body, dtype=f"u{unit}")
    starts = (np.cumsum(bytes_each) - bytes_each) // unit
    kept = np.ones(len(units), dtype=bool)
    kept[(starts[:, None] + np.arange(EMPTY_HEAD // unit)).ravel()] = False
    kept[(starts[filled, None] + np.arange(EMPTY_HEAD // unit, HEAD // unit)).ravel()] = False
    return units[kept].view(kind)
