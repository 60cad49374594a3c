"""What an answer says of itself, read for its fact."""

from types import SimpleNamespace
from typing import Any

from runners.protocol.readings import Reader
from runners.workloads.suite import Prompt


def test_a_character_that_cannot_be_stored_is_replaced() -> None:
    """Catches a model that says NUL, which no database takes: its run would never end."""
    answer: Any = SimpleNamespace(digest="0" * 64, text=lambda decode: "a\0b")
    prompt = Prompt(id="p1", language="en", profile="chat", answer="prompt", text="Say it.")
    told = Reader(None, "en")._answer(answer, prompt)
    assert (told["output_text"], told["output_characters"]) == ("a\ufffdb", 3)
