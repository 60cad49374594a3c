"""Makes engines, for tests and for a first look: `make engines`, or `python -m runners.engine.external.build [llama.cpp] [vllm]`.

They lie under $BEZMEN_CACHE, else in the user's cache, and a second call finds them there.
"""

import argparse

from runners.engine.external.made import llama_cpp, vllm
from runners.engine.external.made.cache import CannotBuild, say

MADE = {"llama.cpp": llama_cpp, "vllm": vllm}


def build(names: list[str]) -> int:
    """An exit status. One that cannot be made is said to be, and the others are made."""
    entries, failed = [], []
    for name in names:
        try:
            entries.append(MADE[name].told(MADE[name].make()))
        except CannotBuild as error:
            failed.append(f"{name} was not made: {error}")
    if entries:
        say("A file for `bezmen runner --engines` may say:\n")
        say("\n\n".join(f'{entry}\nroots = ["/the/folder/of/your/models"]' for entry in entries))
    for line in failed:
        say(line)
    return 1 if failed else 0


def main() -> None:
    asked = argparse.ArgumentParser(description="makes engines that a runner starts")
    asked.add_argument("names", nargs="*", metavar="NAME", help=f"{' or '.join(MADE)}; all of them where none is named")
    asked.add_argument("--made", action="store_true", help="makes nothing and names those that are there")
    said = asked.parse_args()
    if said.made:
        say(" ".join(name for name, engine in MADE.items() if engine.installed() is not None))
        return
    names = said.names
    if unknown := [name for name in names if name not in MADE]:
        asked.error(f"{unknown[0]} is not made here; there are {' and '.join(MADE)}")
    raise SystemExit(build(names or list(MADE)))


if __name__ == "__main__":
    main()
