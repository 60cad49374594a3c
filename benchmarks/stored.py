"""Runs with many request rows: a few passes sent as a runner sends them, the others copies of them made by the database."""

from typing import Any

import psycopg
from psycopg import sql

from app.storage.fact_tables import requests, trials
from benchmarks.service import Service, batches
from tests import factories

# Passes that are sent; a pass is a trial of each arm, control included, and two of them are a block.
SENT = 2


def measured(service: Service, *, prompts: int, passes: int, **over: Any) -> int:
    """A finished run of `prompts` × `passes` × 3 headline requests, and `prompts` × 2 for losslessness; `passes` is even. Without a report."""
    service.submit(suite={"id": "everyday"}, trials=SENT // 2, **over)
    attempt = service.lease()
    facts = factories.facts(language=over.get("language", "ru"), prompts=prompts, passes=SENT)
    attempt.finish(attempt.send(0, batches(facts)))
    for table in (requests, trials):
        _multiply(service.database, table.name, [column.name for column in table.columns if column.name != "id"], attempt.id, passes // SENT - 1)
    forget_report(service, attempt.run)
    service.database.execute("ANALYZE")
    return attempt.run


def _multiply(database: psycopg.Connection[Any], table: str, columns: list[str], attempt: int, times: int) -> None:
    """`times` copies of all headline rows of an attempt, as later passes."""
    later = {"trial": sql.SQL("trial + {} * g").format(SENT), "block": sql.SQL("block + g")}
    chosen = sql.SQL(", ").join(later.get(name, sql.Identifier(name)) for name in columns)
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    rows = "FROM {table}, generate_series(1, {times}) g WHERE attempt_id = {attempt} AND purpose = 'headline'"
    copy = f"INSERT INTO {{table}} ({{names}}) SELECT {{chosen}} {rows}"
    database.execute(sql.SQL(copy).format(table=sql.Identifier(table), names=names, chosen=chosen, times=times, attempt=attempt))


# What a report reduces every row to, without a word of it, and each in one statement: sums prompt by prompt; seconds of both arms prompt by prompt
# over the passes that both finished, how many answers of a pass are equal and how long; the quantiles of latencies, and of gaps between deliveries;
# how many distinct answers and rounds a prompt's repeats have; kept drafts by the depth of their rounds, over one pass.
BARE = (
    "SELECT arm, prompt, count(*), sum(drafted), sum(verified), sum(accepted), sum(rounds), sum(undrafted), sum(emitted), sum(prefill_tokens),"
    " sum(output_characters), sum(output_words), sum(last_at - sent_at), sum(last_at - first_at), bool_and(degenerate) FROM requests"
    " WHERE purpose = 'headline' GROUP BY arm, prompt",
    'SELECT prompt, a."order" < b."order", avg(a.last_at - a.sent_at), avg(b.last_at - b.sent_at), sum(a.last_at - a.first_at),'
    " sum(b.last_at - b.first_at), count(*) FILTER (WHERE a.output_digest = b.output_digest), count(*) FILTER (WHERE a.emitted = b.emitted)"
    " FROM requests a JOIN requests b USING (attempt_id, purpose, prompt, trial, seed)"
    " WHERE purpose = 'headline' AND a.arm = 'plain' AND b.arm = 'speculative' GROUP BY prompt, 2",
    "SELECT arm, percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY last_at - sent_at),"
    " percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY first_at - sent_at),"
    " percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY (last_at - first_at) / nullif(emitted - 1, 0))"
    " FROM requests WHERE purpose = 'headline' GROUP BY arm",
    "SELECT arm, percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY later - at) FROM requests,"
    " unnest(step_end[:cardinality(step_end) - 1], step_end[2:]) AS gap (at, later) WHERE purpose = 'headline' GROUP BY arm",
    "SELECT arm, prompt, seed, count(*) FROM (SELECT DISTINCT arm, prompt, seed, output_digest, round_drafted, round_verified FROM requests"
    " WHERE purpose = 'headline') AS told GROUP BY arm, prompt, seed",
    "SELECT prompt, depth, kept, count(*) FROM requests, unnest(round_verified, round_depth) AS made (kept, depth)"
    " WHERE purpose = 'headline' AND arm = 'speculative' AND trial = 0 GROUP BY prompt, depth, kept",
)


def bare(service: Service) -> None:
    for query in BARE:
        service.database.execute(query).fetchall()


def forget_report(service: Service, run: int) -> None:
    """As before it was computed. Of one run alone: the service computes reports that are missing by itself, and would be busy with the others."""
    service.database.execute("DELETE FROM reports WHERE run_id = %s", (run,))
