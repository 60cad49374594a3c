"""`bezmen table` against a real service: which runs it takes, and its files."""

from pathlib import Path
from xml.etree import ElementTree

from tests.integration.conftest import Place
from tests.integration.test_gate_command import Bench


async def test_the_table_of_what_was_measured(place: Place, tmp_path: Path) -> None:
    """Catches a table without a finished run in it, one of older runs than the newest, and a picture that is no SVG."""
    with place.serving() as (url, _):
        bench = Bench(url, place)
        async with bench.client:
            status, out, error = await bench.say("table")
            assert (status, out) == (2, "")
            assert "No run has been measured yet" in error
            await bench.offer()
            first, last, russian = await bench.run(), await bench.run(acceptance=0.4), await bench.run(language="ru")
            file = tmp_path / "drafters.svg"
            status, out, error = await bench.say("table", "--picture", file)
            assert status == 0, error
            rows = [line.strip("| ").split(" | ") for line in out.splitlines() if line.startswith("| ngram")]
            assert [int(row[-1]) for row in rows] == [last, russian]
            assert "2 cores, 2 threads · commit unknown" in out.splitlines()[0]
            assert ElementTree.parse(file).getroot().tag.endswith("svg")
            status, out, _ = await bench.say("table", first, "--locale", "ru")
            assert status == 0
            assert "| Драфтер |" in out
            assert f"| {first} |" in out
