"""All SQL about runners and their offers."""

import hashlib
import json
from typing import Any

from sqlalchemy import Row, func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.catalogue import Offer
from app.domain.spec import ModelSource
from app.domain.status import RunState
from app.queue.leases import LIVE
from app.runners_registry.schemas import KnownRunner
from app.storage.fact_tables import preflights
from app.storage.probe_tables import probes
from app.storage.tables import attempts, offers, runners, runs, suites, tokens
from app.storage.view import View

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


async def known(connection: AsyncConnection, view: View) -> list[KnownRunner]:
    """Every runner that may measure for somebody of the view and whose token is not revoked, with its newest offer."""
    newest = select(offers.c.runner_id, offers.c.offer).ext(distinct_on(offers.c.runner_id))
    newest = newest.order_by(offers.c.runner_id, offers.c.published_at.desc())
    latest = newest.subquery()
    at_it = (attempts.c.state.in_(LIVE), attempts.c.runner_id == runners.c.id)
    probing = (probes.c.state == RunState.RUNNING, probes.c.runner_id == runners.c.id)
    busy = or_(select(attempts.c.id).where(*at_it).exists(), select(probes.c.id).where(*probing).exists()).label("busy")
    probe = select(func.min(probes.c.id)).where(*probing, view.of(probes)).scalar_subquery().label("probe")
    # Runs that are measured side by side are one project's; the first of them stands for all.
    shown = select(func.min(runs.c.id)).select_from(attempts.join(runs, runs.c.id == attempts.c.run_id)).where(*at_it, view.of(runs))
    joined = runners.join(tokens).join(latest, latest.c.runner_id == runners.c.id)
    live = (runners.c.last_seen > func.now() - func.make_interval(0, 0, 0, 0, 0, 0, LIVE_SECONDS)).label("live")
    serving = view.with_common(tokens)
    columns = (runners.c.id, runners.c.name, runners.c.last_seen, live, busy, shown.scalar_subquery().label("run"), probe, latest.c.offer)
    rows = await connection.execute(select(*columns).select_from(joined).where(tokens.c.revoked_at.is_(None), serving).order_by(runners.c.id))
    return [KnownRunner.model_validate(dict(row._mapping)) for row in rows]


async def layers_of(connection: AsyncConnection, view: View, model: ModelSource, digest: str | None) -> set[int]:
    """How many layers runs found in the weights of this digest; without a digest, what the model had last."""
    if digest is None:
        last = await layers(connection, view, model)
        return set() if last is None else {last}
    joined = preflights.join(attempts).join(runs, runs.c.id == attempts.c.run_id)
    same = (preflights.c.fact["weights_digest"].astext == digest, view.of(runs))
    return {int(found) for found in await connection.scalars(select(preflights.c.fact["layers"]).select_from(joined).where(*same).distinct())}


async def layers(connection: AsyncConnection, view: View, model: ModelSource) -> int | None:
    """How many layers a model had when it was loaded last; None where it never was, or lies in a folder, where it may be another one by now."""
    if model.source == "path":
        return None
    same = runs.c.spec["model"].op("-")("dtype") == model.model_dump(mode="json", exclude={"dtype"})
    query = select(preflights.c.fact["layers"]).select_from(preflights.join(attempts).join(runs, runs.c.id == attempts.c.run_id))
    found = await connection.scalar(query.where(runs.c.model == model.title, same, view.of(runs)).order_by(preflights.c.attempt_id.desc()).limit(1))
    return None if found is None else int(found)
