"""`bezmen compare`."""

from typing import Annotated

import typer

from app.commands.client import Client
from app.commands.output import AsJson, AsMarkdown, Junit, Locale, Output, Timeout, Tongue
from app.commands.settings import read, usage
from app.commands.told import of_comparison
from app.commands.wait import until_ended
from app.reports.report import Comparison


def compare(
    runs: Annotated[list[int], typer.Argument(help="Numbers of two runs or more; the others are held against the first, each at its own load.")],
    timeout: Timeout = None,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    junit: Junit = None,
    locale: Locale = Tongue.EN,
) -> None:
    """Compare runs by the differences of their pairs. Status 0 when all of them were contrasted, 3 when one cannot be or is refused."""
    runs = list(dict.fromkeys(runs))
    if len(runs) < 2:
        raise usage("a comparison takes two different runs at least, such as `bezmen compare 41 42`")
    settings = read()
    output = Output(as_json, as_markdown, junit, locale, settings.base_url)
    with Client(settings) as client:
        until_ended(client, runs, timeout)
        found = client.get(f"/api/v1/comparisons?runs={','.join(map(str, runs))}")
    output.end(of_comparison(Comparison.model_validate(found), locale), found)
