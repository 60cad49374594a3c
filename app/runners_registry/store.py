"""All SQL about runners and their offers."""

import hashlib
import json
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.catalogue import Offer
from app.queue.leases import LIVE
from app.runners_registry.schemas import KnownRunner
from app.storage.tables import attempts, offers, runners, suites, tokens

LIVE_SECONDS = 60.0


async def publish(connection: AsyncConnection, token: int, name: str, offer: Offer) -> None:
    """The runner of this token now offers this. Suites are remembered by digest."""
    now = func.clock_timestamp()
    made = insert(runners).values(token_id=token, name=name)
    made = made.on_conflict_do_update(index_elements=["token_id"], set_={"name": name, "last_seen": now})
    runner = (await connection.execute(made.returning(runners.c.id))).scalar_one()
    body = offer.model_dump(mode="json", by_alias=True)
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    row = insert(offers).values(runner_id=runner, digest=digest, offer=body)
    await connection.execute(row.on_conflict_do_update(index_elements=["runner_id", "digest"], set_={"published_at": now}))
    for suite in offer.suites:
        await connection.execute(insert(suites).values(suite.model_dump(mode="json")).on_conflict_do_nothing())


async def lock(connection: AsyncConnection, token: int) -> Row[Any] | None:
    """The runner of this token, locked and noted as seen; None when it has never published an offer."""
    row = (await connection.execute(select(runners).where(runners.c.token_id == token).with_for_update())).one_or_none()
    if row is not None:
        await connection.execute(runners.update().where(runners.c.id == row.id).values(last_seen=func.clock_timestamp()))
    return row


async def offer_of(connection: AsyncConnection, runner: int) -> Offer:
    """The newest offer of a runner that has one."""
    found = select(offers.c.offer).where(offers.c.runner_id == runner).order_by(offers.c.published_at.desc()).limit(1)
    return Offer.model_validate((await connection.execute(found)).scalar_one())


async def known(connection: AsyncConnection) -> list[KnownRunner]:
    """Every runner whose token is not revoked, with its newest offer."""
    newest = select(offers.c.runner_id, offers.c.offer).ext(distinct_on(offers.c.runner_id))
    newest = newest.order_by(offers.c.runner_id, offers.c.published_at.desc())
    latest = newest.subquery()
    busy = attempts.c.state.in_(LIVE) & (attempts.c.runner_id == runners.c.id)
    joined = runners.join(tokens).join(latest, latest.c.runner_id == runners.c.id).outerjoin(attempts, busy)
    live = (runners.c.last_seen > func.now() - func.make_interval(0, 0, 0, 0, 0, 0, LIVE_SECONDS)).label("live")
    columns = (runners.c.id, runners.c.name, runners.c.last_seen, live, attempts.c.run_id, latest.c.offer)
    rows = await connection.execute(select(*columns).select_from(joined).where(tokens.c.revoked_at.is_(None)).order_by(runners.c.id))
    return [
        KnownRunner(id=row.id, name=row.name, last_seen=row.last_seen, live=row.live, run=row.run_id, offer=Offer.model_validate(row.offer))
        for row in rows
    ]
