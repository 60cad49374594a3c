"""The composition root: what the service is made of, and in which order it starts and stops."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from app import errors
from app.access.deeds import Deeds
from app.access.middleware import BodyLimit, Headers, Hosts
from app.access.routes import router as access_router
from app.access.service import Access
from app.access.users import Users
from app.attempts.leasing import Leasing
from app.attempts.routes import router as attempts_router
from app.attempts.service import Attempts
from app.badges.routes import router as badges_router
from app.campaigns.routes import router as campaigns_router
from app.claims.routes import router as claims_router
from app.claims.service import Claims
from app.comparisons.routes import router as comparisons_router
from app.comparisons.service import Comparisons
from app.errors import DatabaseUnavailable
from app.gates.routes import router as gates_router
from app.gates.service import Gates
from app.hooks.courier import Courier
from app.hooks.routes import router as hooks_router
from app.hooks.service import Hooks
from app.imports.routes import router as imports_router
from app.imports.service import Imports
from app.landscape.routes import router as landscape_router
from app.landscape.service import Board
from app.languages.routes import router as languages_router
from app.languages.service import Tongues
from app.line.routes import router as line_router
from app.line.service import Line
from app.methodology.routes import router as methodology_router
from app.operations.meters import Meters
from app.operations.middleware import Requests
from app.operations.routes import router as operations_router
from app.operations.service import Gauges
from app.probes.routes import router as probes_router
from app.probes.service import Probes
from app.queue.sweeper import Sweeper
from app.responses import SpokenResponse
from app.runners_registry.routes import router as runners_router
from app.runners_registry.service import Registry
from app.runs.campaigns import Campaigns
from app.runs.figures import Figures
from app.runs.relatives import Relatives
from app.runs.retention import PERIOD_SECONDS, Retention
from app.runs.routes import router as runs_router
from app.runs.service import Runs
from app.settings import Settings
from app.storage.database import Database, address, first_words
from app.storage.embedded import EmbeddedPostgres
from app.storage.host import EmbeddedError
from app.storage.migrate import migrate
from app.storage.notifications import Notifications
from app.suites.routes import router as suites_router
from app.suites.service import Suites
from app.web.errors import error_page
from app.web.pages import router as pages_router

logger = logging.getLogger(__name__)
# The courier waits for messages by itself; this is only what it rests between two rounds.
PAUSE_SECONDS = 0.2
PROBLEM = {"description": "RFC 9457 problem", "content": {"application/problem+json": {}}}
# How soon an embedded Postgres that was killed is started anew.
REVIVE_SECONDS = 2.0


def create_app(settings: Settings | None = None) -> FastAPI:
    settings = settings or Settings()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(app, settings):
            yield

    app = FastAPI(
        title="Bezmen",
        version=version("bezmen"),
        summary="Weighs speculative decoding on your hardware, in your language, under your load.",
        lifespan=lifespan,
        # The usual pages load their scripts from elsewhere; the description itself is enough for tools.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        responses={"4XX": PROBLEM, "5XX": PROBLEM},
        default_response_class=SpokenResponse,
    )
    app.state.settings = settings
    for router in (
        runs_router,
        campaigns_router,
        comparisons_router,
        suites_router,
        imports_router,
        runners_router,
        attempts_router,
        probes_router,
        access_router,
        line_router,
        languages_router,
        claims_router,
        landscape_router,
        methodology_router,
        gates_router,
        badges_router,
        hooks_router,
        operations_router,
        pages_router,
    ):
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "web" / "static"), name="static")
    errors.install(app, error_page)
    # The last one added is the outermost.
    app.add_middleware(BodyLimit)
    app.add_middleware(Hosts, hosts=settings.hosts)
    app.add_middleware(Headers)
    app.state.meters = Meters()
    app.add_middleware(Requests, meters=app.state.meters)
    return app


@contextlib.asynccontextmanager
async def running(app: FastAPI, settings: Settings) -> AsyncIterator[None]:
    """Database, schema, services and sweeper, up and down in this order."""
    async with contextlib.AsyncExitStack() as stack:
        database = await _database(app, stack, settings)
        await _migrate(app, database)
        notifications = Notifications(database.url)
        await notifications.start()
        stack.push_async_callback(notifications.close)
        _furnish(app, settings, database, notifications)
        await app.state.access.ensure_default()
        await app.state.claims.enter_published()
        if settings.embedded:
            await app.state.access.ensure_own(settings)
        sweeper = Sweeper(database, settings.lease_seconds, settings.run_seconds)
        retention = Retention(database, settings.keep_facts_days)
        for work in (retention.sweep, app.state.hooks.prune):
            stack.push_async_callback(_end, asyncio.create_task(_again_and_again(work, PERIOD_SECONDS)))
        for work in (sweeper.sweep, app.state.probes.sweep, app.state.users.sweep, app.state.runs.prepare_reports):
            stack.push_async_callback(_end, asyncio.create_task(_again_and_again(work, sweeper.period)))
        stack.push_async_callback(_end, asyncio.create_task(_again_and_again(app.state.courier.work, PAUSE_SECONDS)))
        yield


async def _database(app: FastAPI, stack: contextlib.AsyncExitStack, settings: Settings) -> Database:
    if settings.database_url is not None:
        database = Database(address(settings.database_url.get_secret_value()))
    else:
        postgres = EmbeddedPostgres(settings.data)
        await asyncio.to_thread(_start, app, postgres)
        stack.push_async_callback(asyncio.to_thread, postgres.stop)
        stack.push_async_callback(_end, asyncio.create_task(_again_and_again(lambda: _revive(postgres), REVIVE_SECONDS)))
        database = Database(postgres.url())
    stack.push_async_callback(database.close)
    return database


async def _revive(postgres: EmbeddedPostgres) -> None:
    """Nobody else starts a Postgres of our own again that something killed."""
    try:
        if await asyncio.to_thread(postgres.revive):
            logger.warning("the embedded Postgres was killed; it runs again")
    except EmbeddedError as error:
        logger.warning("the embedded Postgres was killed and does not start: %s", error)


async def _migrate(app: FastAPI, database: Database) -> None:
    try:
        await migrate(database)
    except DatabaseUnavailable as error:
        app.state.failure = f"The database of DATABASE_URL does not answer: {first_words(error)}"
        raise


def _start(app: FastAPI, postgres: EmbeddedPostgres) -> None:
    try:
        postgres.start()
    except EmbeddedError as error:
        app.state.failure = str(error)
        raise


def _furnish(app: FastAPI, settings: Settings, database: Database, notifications: Notifications) -> None:
    suites = Suites(database, uploads_per_token=settings.uploads_per_token)
    registry = Registry(database, suites, tokens_per_run=settings.tokens_per_run)
    runs = Runs(database, registry, notifications, queued_per_token=settings.queued_per_token)
    app.state.database = database
    app.state.notifications = notifications
    app.state.access = Access(database)
    app.state.users = Users(database)
    app.state.deeds = Deeds(database)
    app.state.suites = suites
    app.state.registry = registry
    app.state.runs = runs
    app.state.figures = Figures(database, runs)
    app.state.campaigns = Campaigns(database, registry, runs, queued_per_token=settings.queued_per_token)
    app.state.probes = Probes(
        database, registry, queued_per_token=settings.queued_per_token, lease_seconds=settings.lease_seconds, beat_seconds=settings.beat_seconds
    )
    app.state.imports = Imports(database, uploads_per_token=settings.uploads_per_token)
    app.state.relatives = Relatives(database)
    app.state.comparisons = Comparisons(runs)
    app.state.gates = Gates(runs, app.state.comparisons)
    app.state.hooks = Hooks(database, settings.webhook_networks, keep_days=settings.keep_deliveries_days)
    app.state.courier = Courier(database, runs, notifications, settings.webhook_networks, settings.base_url)
    app.state.gauges = Gauges(database, registry)
    app.state.line = Line(database, registry, runs)
    app.state.claims = Claims(database)
    app.state.tongues = Tongues(database)
    app.state.board = Board(app.state.claims, app.state.tongues)
    app.state.leasing = Leasing(
        database, registry, suites, notifications, lease_seconds=settings.lease_seconds, beat_seconds=settings.beat_seconds
    )  # fmt: skip
    app.state.attempts = Attempts(database, registry, suites, lease_seconds=settings.lease_seconds, meters=app.state.meters)


async def _again_and_again(work: Callable[[], Awaitable[object]], period: float) -> None:
    """For as long as the service lives. One round that fails must not be the last: leases would never end any more."""
    while True:
        try:
            await work()
        except DatabaseUnavailable as error:
            logger.warning("%s", error.detail)
        except Exception:
            logger.exception("a round of %s failed", work.__qualname__)
        await asyncio.sleep(period)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
