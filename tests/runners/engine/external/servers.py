"""Engines that behave, and such that do not: real HTTP servers that replay recorded shapes. Run as a program it is a process that misbehaves."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answering = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers by the routes that the test gave; `body` is what was asked."""

    protocol_version = "HTTP/1.1"
    routes: dict[str, Answering]
    body: Any = None

    def do_GET(self) -> None:
        self.routes[self.path](self)

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["content-length"]))
        self.body = json.loads(sent) if sent else None
        self.routes[self.path](self)

    def log_message(self, *_: Any) -> None:
        pass

    def reply(self, body: Any, status: int = 200, kind: str = "application/json") -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def piece(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def end_stream(self) -> None:
        self.piece(b"")

    def hang_up(self) -> None:
        """Without the end that chunked transfer has."""
        self.close_connection = True
        self.connection.shutdown(2)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


@contextmanager
def served(routes: dict[str, Answering]) -> Iterator[str]:
    """The address of a server with these routes."""
    server = Server(("127.0.0.1", 0), type("Routed", (Handler,), {"routes": routes}))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def events(*objects: Any, done: bool = True) -> bytes:
    texts = [json.dumps(each, ensure_ascii=False) for each in objects] + (["[DONE]"] if done else [])
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def streamed(data: bytes, *, cut: int | None = None) -> Answering:
    """The bytes in one piece, or in two that meet at `cut`."""

    def answer(handler: Handler) -> None:
        handler.begin_stream()
        for part in [data] if cut is None else [data[:cut], data[cut:]]:
            handler.piece(part)
            time.sleep(0.05 if cut else 0)
        handler.end_stream()

    return answer


def llama_server() -> None:
    """With the flags of llama-server: speculates if it is told to, and drafts 4 tokens in a round of each answer, of which 1 is kept."""
    port, speculates = int(sys.argv[sys.argv.index("--port") + 1]), "--spec-type" in sys.argv
    answers: list[int] = []
    timings = {"predicted_n": 2} | ({"draft_n": 4, "draft_n_accepted": 1} if speculates else {})

    def completion(handler: Handler) -> None:
        answers.append(1)
        first = {"content": "да", "tokens": [7], "stop": False, "tokens_predicted": 1}
        last = {"content": "", "tokens": [], "stop": True, "stop_type": "limit", "model": "m", "tokens_predicted": 2, "timings": timings}
        streamed(events(first, {**first, "tokens": [8], "tokens_predicted": 2}, last, done=False))(handler)

    def metrics(handler: Handler) -> None:
        rounds = len(answers) if speculates else 0
        counts = {"tokens_predicted": 2 * len(answers), "n_decode": 2 * len(answers)}
        counts |= {"spec_decode_num_drafts": rounds, "spec_decode_num_draft_tokens": 4 * rounds, "spec_decode_num_accepted_tokens": rounds}
        handler.reply("".join(f"llamacpp:{name}_total {value}\n" for name, value in counts.items()).encode(), kind="text/plain")

    routes: dict[str, Answering] = {
        "/health": lambda handler: handler.reply({"status": "ok"}),
        "/props": lambda handler: handler.reply({"build_info": "b1-abc", "model_path": "/home/somebody/models/m.gguf"}),
        "/slots": lambda handler: handler.reply([{"id": 0, "speculative": speculates}]),
        "/metrics": metrics,
        "/completion": completion,
    }
    Server(("127.0.0.1", port), type("Routed", (Handler,), {"routes": routes})).serve_forever(0.05)


DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


def program() -> None:
    """`MODE PORT`: quick, slow, never, exits, stubborn (heeds no SIGTERM and has a worker that does not either), or dies (on a request)."""
    mode, port = sys.argv[1], int(sys.argv[2])
    say(f"loading /home/somebody/models/model.gguf as {mode}")
    if mode == "exits":
        sys.exit("error: failed to load model '/home/somebody/models/model.gguf'")
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        worker = subprocess.Popen(
            [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"],
            stdout=subprocess.PIPE,
        )
        assert worker.stdout is not None
        worker.stdout.readline()
        say(f"worker {worker.pid}")
    ready = time.monotonic() + (0.4 if mode == "slow" else 1e9 if mode == "never" else 0)

    def health(handler: Handler) -> None:
        up = time.monotonic() >= ready
        handler.reply({"status": "ok" if up else "loading"}, 200 if up else 503)

    def completion(handler: Handler) -> None:
        handler.begin_stream()
        handler.piece(events({"content": "a", "tokens": [1], "stop": False}, done=False))
        time.sleep(0.1)
        say("out of memory")
        os.kill(os.getpid(), signal.SIGKILL)

    server = Server(("127.0.0.1", port), type("Routed", (Handler,), {"routes": {"/health": health, "/completion": completion}}))
    server.serve_forever(0.05)


if __name__ == "__main__":
    llama_server() if "--port" in sys.argv else program()
