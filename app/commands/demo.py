"""`bezmen demo`: the whole path on this machine, from the queue to the comparison."""

import hashlib
import signal
import socket
import time
from typing import Annotated, Any

import typer
from rich.console import Console

from app.commands.client import INFRASTRUCTURE, Client
from app.commands.settings import USAGE, reachable, read
from app.demo.follow import conclude, follow
from app.demo.plan import LANGUAGES, MODELS, specs
from app.demo.processes import CannotStart, Processes
from app.reports.report import Comparison
from app.settings import Settings


def demo(
    full: Annotated[bool, typer.Option("--full", help="24 prompts of 64 tokens instead of 8 of 32.")] = False,
    leave: Annotated[bool, typer.Option("--exit", help="End when the table is there instead of serving on.")] = False,
    model: Annotated[str, typer.Option(help=f"One of {', '.join(MODELS)}.")] = "smollm2-135m-instruct",
) -> None:
    """Starts a Postgres, the service and a runner, measures two drafters in Russian and English, compares, and serves the pages."""
    if model not in MODELS:
        typer.echo(f"There is no demo of {model}; there is one of {', '.join(MODELS)}.", err=True)
        raise typer.Exit(USAGE)
    settings, console = reachable(read()), Console()
    if not console.is_terminal:
        console.width = 120
    _check_port(settings)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Processes(settings) as processes:
            _run(processes, settings, console, model, full)
            if not leave:
                console.print("\nServing until Ctrl-C.")
                while True:
                    processes.check()
                    time.sleep(1)
    except CannotStart as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(INFRASTRUCTURE) from error
    except KeyboardInterrupt:
        console.print("Stopped.")


def _run(processes: Processes, settings: Settings, console: Console, model: str, full: bool) -> None:
    processes.start("service", "serve")
    base = processes.wait_for("service", "ready ")
    console.print(f"Service at {base}, data in {settings.data}.", highlight=False)
    processes.start("runner", "runner", "--warmup-seconds", "15")
    client = Client(settings)
    bodies = specs(MODELS[model], full=full)
    _await_offer(client, processes, MODELS[model].package)
    campaign = client.post("/api/v1/campaigns", {"title": f"demo of {model}", "runs": bodies}, {"Idempotency-Key": _key(bodies).encode()})
    ids = [run["id"] for run in campaign["runs"]]
    ended = follow(client, console, ids, processes.check)
    for run in ended:
        if run["state"] != "succeeded":
            console.print(f"run {run['id']} {run['state']}: {run['failure']}", highlight=False)
    if any(run["state"] != "succeeded" for run in ended):
        raise typer.Exit(1)
    pairs = [ids[i : i + len(LANGUAGES)] for i in range(0, len(ids), len(LANGUAGES))]
    conclude(console, base, [Comparison.model_validate(client.get(f"/api/v1/comparisons?runs={','.join(map(str, pair))}")) for pair in pairs])


def _key(bodies: list[dict[str, Any]]) -> str:
    """Equal for equal runs, so that a second demo finds the first one's runs instead of measuring again."""
    from app.domain.spec import RunSpec

    return f"demo-{hashlib.sha256(''.join(RunSpec.model_validate(body).digest() for body in bodies).encode()).hexdigest()[:32]}"


def _await_offer(client: Client, processes: Processes, package: str) -> None:
    """The runner has to say what it can do before anything may be asked of it."""
    while package not in {offered["name"] for offered in client.get("/api/v1/catalogue")["models"]}:
        processes.check()
        time.sleep(0.5)


def _check_port(settings: Settings) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            typer.echo(f"{settings.host}:{settings.port} is taken ({error.strerror}). Set BEZMEN_PORT to a free port.", err=True)
            raise typer.Exit(USAGE) from error
