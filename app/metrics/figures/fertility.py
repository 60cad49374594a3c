"""What a language costs with this tokenizer before any drafter: tokens per word and per character."""

import pandas as pd

from app.domain.sentence import plain
from app.metrics.base import Metric, Reading, Sums
from app.metrics.frame import Frames
from app.metrics.select import counted, why_untimed
from app.metrics.sums import missing, of_rows, reading

_COLUMNS = {
    ("prompts", "word"): ("prompt_tokens", "prompt_words"),
    ("prompts", "character"): ("prompt_tokens", "prompt_characters"),
    ("outputs", "word"): ("text_tokens", "output_words"),
    ("outputs", "character"): ("text_tokens", "output_characters"),
}


def _rows(frames: Frames) -> pd.DataFrame:
    speculative = counted(frames)
    return counted(frames, "plain") if speculative.empty else speculative


def _sums(frames: Frames) -> list[Sums]:
    rows = _rows(frames)
    given = [(key, columns) for key, columns in _COLUMNS.items() if not rows.empty and not rows[list(columns)].isna().any(axis=None)]
    return [
        of_rows(rows, lambda own: [own[name] for name in columns], part={"text": text, "per": per}, on_prompts=text == "prompts")  # noqa: B023
        for (text, per), columns in given
    ]


def _compute(frames: Frames) -> list[Reading]:
    found = [reading(sums, "ratio", frames, nothing=plain("There is no text to divide by.")) for sums in _sums(frames)]
    if found:
        return found
    return [missing(why_untimed(frames, "speculative") if _rows(frames).empty else plain("The source did not give the text's words and characters."))]


METRIC = Metric(
    id="fertility",
    order=220,
    unit="tokens",
    better="lower",
    formula="Σ tokens / Σ words, Σ tokens / Σ characters; prompts and outputs apart",
    compute=_compute,
    needs=("prompt_tokens", "prompt_words", "prompt_characters"),
    scale="ratio",
    sums=_sums,
)
