"""What tests of real engines ask, and what comes back with the engine's own counters around it."""

import asyncio
from typing import Any

from app.domain.outside.reading import Reading
from runners.engine.external.answer import Answer, Ask
from runners.engine.external.client import Client
from runners.engine.external.serving import Serving
from tests.runners.engine.external.test_client import Wall

SYSTEM = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
CHAT = SYSTEM + "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
PROMPTS = [
    CHAT.format(text)
    for text in (
        "Explain in two sentences why a bridge needs expansion joints.",
        "Repeat this text three times: The red boat left the quiet harbour at dawn. The blue boat stayed in the quiet harbour until noon.",
        "Объясни в двух предложениях, зачем мосту нужны деформационные швы.",
        "Повтори этот текст три раза: Красная лодка вышла из тихой гавани на рассвете.",
    )
]


def asks(tokens: int = 48, **over: Any) -> list[Ask]:
    return [Ask(prompt, tokens, **over) for prompt in PROMPTS]


async def ask_all(serving: Serving, asks: list[Ask], concurrency: int = 1) -> list[Answer]:
    gate = asyncio.Semaphore(concurrency)

    async def one(client: Client, ask: Ask) -> Answer:
        async with gate:
            return await serving.engine.ask(client, ask)

    async with serving.client(Wall()) as client:
        return list(await asyncio.gather(*(one(client, ask) for ask in asks)))


def measured(serving: Serving, asks: list[Ask], concurrency: int = 1) -> tuple[list[Answer], Reading]:
    """The answers, and what the server's counters say of all of them together."""

    async def run() -> tuple[list[Answer], str, str]:
        async with serving.client(Wall()) as client:
            before = await serving.engine.scrape(client)
            answers = await ask_all(serving, asks, concurrency)
            after = await serving.engine.scrape(client)
        assert before is not None
        assert after is not None
        return answers, before, after

    answers, before, after = asyncio.run(run())
    total = serving.engine.total(before, after, requests=len(asks), prompt_steps=len(asks) if concurrency == 1 else None)
    assert total is not None
    return answers, total
