"""`bezmen import`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import httpx
import typer

from app.commands.client import Client
from app.commands.exits import STATUS
from app.commands.output import AsJson, Locale, Tongue
from app.commands.settings import read, shown, usage
from app.domain.sentence import Sentence
from app.reports.format import say
from app.reports.imported import ImportedReport
from app.reports.imported_shown import lines

LARGEST = 64 * 2**20


def bring(
    file: Annotated[Path, typer.Argument(help="What another tool wrote, or a server's /metrics from after the measurement.")],
    before: Annotated[Path | None, typer.Option(help="The server's /metrics from before the measurement.")] = None,
    language: Annotated[str | None, typer.Option(help="Language of the prompts, such as ru or en, where the file does not tell it.")] = None,
    tokenizer: Annotated[str | None, typer.Option(help="Name of the tokenizer, where the file does not tell it.")] = None,
    requests: Annotated[
        int | None, typer.Option(min=1, help="How many requests ended between the two /metrics; llama-server does not count them.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="How many of them ran at a time; of one at a time steps without a draft are known.")
    ] = None,
    format: Annotated[str | None, typer.Option(help="Id of the file's format, where the file does not tell it by itself.")] = None,
    as_json: AsJson = False,
    locale: Locale = Tongue.EN,
) -> None:
    """Bring results measured elsewhere: their figures, without a verdict. Status 2 when the file cannot be read, 3 when its figures are refused."""
    told = {"language": language, "tokenizer": tokenizer, "requests": requests, "concurrency": concurrency, "format": format}
    query = urlencode({name: value for name, value in told.items() if value is not None}, errors="backslashreplace")
    content, headers = _content(file), {"Content-Type": b"application/octet-stream"}
    if before is not None:
        content, headers = _form(content, _content(before))
    settings = read()
    with Client(settings) as client:
        made = client.send(f"/api/v1/imports?{query}", content, headers)
    if as_json:
        typer.echo(json.dumps(made, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace"))
    else:
        typer.echo(f"import {made['id']} {settings.base_url}/imports/{made['id']}")
        for line in _told(ImportedReport.model_validate(made["report"]), locale):
            typer.echo(line.encode("utf-8", "backslashreplace"))
    if made["report"]["refusing"]:
        raise typer.Exit(STATUS["could not be measured"])


def _told(report: ImportedReport, locale: str) -> Iterator[str]:
    said: list[Sentence] = [report.answer, report.closing, report.verdict]
    yield from dict.fromkeys(say(each, locale) for each in said)
    if not report.refusing:
        for line in lines(report, locale):
            yield f"  {line.name}: {line.text}"
    yield from (f"  {say(each, locale)}" for each in (*report.notes, *report.remarks))


def _form(file: bytes, before: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Both files as a form, and its type."""
    made = httpx.Request("POST", "http://form", files={"file": ("after", file), "before": ("before", before)})
    return made.read(), {"Content-Type": made.headers["content-type"].encode()}


def _content(file: Path) -> bytes:
    """Ends the command with status 2 where the file cannot be read or is too large."""
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise usage(f"{shown(file)} cannot be read: {error.strerror}") from error
    if len(content) > LARGEST:
        raise usage(f"{shown(file)} takes more than {LARGEST // 2**20} MiB")
    return content
