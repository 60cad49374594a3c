"""All SQL that writes what a runner saw. Facts are only ever added."""

import hashlib
import json
from collections.abc import Sequence

from sqlalchemy import JSON, BigInteger, ColumnElement, CursorResult, Table, Text, case, cast, func, literal, literal_column, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.attempts.completeness import WHOLE, Block, Kind, Pass, Seen
from app.domain.facts import AnyFact, EnvironmentFact, PreflightFact, ProgressFact, RequestFact, TrialFact, WarmupFact
from app.domain.observations import CostFact, DivergenceFact, LearnedFact
from app.domain.spec import RunSpec
from app.domain.tokenizer import TokenizerIdentity
from app.errors import InvalidInput
from app.queue.leases import Held
from app.storage.database import rule_of
from app.storage.fact_tables import batches, observations, preflights, requests, trials
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


async def spec_of(connection: AsyncConnection, run: int) -> RunSpec:
    return RunSpec.model_validate((await connection.execute(select(runs.c.spec).where(runs.c.id == run))).scalar_one())


async def add(connection: AsyncConnection, held: Held, number: int, digest: str, facts: Sequence[AnyFact]) -> None:
    """Everything of one batch. Raises BrokenFacts when a row is there already or breaks a rule of its table."""
    try:
        await connection.execute(insert(batches).values(attempt_id=held.attempt, number=number, digest=digest, facts=len(facts)))
        await connection.execute(update(attempts).where(attempts.c.id == held.attempt).values(batches=number + 1))
        await _rows(connection, requests, held, [fact for fact in facts if isinstance(fact, RequestFact)])
        await _rows(connection, trials, held, [fact for fact in facts if isinstance(fact, TrialFact)])
        await _observations(connection, held, [fact for fact in facts if isinstance(fact, CostFact | DivergenceFact | LearnedFact)])
        await _no_pass_twice(connection, held.attempt)
        for fact in facts:
            await _single(connection, held, fact)
    except IntegrityError as error:
        raise BrokenFacts(f"Batch {number} breaks the rule {rule_of(error)}: a fact repeats or contradicts another one.") from error


async def _rows(connection: AsyncConnection, table: Table, held: Held, facts: Sequence[RequestFact | TrialFact]) -> None:
    """A row a fact, in their order. The database reads them as one JSON text: it takes hundreds of rows as a parameter each many times as long."""
    if not facts:
        return
    names = [name for name in type(facts[0]).model_fields if name != "kind"]
    body = "[" + ",".join(fact.model_dump_json(exclude={"kind"}) for fact in facts) + "]"
    told = func.json_populate_recordset(literal_column(f"NULL::{table.name}"), cast(literal(body, Text), JSON)).table_valued(*names)
    given = select(literal(held.attempt, BigInteger), *(told.c[name] for name in names))
    await connection.execute(insert(table).from_select(["attempt_id", *names], given))


async def _observations(connection: AsyncConnection, held: Held, facts: Sequence[CostFact | DivergenceFact | LearnedFact]) -> None:
    if facts:
        rows = [{"attempt_id": held.attempt, "kind": fact.kind, "fact": fact.model_dump(mode="json")} for fact in facts]
        await connection.execute(insert(observations), rows)


async def _single(connection: AsyncConnection, held: Held, fact: AnyFact) -> None:
    match fact:
        case EnvironmentFact():
            await _environment(connection, held, fact)
        case PreflightFact():
            await _preflight(connection, held, fact)
        case WarmupFact():
            await _once(connection, held, "warmup", fact.model_dump(mode="json"))
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
    await _once(connection, held, "environment", digest)


async def _once(connection: AsyncConnection, held: Held, name: str, value: object) -> None:
    """Raises BrokenFacts for a second one: what was measured under the first must not be told of another."""
    free = update(attempts).where(attempts.c.id == held.attempt, attempts.c[name].is_(None))
    done: CursorResult[tuple[()]] = await connection.execute(free.values({name: value}))
    if not done.rowcount:
        raise _second(name)


def _second(name: str) -> BrokenFacts:
    return BrokenFacts(f"There is a {name} fact in this attempt already; an attempt has one.")


async def _preflight(connection: AsyncConnection, held: Held, fact: PreflightFact) -> None:
    if await preflight_of(connection, held.attempt) is not None:
        raise _second("preflight")
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


async def preflight_of(connection: AsyncConnection, attempt: int) -> PreflightFact | None:
    found = await connection.scalar(select(preflights.c.fact).where(preflights.c.attempt_id == attempt))
    return None if found is None else PreflightFact.model_validate(found)


async def seen(connection: AsyncConnection, attempt: int, *, always_drafts: bool, shares_cache: bool | None = None) -> Seen:
    row = (await connection.execute(select(attempts.c.environment, attempts.c.warmup).where(attempts.c.id == attempt))).one()
    return Seen(
        environment=row.environment is not None,
        preflight=await preflight_of(connection, attempt),
        warmup=row.warmup is not None,
        requests=await _prompts_by_pass(connection, attempt),
        trials=await _passes(connection, attempt),
        always_drafts=always_drafts,
        kinds=await _kinds(connection, attempt),
        blocks=await _blocks(connection, attempt),
        shares_cache=shares_cache,
        drafted=await _drafted(connection, attempt),
        **await _layers(connection, attempt),
    )


async def _blocks(connection: AsyncConnection, attempt: int) -> dict[int, Block]:
    own = (trials.c.attempt_id == attempt, trials.c.purpose == "headline")
    columns = (trials.c.block, func.count().label("passes"), func.bool_or(trials.c.contended).label("disturbed"))
    by_arm = select(*columns).where(*own).group_by(trials.c.block, trials.c.arm).subquery()
    rows = await connection.execute(select(by_arm.c.block, func.max(by_arm.c.passes), func.bool_or(by_arm.c.disturbed)).group_by(by_arm.c.block))
    return {row[0]: Block(row[1], row[2]) for row in rows}


async def _prompts_by_pass(connection: AsyncConnection, attempt: int) -> dict[Pass, frozenset[str]]:
    key = (requests.c.purpose, requests.c.arm, requests.c.trial)
    named = func.array_agg(requests.c.prompt.distinct()).label("prompts")
    rows = await connection.execute(select(*key, named).where(requests.c.attempt_id == attempt).group_by(*key))
    return {(row.purpose, row.arm, row.trial): frozenset(row.prompts) for row in rows}


async def _passes(connection: AsyncConnection, attempt: int) -> frozenset[Pass]:
    rows = await connection.execute(select(trials.c.purpose, trials.c.arm, trials.c.trial).distinct().where(trials.c.attempt_id == attempt))
    return frozenset((row[0], row[1], row[2]) for row in rows)


async def _kinds(connection: AsyncConnection, attempt: int) -> frozenset[Kind]:
    own = (requests.c.attempt_id == attempt, requests.c.purpose.in_(WHOLE))
    rows = await connection.execute(select(requests.c.prompt, requests.c.profile, requests.c.answer_kind).distinct().where(*own))
    return frozenset((row[0], row[1], row[2]) for row in rows)


async def _drafted(connection: AsyncConnection, attempt: int) -> int | None:
    """A sum only where each request tells its own."""
    whole = func.count() == func.count(requests.c.drafted)
    found: int | None = await connection.scalar(select(case((whole, func.coalesce(func.sum(requests.c.drafted), 0)))).where(*_speculative(attempt)))
    return found


async def _layers(connection: AsyncConnection, attempt: int) -> dict[str, int]:
    drafted, layered = requests.c.drafted > 0, func.coalesce(requests.c.draft_layer_passes, 0) > 0
    columns = (func.count().filter(drafted, layered).label("with_layers"), func.count().filter(drafted, ~layered).label("without_layers"))
    return dict((await connection.execute(select(*columns).where(*_speculative(attempt)))).mappings().one())


def _speculative(attempt: int) -> tuple[ColumnElement[bool], ...]:
    return requests.c.attempt_id == attempt, requests.c.purpose == "headline", requests.c.arm == "speculative"


async def _no_pass_twice(connection: AsyncConnection, attempt: int) -> None:
    """Raises BrokenFacts where two trial facts tell of one pass."""
    key = (trials.c.purpose, trials.c.arm, trials.c.trial)
    twice = select(*key).where(trials.c.attempt_id == attempt).group_by(*key).having(func.count() > 1).limit(1)
    found = (await connection.execute(twice)).one_or_none()
    if found is not None:
        raise BrokenFacts(f"There are two trial facts of {found.purpose} {found.arm} {found.trial}.")
