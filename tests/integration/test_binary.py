"""Columns as the database puts them together, read without a parsed value for each number."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Boolean, Column, Double, Integer, func, literal_column, select, union_all

from app.errors import DatabaseUnavailable
from app.storage import binary
from app.storage.binary import ABSENT, DOUBLES, SMALLINTS, Packed, Wire, hashing, in_thread, unpack
from app.storage.database import Database


def several(*written: str) -> Any:
    """A column of these values, a row each."""
    return union_all(*(select(literal_column(each).label("it")) for each in written)).subquery().c.it


async def told(database: Database, packed: Packed) -> Any:
    asked = {"it": packed}
    async with database.transaction() as connection:
        return (await in_thread((connection,), lambda wire: unpack(asked, wire.ask(asked))))["it"]


async def test_values_come_one_under_the_other(database: Database) -> None:
    """Catches an empty array that is read from its head, an absent one that shifts the others, and digits that are lost."""
    smallints = several("'{1,-2,32767}'::smallint[]", "'{}'", "NULL", "'{7}'")
    values, lengths = await told(database, binary.arrays(smallints, SMALLINTS))
    assert (values.tolist(), lengths.tolist()) == ([1, -2, 32767, 7], [3, 0, -1, 1])
    values, lengths = await told(database, binary.arrays(several("'{}'::float8[]", "'{1e-300,0.1,0.30000000000000004}'"), DOUBLES))
    assert (values.tolist(), lengths.tolist()) == ([1e-300, 0.1, 0.30000000000000004], [0, 3])


@pytest.mark.parametrize("array", ["'{1,NULL,3}'", "'{NULL,NULL}'", "'{NULL}'", "'{NULL,NULL,NULL}'"])
async def test_a_null_within_is_no_number(database: Database, array: str) -> None:
    """Catches an element that is not there and is read as the bytes of its neighbour."""
    for kind, elements in (("smallint[]", SMALLINTS), ("float8[]", DOUBLES)):
        with pytest.raises(ValueError, match="NULL"):
            await told(database, binary.arrays(several(f"{array}::{kind}", "'{1,2,3,4,5,6}'"), elements))


async def test_an_absent_number_or_text_keeps_its_place(database: Database) -> None:
    """Catches a NULL that vanishes and moves those behind it up, one that becomes 0, and an empty text that is taken for none."""
    nullable, wide = Column("it", Integer), Column("it", Double)
    found = await told(database, binary.number(several("3", "NULL", "2147483647"), nullable))
    assert np.array_equal(found, [3, np.nan, 2147483647], equal_nan=True)
    found = await told(database, binary.number(several("0.1::float8", "NULL", "1e-300"), wide))
    assert np.array_equal(found, [0.1, np.nan, 1e-300], equal_nan=True)
    found = await told(database, binary.number(several("true", "NULL", "false"), Column("it", Boolean)))
    assert np.array_equal(found, [1, np.nan, 0], equal_nan=True)
    assert await told(database, binary.text(several("'весы'", "''", "NULL", "'ÿ'"))) == ["весы".encode(), b"", ABSENT, "ÿ".encode()]
    assert await told(database, binary.text(several("''"))) == [b""]


async def test_no_row_is_no_value(database: Database) -> None:
    """Catches an answer without rows that is read as one empty text or array."""
    none = select(literal_column("'{}'::smallint[]").label("a"), literal_column("''").label("t")).where(literal_column("false")).subquery().c
    assert [part.tolist() for part in await told(database, binary.arrays(none.a, SMALLINTS))] == [[], []]
    assert await told(database, binary.text(none.t)) == []
    assert (await told(database, binary.whole(func.length(none.t)))).tolist() == []


async def test_a_refused_statement_says_why(database: Database) -> None:
    """Catches an error of the database that is read as an answer."""
    with pytest.raises(Exception, match="division by zero"):
        await told(database, binary.whole(several("1/0")))


async def test_who_stops_waiting_leaves_the_connection_whole(database: Database) -> None:
    """Catches a connection that goes back to the pool, and into other hands, while a thread still asks it."""
    ended = []

    def asks(wire: Wire) -> None:
        wire.ask({"it": binary.whole(several("(SELECT 1 FROM pg_sleep(0.3))"))})
        ended.append(True)

    async def asking(work: Callable[[Wire], None]) -> None:
        async with database.transaction() as connection:
            await in_thread((connection,), work)

    task = asyncio.create_task(asking(asks))
    await asyncio.sleep(0.1)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert ended == [True]
    await database.ping()


async def test_a_lost_connection_is_the_database_away(database: Database) -> None:
    """Catches a server that went away and is reported as a fault of the program."""
    with pytest.raises(DatabaseUnavailable):
        await told(database, binary.whole(several("(SELECT 1 FROM pg_terminate_backend(pg_backend_pid()))")))


async def test_the_planner_is_told_for_as_long_as_it_matters(database: Database) -> None:
    """Catches a setting that does not reach the statements it is meant for, and one that outlives them."""
    sorts = select(func.current_setting("enable_sort"))
    async with database.transaction() as connection:
        async with hashing(connection):
            within = await connection.scalar(sorts)
        after = await connection.scalar(sorts)
    assert (within, after) == ("off", "on")
