"""Arrays as the database sends them, read without a parsed value for each number."""

import pytest
from sqlalchemy import func, literal_column, select

from app.storage.binary import AT_ONCE, DOUBLES, SMALLINTS, batches_of, values_of
from app.storage.database import Database

ARRAYS = "'{1,-2,32767}'::smallint[], '{}'::smallint[], NULL::smallint[], '{7}'::smallint[]"


async def first(database: Database, columns: str) -> tuple[bytes | None, ...]:
    async with database.transaction() as connection:
        ((row,),) = [batch async for batch in batches_of(connection, select(literal_column(columns)))]
    found: tuple[bytes | None, ...] = row
    return found


async def test_values_come_one_under_the_other(database: Database) -> None:
    """Catches an empty array that is read from its head, an absent one that shifts the others, and digits that are lost."""
    values, lengths = values_of(await first(database, ARRAYS), SMALLINTS)
    assert (values.tolist(), lengths.tolist()) == ([1, -2, 32767, 7], [3, 0, 0, 1])
    values, lengths = values_of(await first(database, "'{1e-300,0.1,0.30000000000000004}'::double precision[]"), DOUBLES)
    assert (values.tolist(), lengths.tolist()) == ([1e-300, 0.1, 0.30000000000000004], [3])
    assert [each.tolist() for each in values_of((), DOUBLES)] == [[], []]


@pytest.mark.parametrize("array", ["'{1,NULL,3}'", "'{NULL,NULL}'", "'{NULL}'", "'{NULL,NULL,NULL}'"])
async def test_a_null_within_is_no_number(database: Database, array: str) -> None:
    """Catches an element that is not there and is read as the bytes of its neighbour."""
    for kind, oid in (("smallint[]", SMALLINTS), ("double precision[]", DOUBLES)):
        with pytest.raises(ValueError, match="NULL"):
            values_of(await first(database, f"{array}::{kind}"), oid)


async def test_every_row_comes_once_and_in_order(database: Database) -> None:
    """Catches a batch that is lost or told twice where one ends, and the next one that is asked for behind the last."""
    n = func.generate_series(1, 2 * AT_ONCE).column_valued("n")
    rows = select(n)
    async with database.transaction() as connection:
        found = [row for batch in [batch async for batch in batches_of(connection, rows)] for (row,) in batch]
        again = [batch async for batch in batches_of(connection, rows.where(n < 0))]
    assert found == list(range(1, 2 * AT_ONCE + 1))
    assert again == []
