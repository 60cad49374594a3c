"""`bezmen toy`: one experiment, three honest acceptances."""

import json
from collections.abc import Callable

import typer
from rich.console import Console
from rich.table import Table

from app.toy.table import ToyRow, measure

LESSON = """Why {kept:.1%} and {rate:.1%} are both "acceptance" of k_skip=1: {v} drafts were kept. Of {e} new ids that is {kept:.1%}, which the \
source of the toy prints; of {d} drafted it is {rate:.1%}, which vLLM and llama.cpp print. Nobody is wrong, and the two tell opposite stories of \
the controller: kept per new id it rose to {a_kept:.1%}, kept per drafted it fell to {a_rate:.1%}. A figure needs its definition as much as its \
language.

And none of them is speed: with these very counts the source's clock said 0.34x, ours says {ratio:.2f}x, because the one pays for layers and the \
other mostly for steps of the loop. In layers the run costs {passes:.0%} of plain decoding."""

COUNTS: tuple[tuple[str, str, Callable[[ToyRow], str]], ...] = (
    ("kept", "V", lambda row: str(row.verified)),
    ("delivered of them", "A", lambda row: str(row.accepted)),
    ("rounds", "R", lambda row: str(row.rounds)),
    ("undrafted steps", "U", lambda row: str(row.undrafted)),
    ("drafted", "D", lambda row: str(row.drafted)),
    ("delivered", "E", lambda row: str(row.emitted)),
    ("discarded drafts / bonus", "", lambda row: f"{row.discarded_drafts} / {row.discarded_bonus}"),
    ("draft layer passes", "", lambda row: str(row.draft_layer_passes)),
    ("verify layer passes", "", lambda row: str(row.verify_layer_passes)),
    ("layer passes saved", "of plain's 1512", lambda row: f"{row.layer_passes_saved:.1%}"),
    ("mean block", "E / steps", lambda row: f"{row.mean_block:.2f}"),
    ("wall-clock, measured", "plain / run", lambda row: f"{row.wall_clock_ratio:.2f}x"),
    ("equal to plain", "", lambda row: "yes" if row.lossless else "NO"),
)
SHARES = (
    ("kept per new id", "V / E, the source's", "kept_per_new"),
    ("acceptance_rate", "V / D", "acceptance_rate"),
    ("accepted_share", "A / E", "accepted_share"),
    ("verified_per_position", "(V + R) / (D + R)", "verified_per_position"),
    ("draft_coverage", "R / (R + U)", "draft_coverage"),
)
RATIOS = (
    ("accepted_per_round", "V / R", "accepted_per_round"),
    ("tokens_per_round", "1 + V / R", "tokens_per_round"),
    ("tokens_per_target_forward", "(E - P) / (R + U)", "tokens_per_target_forward"),
    ("layer_passes_per_token", "passes / (E - P)", "layer_passes_per_token"),
)


def toy(as_json: bool = typer.Option(False, "--json", help="The same numbers for a program.")) -> None:
    """Runs the toy experiment through the real loop and shows every acceptance of it side by side."""
    rows = measure()
    if as_json:
        typer.echo(json.dumps([row.model_dump(mode="json") for row in rows], indent=1))
    else:
        _print(rows)
    if not all(row.lossless for row in rows):
        raise typer.Exit(1)


def _print(rows: tuple[ToyRow, ...]) -> None:
    console = Console(highlight=False)
    console.print(_table(rows))
    for row in rows:
        console.print(f"[bold]{row.run}[/] tokens by step: {' '.join(map(str, row.blocks))}")
    first, adaptive = (next(row for row in rows if row.run == name) for name in ("k_skip=1", "adaptive"))
    said = LESSON.format(
        v=first.verified,
        d=first.drafted,
        e=first.emitted,
        rate=first.acceptance_rate,
        kept=first.kept_per_new,
        a_kept=adaptive.kept_per_new,
        a_rate=adaptive.acceptance_rate,
        ratio=first.wall_clock_ratio,
        passes=1 - first.layer_passes_saved,
    )
    console.print("\n" + said)


def _table(rows: tuple[ToyRow, ...]) -> Table:
    table = Table(title="The toy: 252 new ids, draft length 4, greedy; one request, hence no interval")
    table.add_column("", no_wrap=True)
    table.add_column("formula")
    for row in rows:
        table.add_column(row.run, justify="right", no_wrap=True)
    for label, formula, shown in COUNTS:
        table.add_row(label, formula, *[shown(row) for row in rows])
    table.add_section()
    for label, formula, name in SHARES:
        table.add_row(label, formula, *[f"{getattr(row, name):.1%}" for row in rows])
    table.add_section()
    for label, formula, name in RATIOS:
        table.add_row(label, formula, *[f"{getattr(row, name):.4f}" for row in rows])
    return table
