"""`bezmen zoo`: the tiny models that Bezmen brings along, and how to make them anew. The laboratory is another program, which is executed."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands.output import AsJson
from app.commands.settings import read

app = typer.Typer(no_args_is_help=True, help="The tiny bilingual models that Bezmen brings along.")


@app.command("list")
def list_them(as_json: AsJson = False) -> None:
    """The models, and for each that is there what it learnt from and its perplexity on pages that it did not, per language."""
    found = list(_zoo("list"))
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    for each in found:
        typer.echo(f"zoo:{each['name']}: {each['summary']}\n  {_row(each['record'])}")


@app.command()
def train(
    name: Annotated[str, typer.Argument(help="One of those that `bezmen zoo list` names.")],
    minutes: Annotated[float | None, typer.Option(min=0.01, help="Of training steps.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Instead of minutes: so many steps, which can be repeated exactly.")] = None,
    threads: Annotated[int | None, typer.Option(min=1)] = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    into: Annotated[Path | None, typer.Option(help="Folder of the models that are made; DATA/zoo without it.")] = None,
) -> None:
    """Trains a model of the zoo on text of Debian's packages, which are fetched for it. Ctrl-C ends it early, and what was learnt is kept."""
    data = read().data
    root = into or data / "zoo"
    given = {"minutes": minutes, "steps": steps, "threads": threads, "seed": seed}
    options = [f"--{option}={value}" for option, value in given.items() if value is not None]
    for said in _zoo("train", name, f"--into={root}", f"--cache={data / 'zoo-text'}", *options):
        if "record" in said:
            typer.echo(f"{root / name}: perplexity {_told(said['record'], 'perplexity')}; `bezmen runner --model-root {root}` offers it by its path")
        else:
            typer.echo(f"step {said['steps']}, {said['tokens']:,} tokens, {said['progress']:.0%}, loss {said['loss']:.3f}")


def _row(record: dict[str, Any] | None) -> str:
    if record is None:
        return "not here; `bezmen zoo train` makes it"
    learnt = f"{record['parameters'] / 1e6:.1f} M parameters, learnt from {record['tokens'] / 1e6:.1f} M tokens in {record['minutes']:.0f} minutes"
    return f"{learnt}; perplexity {_told(record, 'perplexity')}; bits per character {_told(record, 'bits_per_character')}"


def _told(record: dict[str, Any], figure: str) -> str:
    return ", ".join(f"{language} {found[figure]:.3g}" for language, found in record["held_out"].items()) or "not measured"


def _zoo(*arguments: str) -> Iterator[dict[str, Any]]:
    """What it says, line by line. Ends the command with its status where that is not 0; it has said why."""
    with subprocess.Popen([sys.executable, "-m", "runners.zoo", *arguments], stdout=subprocess.PIPE, text=True) as process:
        # An interrupt reaches both; this one waits for what the other still has to say.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            for line in process.stdout or ():
                yield json.loads(line)
        finally:
            signal.signal(signal.SIGINT, before)
    if process.returncode:
        raise typer.Exit(process.returncode)
