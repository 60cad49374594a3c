"""`python -m runners.zoo list`, or `train NAME`: what `bezmen zoo` shows. Lines of JSON, as everything that a runner tells the service's commands."""

import argparse
import json
import os
import sys
from pathlib import Path

from runners.zoo.architectures import NotInZoo, architectures
from runners.zoo.recipe import Recipe
from runners.zoo.store import ROOT, NoPlace, kept
from runners.zoo.text import NoText

TOLD_EVERY = 20  # steps


def main() -> int:
    """Exits with 0, or with 2 and one sentence on stderr."""
    asked = _asked()
    if asked.what == "list":
        records = kept(asked.into)
        for name, found in architectures().items():
            _say({"name": name, "summary": found.summary, "record": records[name].model_dump() if name in records else None})
        return 0
    # Threads that spin while they wait make a training several times as slow on a machine that does something else besides.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from runners.zoo.make import make
    from runners.zoo.train import State

    def told(state: State) -> None:
        if state.steps % TOLD_EVERY == 0 or state.progress == 1.0:
            _say({"steps": state.steps, "tokens": state.tokens, "minutes": state.seconds / 60, "progress": state.progress, "loss": state.loss})

    given = {name: getattr(asked, name) for name in Recipe.model_fields if getattr(asked, name, None) is not None}
    try:
        record = make(asked.name, Recipe.model_validate(given), asked.cache, asked.into, told)
    except (NotInZoo, NoText, NoPlace) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    _say({"record": record.model_dump()})
    return 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("list", "train"))
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--into", type=Path, default=ROOT)
    parser.add_argument("--cache", type=Path)
    for name, kind in (("minutes", float), ("steps", int), ("unloop_steps", int), ("seed", int), ("threads", int)):
        parser.add_argument(f"--{name}", type=kind)
    return parser.parse_args()


def _say(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
