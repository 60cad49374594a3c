"""Sentences that reach a page finished: everything that the service or a runner raises is known again in Russian."""

import re
from pathlib import Path

import pytest

from app.domain.catalogue import Part
from app.domain.fit import compiled_alone, misfits, no_tree_over
from app.errors import AppError
from app.main import create_app
from app.reports.retold import known, retell
from app.reports.translate import gettext
from app.web.schema_form import fields
from runners.endings import CODES
from runners.engine.external.aliases import Attached, Engines, LlamaServer, VllmEnvironment
from runners.parts import offered
from runners.served.offer import served
from tests.factories import run_spec
from tests.raised import ROOT, VALUE, sentences

# What only programs are told: runners' own calls, webhooks and gates have no page.
UNSEEN = {"attempts", "hooks", "gates", "demo", "commands", "storage"}
# Sentences of the API alone, in rooms that have pages too.
OF_THE_API = re.compile(r"enrolment token|Content-Type|needs a token of its own|protocol|under this key|key of its own|Name the figure with id")
UNNAMED = {VALUE, f"{VALUE}.", f"{VALUE}{VALUE}", f"{VALUE}: {VALUE}"}
# What is put together from pieces, and how it reads.
COMPOSED = {
    "7 7. This runner runs the families 7.": (
        "mamba is a family whose masks and angles this runner does not know. This runner runs the families llama, qwen3."
    ),
    "7 7: 7": "drafter ngram: longest: Input should be less than or equal to 8; shortest: Field required",
    "7 Lower suite.limit, max_new_tokens or trials.": (
        "24 prompts × 64 tokens × 12 passes are 18432 tokens, and a run may generate 9000. Lower suite.limit, max_new_tokens or trials."
    ),
    "7 To enter a new one, say its kind too.": 'There is no system "x". Did you mean y? To enter a new one, say its kind too.',
    "7; 7 takes a token with the scope 7.": "This token is for reading runs; submitting runs takes a token with the scope submit.",
    "Suite 7 is here already and 7; it cannot become 7.": "Suite mine-v1 is here already and private; it cannot become public.",
    'Engine 7 has no way to speculate called "7".7': 'Engine llama has no way to speculate called "ngram". Did you mean ngram-simple?',
    "7 7": "llama.cpp does not speculate; does its draft model fit the target?",
    "7 and said nothing": "llama.cpp answered 500 to /completion and said nothing",
    "engine_exited": "llama.cpp was ended by SIGKILL; its last words:\nout of memory",
    "engine_not_ready": "llama.cpp was not ready within 120 seconds; its last answer was 503; its last words:\nloading model",
    "drafter 7: 7": "drafter ngram-simple: size_n: Input should be greater than or equal to 1",
    'There is no 7 "7".7': 'There is no verifier "x". Did you mean exact?',
    "compiled_drafter": compiled_alone("draft-model"),
    "speculation_not_active": "Speculation was not active: the warm-up drafted nothing, although this drafter always drafts.",
    "suite 7 has no profile 77": "suite mine-v1 has no profile 'chit'; did you mean 'chat'?",
    "there is no suite 77": "there is no suite 'mine-v1'; it has parallel-v1, parallel-v2",
}


def kinds(base: type[Exception]) -> set[type[Exception]]:
    return {base}.union(*(kinds(one) for one in base.__subclasses__()))


def raised(folder: str, names: frozenset[str]) -> list[str]:
    paths = sorted(path for path in (ROOT / folder).rglob("*.py") if not UNSEEN & set(path.relative_to(ROOT).parts))
    return [said for path in paths for said in sentences(path, names) if said not in UNNAMED and not OF_THE_API.search(said)]


create_app()
ERRORS = [one for one in kinds(AppError) if one.__module__.split(".")[1] not in UNSEEN]
OF_SERVICE = raised("app", frozenset(one.__name__ for one in ERRORS) | {"SuiteError"})
OF_RUNNERS = raised("runners", frozenset({"Unmeasurable", "EngineFault", *(kind.__name__ for kind in CODES)}))


def test_the_walk_finds_sentences() -> None:
    """Catches a walk that finds nothing and lets everything pass."""
    assert len(OF_SERVICE) > 30
    assert len(OF_RUNNERS) > 25
    assert "There is no user 7." in OF_SERVICE


@pytest.mark.parametrize("text", sorted({*OF_SERVICE, *OF_RUNNERS}))
def test_what_is_raised_is_known_in_russian(text: str) -> None:
    """Catches an error, or a runner's reason, whose words changed without its Russian."""
    text = COMPOSED.get(text, text)
    assert known(text, "ru") is not None
    assert known(text, "en") == text


@pytest.mark.parametrize("kind", sorted(ERRORS, key=lambda one: one.__name__))
def test_titles_of_errors_are_known_in_russian(kind: type[AppError]) -> None:
    """Catches a new kind of error whose page has an English heading."""
    title = (kind.__doc__ or "").strip()
    assert gettext(title, "ru") != title


ENGINES = Engines(
    engines={
        "a": LlamaServer(kind="llama.cpp", server=Path("/a"), roots=(Path("/a"),)),
        "b": VllmEnvironment(kind="vllm", python=Path("/b"), roots=(Path("/b"),)),
    }
    | {kind: Attached.model_validate({"kind": kind, "url": "http://127.0.0.1:1", "model": "m"}) for kind in ("sglang", "lmstudio")}
)
PARTS = [part for parts in offered().values() for part in parts] + [part for engine in served(ENGINES, ()) for part in engine.drafters]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_parts_are_known_in_russian(part: Part) -> None:
    """Catches a drafter whose fields, on the form of a Russian page, are labelled in English."""
    titles = [node.get(name) for node in part.schema_.get("properties", {}).values() for name in ("title", "description")]
    assert [text for text in (part.summary, *titles) if text and gettext(text, "ru") == text] == []
    assert len(fields("", part.schema_, {}, {}, "ru")) == len(part.schema_.get("properties", {}))


@pytest.mark.parametrize(
    ("english", "russian"),
    [
        ('There is no drafter "ngarm". Did you mean ngram?', "Драфтера «ngarm» нет. Может быть, ngram?"),
        ("There is no run 410. The newest is 44.", "Прогона 410 нет. Последний номер — 44."),
        ("/drafter/params/max_ngram must be at most 8.", "/drafter/params/max_ngram: не больше 8."),
        ("cursor: Input should be greater than or equal to 1 (2 more)", "cursor: не меньше 1 (и ещё 2)"),
        ("The run needs about 7.3 GiB of memory; 2.1 GiB are free.", "Прогону нужно около 7,3 ГиБ памяти, а свободно 2,1 ГиБ."),
        (
            "Given up after 3 attempts without a result; the last one: The runner went silent for 90 s.",
            "Попыток без результата: 3, больше их не будет. Последняя: Исполнитель молчит 90 с.",
        ),
        (
            "llama.cpp of the plain arm was ended by SIGKILL; its last words:\nout of memory",
            "llama.cpp обычного варианта остановлен сигналом SIGKILL. Последние слова:\nout of memory",
        ),
        (
            "the connection to llama.cpp of the speculative arm (ngram-mod) broke after 3 events of an answer: reset",
            "соединение с llama.cpp спекулятивного варианта (ngram-mod) прервалось; событий ответа к тому времени: 3. reset",
        ),
        ("suite mine-v1 has no prompts in en; it has ru.", "В наборе mine-v1 нет промптов на en; в нём есть ru."),
        ("Nobody ever said this.", "Nobody ever said this."),
        ("", ""),
    ],
)
def test_values_are_carried_over(english: str, russian: str) -> None:
    """Catches a value that is lost, a shape that swallows another, and a sentence that nobody knows turned into something else."""
    assert retell(english, "ru") == russian


def test_a_sentence_half_known_is_not_half_told() -> None:
    """Catches a mixture of two languages in one message."""
    text = 'There is no drafter "x". Something quite new.'
    assert retell(text, "ru") == text


def test_what_parts_do_not_go_together_is_known_in_russian() -> None:
    """Catches a rule of parts, which no raise spells out, whose words changed without their Russian."""
    drafter = Part(name="swift", trees=True, opens=True, slices=True, routes=True)
    found = [said for _, said in misfits(run_spec(compile=True), drafter, Part(name="confidence", stops_drafts=True), Part(name="block"))]
    assert len(found) == 6
    close, none = no_tree_over("layerskp", "layerskip", ["layerskip"]), no_tree_over("ngram", None, ["draft-model", "layerskip"])
    for text in (*found, close, none, "shortest may not exceed longest", "settings of layerskip: exit_layer must be a whole number"):
        assert known(text, "ru") is not None, text
