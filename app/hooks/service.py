"""Webhooks: who wants to be told, and what became of it."""

from collections.abc import Sequence
from typing import Any

from fastapi import Request

from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.errors import NotFound, TooMany
from app.gates.schemas import GateOut
from app.hooks import bodies, store
from app.hooks.addresses import Network, target
from app.hooks.schemas import DeliveryOut, WebhookIn, WebhookMade, WebhookOut
from app.hooks.signature import make_secret
from app.queue import outbox
from app.storage.database import Database
from app.storage.journal import append

LARGEST = 2**63 - 1
MOST = 20
# Deliveries in one transaction.
PRUNED = 500
MADE, REMOVED, JUDGED = "webhook made", "webhook removed", "gate"


class NoSuchWebhook(NotFound):
    """There is no such webhook"""


class Hooks(Seen):
    def __init__(self, database: Database, networks: Sequence[Network], *, keep_days: int) -> None:
        self._database = database
        self._networks = networks
        self._keep_days = keep_days

    async def add(self, asked: WebhookIn, *, principal: Principal) -> WebhookMade:
        """Raises Unreachable for an address that may not be called, TooMany."""
        where = await target(asked.url, self._networks)
        secret = make_secret()
        async with self._database.transaction() as connection:
            if len(await store.live(connection, principal.view)) >= MOST:
                raise TooMany(f"A project may have {MOST} webhooks; remove one first.")
            made = await store.add(connection, principal.home, asked.url, asked.events, secret, principal.name)
            # The host alone: a path may be a secret of the receiver's.
            await append(connection, None, MADE, principal.name, project=principal.home, webhook=str(made.id), host=where.host)
        return WebhookMade(**made.model_dump(), secret=secret)

    async def listed(self) -> list[WebhookOut]:
        async with self._database.transaction() as connection:
            return await store.live(connection, self.view)

    async def remove(self, webhook: int, *, principal: Principal) -> None:
        """Raises NoSuchWebhook."""
        async with self._database.transaction() as connection:
            project = await store.remove(connection, self.view, webhook) if 0 < webhook <= LARGEST else None
            if project is None:
                raise _missing(webhook)
            await append(connection, None, REMOVED, principal.name, project=project, webhook=str(webhook))

    async def log(self, webhook: int, limit: int) -> list[DeliveryOut]:
        """Raises NoSuchWebhook."""
        async with self._database.transaction() as connection:
            if not (0 < webhook <= LARGEST and await store.exists(connection, self.view, webhook)):
                raise _missing(webhook)
            return await store.log(connection, webhook, limit)

    async def prune(self) -> None:
        """Takes deliveries out of the log that ended long ago."""
        gone = PRUNED
        while gone == PRUNED:
            async with self._database.transaction() as connection:
                gone = await store.prune(connection, self._keep_days, PRUNED)

    async def announce(self, found: GateOut, *, principal: Principal) -> None:
        """Tells of a gate that has been judged, and writes it down among what happened to its run, where it stays."""
        subject: dict[str, Any] = bodies.of_gate(found)
        async with self._database.transaction() as connection:
            await store.lock_run(connection, found.run)
            await append(connection, found.run, JUDGED, principal.name, **bodies.of_judgement(found))
            await outbox.announce(connection, found.run, f"gate.{found.answer.replace(' ', '-')}", subject)


def _missing(webhook: int) -> NoSuchWebhook:
    return NoSuchWebhook(f"There is no webhook {webhook}.")


def hooks_service(request: Request, who: Who) -> Hooks:
    return narrowed(request, Hooks, who)
