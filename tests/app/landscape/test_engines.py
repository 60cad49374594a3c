"""Runs on served engines on the board."""

from app.claims.schemas import System
from app.domain.estimate import Figure
from app.landscape.beside import beside
from app.landscape.service import belongs
from app.languages.schemas import Measured
from tests.app.landscape.test_beside import measured

ENGINES = System(id=1, name="vLLM, SGLang, llama.cpp, LM Studio", kind="engine", about="", drafter=None, claims=())
LOOKUP = System(id=2, name="n-gram lookup", kind="external, no weights", about="", drafter="ngram", claims=())


def served(run: int, engine: str, version: str) -> Measured:
    found = measured(run)
    assert isinstance(found.acceptance, Figure)
    passport = found.acceptance.passport.model_copy(update={"engine": engine, "engine_version": version})
    return found.model_copy(update={"engine": engine, "acceptance": found.acceptance.model_copy(update={"passport": passport})})


def test_what_an_engine_drafts_is_the_engines() -> None:
    """Catches the n-gram of vLLM, measured, beside the claims of another n-gram, as if it were our own drafter of that name."""
    own, vllm, other = measured(1), served(2, "fast", "vllm 0.32.0"), served(3, "x", "tensorrt-llm 1.2")
    assert own.drafter.name == vllm.drafter.name == "ngram"
    assert [belongs(one, LOOKUP) for one in (own, vllm, other)] == [True, False, False]
    assert [belongs(one, ENGINES) for one in (own, vllm, other)] == [False, True, False]
    assert belongs(served(4, "studio", "lmstudio 0.3.10"), ENGINES)


def test_another_engine_takes_nobodys_place() -> None:
    """Catches a run on one server that stands where one on another stood, without a word."""
    assert [one.run for one in beside([served(5, "llama", "llama.cpp b1"), served(2, "vllm", "vllm 0.32.0")])] == [5, 2]


def test_each_drafter_of_an_engine_stands() -> None:
    """Catches one of an engine's ways to speculate that stands for all of them, or without its name."""
    first, other = served(5, "llama", "llama.cpp b1"), served(2, "llama", "llama.cpp b1")
    other = other.model_copy(update={"drafter": other.drafter.model_copy(update={"name": "ngram-simple"})})
    assert [(one.run, one.server, one.drafter_title) for one in beside([first, other])] == [
        (5, "llama.cpp", "ngram (llama)"), (2, "llama.cpp", "ngram-simple (llama)"),
    ]  # fmt: skip
    assert measured(1).server is None
