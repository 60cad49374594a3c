"""All SQL that writes what a runner saw. Facts are only ever added."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.facts import AnyFact, EnvironmentFact, PreflightFact, ProgressFact, RequestFact, TrialFact, WarmupFact
from app.domain.tokenizer import TokenizerIdentity
from app.errors import InvalidInput
from app.queue.leases import Held
from app.storage.fact_tables import batches, preflights, requests, trials
from app.storage.journal import append
from app.storage.tables import attempts, environments, models, runs, tokenizers


class BrokenFacts(InvalidInput):
    """These facts contradict each other or what is there already"""


async def token_hash(connection: AsyncConnection, attempt: int) -> bytes | None:
    found = await connection.scalar(select(attempts.c.token_hash).where(attempts.c.id == attempt))
    return None if found is None else bytes(found)


async def digest_of(connection: AsyncConnection, attempt: int, number: int) -> str | None:
    found = await connection.scalar(select(batches.c.digest).where(batches.c.attempt_id == attempt, batches.c.number == number))
    return None if found is None else str(found)


async def add(connection: AsyncConnection, held: Held, number: int, digest: str, facts: Sequence[AnyFact]) -> None:
    """Everything of one batch. Raises BrokenFacts when a row is there already or breaks a rule of its table."""
    try:
        await connection.execute(insert(batches).values(attempt_id=held.attempt, number=number, digest=digest, facts=len(facts)))
        await connection.execute(update(attempts).where(attempts.c.id == held.attempt).values(batches=number + 1))
        await _rows(connection, requests, held, [fact for fact in facts if isinstance(fact, RequestFact)])
        await _rows(connection, trials, held, [fact for fact in facts if isinstance(fact, TrialFact)])
        for fact in facts:
            await _single(connection, held, fact)
    except IntegrityError as error:
        rule = getattr(getattr(error.orig, "diag", None), "constraint_name", None) or "a rule of the table"
        raise BrokenFacts(f"Batch {number} breaks {rule}: a fact repeats or contradicts another one.") from error


async def _rows(connection: AsyncConnection, table: Any, held: Held, facts: Sequence[RequestFact | TrialFact]) -> None:
    if facts:
        rows = [fact.model_dump(exclude={"kind"}) | {"attempt_id": held.attempt} for fact in facts]
        await connection.execute(insert(table), rows)


async def _single(connection: AsyncConnection, held: Held, fact: AnyFact) -> None:
    match fact:
        case EnvironmentFact():
            await _environment(connection, held, fact)
        case PreflightFact():
            await _preflight(connection, held, fact)
        case WarmupFact():
            await connection.execute(update(attempts).where(attempts.c.id == held.attempt).values(warmup=fact.model_dump(mode="json")))
        case ProgressFact():
            body = fact.model_dump(mode="json", exclude={"kind"})
            await append(connection, held.run, "progress", held.runner, attempt=held.number, **body)
            await connection.execute(update(runs).where(runs.c.id == held.run).values(progress=body))
        case _:
            pass


async def _environment(connection: AsyncConnection, held: Held, fact: EnvironmentFact) -> None:
    body = fact.model_dump(mode="json")
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    await connection.execute(insert(environments).values(digest=digest, device=fact.device, fact=body).on_conflict_do_nothing())
    await connection.execute(update(attempts).where(attempts.c.id == held.attempt).values(environment=digest))


async def _preflight(connection: AsyncConnection, held: Held, fact: PreflightFact) -> None:
    drafter = fact.drafter_tokenizer or fact.tokenizer
    for tokenizer in (fact.tokenizer, drafter):
        await _tokenizer(connection, tokenizer)
    row = {
        "attempt_id": held.attempt,
        "model_id": await _model(connection, fact),
        "tokenizer": fact.tokenizer.fingerprint,
        "drafter_tokenizer": drafter.fingerprint,
        "fact": fact.model_dump(mode="json"),
    }
    await connection.execute(insert(preflights).values(row))


async def _tokenizer(connection: AsyncConnection, tokenizer: TokenizerIdentity) -> None:
    await connection.execute(insert(tokenizers).values(tokenizer.model_dump()).on_conflict_do_nothing())


async def _model(connection: AsyncConnection, fact: PreflightFact) -> int:
    identity = {
        "name": fact.target,
        "revision": fact.revision,
        "weights_digest": fact.weights_digest,
        "dtype": fact.dtype,
        "quantisation": fact.quantisation,
    }
    await connection.execute(insert(models).values(identity).on_conflict_do_nothing())
    same = [models.c[name].is_not_distinct_from(value) for name, value in identity.items()]
    return int((await connection.execute(select(models.c.id).where(*same))).scalar_one())


async def complete(connection: AsyncConnection, attempt: int) -> list[str]:
    """What a succeeded attempt must have and this one lacks, by the names of facts."""
    row = (await connection.execute(select(attempts.c.environment).where(attempts.c.id == attempt))).one()
    preflight = await connection.scalar(select(func.count()).where(preflights.c.attempt_id == attempt))
    arms = set(await connection.scalars(select(requests.c.arm).distinct().where(requests.c.attempt_id == attempt)))
    lacking = [] if row.environment else ["environment"]
    lacking += [] if preflight else ["preflight"]
    return lacking + [f"requests of the {arm} arm" for arm in ("plain", "speculative") if arm not in arms]
