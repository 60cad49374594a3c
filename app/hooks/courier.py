"""Delivers what stands in the outbox, a try at a time, for as long as the service lives.

At least once: a process that dies behind the receiver's answer leaves a delivery that is tried again, with the same body and number.
"""

import time
from collections.abc import Sequence
from datetime import timedelta

from app.errors import AppError
from app.hooks import bodies, store
from app.hooks.addresses import Network, Unreachable, target
from app.hooks.sender import TOTAL_SECONDS, Tried, send
from app.hooks.signature import HEADER, signature
from app.hooks.store import Due
from app.queue import jobs
from app.runs.service import Runs
from app.storage.database import Database
from app.storage.notifications import Notifications

IDLE_SECONDS = 5.0
# After this silence whoever was at a delivery is gone; longer than any try takes.
GONE_SECONDS = 6 * TOTAL_SECONDS
# How long after each try that failed the next one comes; behind the last one the delivery is given up.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (10, 30, 120, 600, 1800, 7200, 21600))


class Courier:
    """`runs` sees every project: a delivery goes to webhooks of its run's project alone."""

    def __init__(self, database: Database, runs: Runs, notifications: Notifications, networks: Sequence[Network], base: str) -> None:
        self._database = database
        self._runs = runs
        self._notifications = notifications
        self._networks = networks
        self._base = base
        self._worker: int | None = None
        self._adopts_at = 0.0

    async def work(self) -> None:
        """One round: waits for something to happen, then delivers whatever is due."""
        await self._notifications.wait("queue", IDLE_SECONDS)
        if time.monotonic() > self._adopts_at:
            self._adopts_at = time.monotonic() + IDLE_SECONDS
            async with self._database.transaction() as connection:
                await store.adopt(connection, GONE_SECONDS)
        while not self._notifications.stopping.is_set() and await self.deliver():
            pass

    async def deliver(self) -> bool:
        """One try of one delivery; False when nothing is due."""
        async with self._database.transaction() as connection:
            if self._worker is None:
                self._worker = await jobs.register_worker(connection)
            await jobs.beat(connection, self._worker)
            due = await store.take(connection, self._worker)
        if due is None:
            return False
        tried = await self._try(due)
        async with self._database.transaction() as connection:
            await store.record(connection, due, tried, PAUSES[due.tried] if due.tried < len(PAUSES) else None)
        return True

    async def _try(self, due: Due) -> Tried:
        began = time.monotonic()
        try:
            body = (due.body or await self._compose(due)).encode("utf-8", "backslashreplace")
            where = await target(due.url, self._networks)
        except Unreachable as error:
            return Tried(None, error.detail, time.monotonic() - began)
        except AppError as error:
            return Tried(None, f"the body could not be written: {error.detail}", time.monotonic() - began)
        headers = {HEADER: signature(due.secret, int(time.time()), body), "Bezmen-Event": due.event, "Bezmen-Delivery": str(due.delivery)}
        return await send(where, body, headers)

    async def _compose(self, due: Due) -> str:
        rest = due.subject if due.subject is not None else bodies.of_run(await self._runs.report(due.run), self._base)
        body = bodies.text(due.delivery, due.event, due.run, due.project, rest)
        async with self._database.transaction() as connection:
            await store.keep_body(connection, due.delivery, body)
        return body
