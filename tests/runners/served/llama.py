"""A program with llama-server's flags, answers and counters that decodes by a rule, and writes down what it really did.

The n-th round drafts 4 tokens and keeps n mod 5 of them, every third step drafts nothing, and a prompt takes 2 decode calls, as that of a model with
a sliding window does. A draft leaves room for one token before the limit; a round is counted whole before an answer is cut at its end of text. The
model's name may tell it to do otherwise: dies-3, refuses-3, quits-3 (it refuses and then ends) or stalls-3 do so after 3 requests, halves tells no
id of every second token, ends puts an end of text behind 14 tokens, spins keeps a core busy once it has been asked. What it did it writes into the
file behind --truth.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.runners.engine.external.servers import Handler, Server, events

STEP_SECONDS = 0.001
DRAFT, EVERY, PROMPT_CALLS, END = 4, 3, 2, 14


def tokens(prompt: list[int]) -> list[int]:
    """The answer's ids, without an end."""
    return [1000 + (sum(prompt) + 7 * place) % 800 for place in range(4096)]


def steps(wanted: int, speculates: bool) -> list[tuple[int, int]]:
    """(drafted, kept) of each step behind the first token, which the prompt gives."""
    found: list[tuple[int, int]] = []
    delivered, rounds = 1, 0
    while delivered < wanted:
        drafted = min(DRAFT, wanted - delivered - 1) if speculates and len(found) % EVERY else 0
        rounds += drafted > 0
        kept = min(drafted, rounds % (DRAFT + 1))
        found.append((drafted, kept))
        delivered += kept + 1
    return found


def until_end(taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The steps up to the one that reaches the end of text, whole."""
    delivered = 1
    for place, (_, kept) in enumerate(taken):
        delivered += kept + 1
        if delivered >= END:
            return taken[: place + 1]
    return taken


def _spin() -> None:
    while True:
        pass


class Engine:
    def __init__(self, arguments: list[str]) -> None:
        self.port = int(arguments[arguments.index("--port") + 1])
        self.called = arguments[arguments.index("--alias") + 1]
        self.slots = threading.Semaphore(int(arguments[arguments.index("-np") + 1]))
        # As llama.cpp itself: whole blocks of 256 tokens.
        slots, asked = (int(arguments[arguments.index(name) + 1]) for name in ("-np", "-c"))
        self.context = -(-asked // slots // 256) * 256
        self.model = Path(arguments[arguments.index("-m") + 1])
        self.speculates = "--spec-type" in arguments
        self.counts = dict.fromkeys(("tokens_predicted", "n_decode", "rounds", "drafted", "accepted"), 0)
        self.lock, self.asked = threading.Lock(), 0
        self.truth = Path(arguments[arguments.index("--truth") + 1] if "--truth" in arguments else os.devnull)
        self.say({"started": self.speculates, "pid": os.getpid()})

    def say(self, what: dict[str, Any]) -> None:
        with self.truth.open("a") as file:
            file.write(json.dumps(what) + "\n")

    def fault(self, handler: Handler) -> bool:
        """Whether this request goes wrong, and then as the model's name says."""
        self.asked += 1
        name, _, after = self.model.stem.partition("-")
        if name not in ("dies", "refuses", "quits", "stalls") or not self.speculates or self.asked <= int(after):
            return False
        if name == "dies":
            sys.stderr.write("out of memory\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        if name in ("refuses", "quits"):
            handler.reply({"error": {"message": "slot lost"}}, 500)
            if name == "quits":
                time.sleep(0.5)
                sys.stderr.write("the worker is gone\n")
                sys.stderr.flush()
                os._exit(1)
        else:
            time.sleep(60)
        return True

    def completion(self, handler: Handler) -> None:
        if self.fault(handler):
            return
        with self.slots:
            self.answer(handler)

    def answer(self, handler: Handler) -> None:
        asked = handler.body
        # Whether it speculates is asked with a text.
        prompt = asked["prompt"] if isinstance(asked["prompt"], list) else [len(asked["prompt"])]
        ids, wanted = tokens(prompt), asked["n_predict"]
        taken, ends = steps(wanted, self.speculates), "limit"
        if self.model.stem == "spins":
            threading.Thread(target=_spin, daemon=True).start()
        if self.model.stem == "ends" and wanted > END:
            taken, wanted, ends = until_end(taken), END, "eos"
        handler.begin_stream()
        self.send(handler, ids, 0, 1)
        at = 1
        for _, kept in taken:
            time.sleep(STEP_SECONDS)
            after = min(wanted, at + kept + 1)
            self.send(handler, ids, at, after)
            at = after
        drafted, verified = (sum(step[part] for step in taken) for part in (0, 1))
        rounds = sum(1 for made, _ in taken if made)
        told = {"predicted_n": wanted} | ({"draft_n": drafted, "draft_n_accepted": verified} if drafted else {})
        with self.lock:
            for name, more in (("tokens_predicted", wanted), ("n_decode", PROMPT_CALLS + len(taken)), ("rounds", rounds), ("drafted", drafted)):
                self.counts[name] += more
            self.counts["accepted"] += verified
        self.say({"prompt": prompt, "D": drafted, "V": verified, "R": rounds, "U": len(taken) - rounds, "E": wanted, "arm": self.speculates})
        last = {"content": "", "tokens": [], "stop": True, "stop_type": ends, "model": self.called, "tokens_predicted": wanted, "timings": told}
        handler.piece(events(last, done=False))
        handler.end_stream()

    def send(self, handler: Handler, ids: list[int], start: int, end: int) -> None:
        """A piece for each token. Half of the model's characters take two: the token that ends within one is told by the next piece's count alone."""
        halves = self.model.stem == "halves"
        for place in range(start, end):
            if halves and place % 2 == 0:
                continue
            piece = {"content": f"{ids[place]} ", "tokens": [ids[place]], "stop": False, "tokens_predicted": place + 1}
            handler.piece(events(piece, done=False))

    def metrics(self, handler: Handler) -> None:
        names = {"rounds": "spec_decode_num_drafts", "drafted": "spec_decode_num_draft_tokens", "accepted": "spec_decode_num_accepted_tokens"}
        with self.lock:
            lines = [f"llamacpp:{names.get(name, name)}_total {value}\n" for name, value in self.counts.items()]
        handler.reply("".join(lines).encode(), kind="text/plain")

    def serve(self) -> None:
        routes = {
            "/health": lambda handler: handler.reply({"status": "ok"}),
            "/props": lambda handler: handler.reply({"build_info": "b1-abc"}),
            "/slots": lambda handler: handler.reply([{"id": 0, "n_ctx": self.context, "speculative": self.speculates}]),
            "/metrics": self.metrics,
            "/completion": self.completion,
        }
        Server(("127.0.0.1", self.port), type("Routed", (Handler,), {"routes": routes, "disable_nagle_algorithm": True})).serve_forever(0.02)


def install(folder: Path) -> Path:
    """The program as a file that can be run."""
    server, root = folder / "llama-server", Path(__file__).parents[3]
    run = f"import runpy, sys\nsys.path.insert(0, {str(root)!r})\nrunpy.run_path({__file__!r}, run_name='__main__')\n"
    server.write_text(f"#!{sys.executable}\n{run}")
    server.chmod(0o755)
    return server


if __name__ == "__main__":
    Engine(sys.argv[1:]).serve()
