"""Many rows as the driver holds them: without a parsed value for every number of every array."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.types.string import ByteaBinaryLoader
from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.errors import DatabaseUnavailable

# Arrays of smallint and of double precision: in the format of array_send a head, and of each element its size and its value, all big-endian.
SMALLINTS, DOUBLES = 1005, 1022
HEAD = 20
ELEMENTS = {SMALLINTS: np.dtype([("size", ">i4"), ("value", ">i2")]), DOUBLES: np.dtype([("size", ">i4"), ("value", ">f8")])}
# Rows of a batch: as many as a processor's cache holds.
AT_ONCE = 2000


async def batches_of(connection: AsyncConnection, statement: Select[Any]) -> AsyncGenerator[list[tuple[Any, ...]]]:
    """The rows of a statement, arrays of ELEMENTS as bytes; the server goes on while a batch is looked at. Whoever may stop
    before the last one closes it. Raises DatabaseUnavailable."""
    driver: Any = (await connection.get_raw_connection()).driver_connection
    compiled = statement.compile(dialect=connection.dialect)
    try:
        async with driver.cursor("batches") as cursor:
            for oid in ELEMENTS:
                cursor.adapters.register_loader(oid, ByteaBinaryLoader)
            await cursor.execute(str(compiled), compiled.params, binary=True)
            coming = asyncio.create_task(cursor.fetchmany(AT_ONCE))
            try:
                while batch := await coming:
                    coming = asyncio.create_task(cursor.fetchmany(AT_ONCE))
                    yield batch
            finally:
                await asyncio.gather(coming, return_exceptions=True)
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise DatabaseUnavailable() from error


def values_of(arrays: Sequence[bytes | None], oid: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(values, one under the other; how many of each array); an absent array has none. Raises ValueError where an element is NULL."""
    kind = ELEMENTS[oid]
    lengths = np.array([0 if each is None else max(len(each) - HEAD, 0) for each in arrays], dtype=np.int64)
    body = b"".join([each[HEAD:] for each in arrays if each is not None])
    if (lengths % kind.itemsize).any():
        raise ValueError("an array of the database holds a NULL")
    elements = np.frombuffer(body, dtype=kind)
    if (elements["size"] != kind["value"].itemsize).any():
        raise ValueError("an array of the database holds a NULL")
    return elements["value"].astype(np.float64), lengths // kind.itemsize
