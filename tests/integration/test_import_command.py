"""`bezmen import` against a real service: what it prints, and with which status it ends."""

import json
from pathlib import Path

from tests.app.imports.samples import content
from tests.integration.conftest import Place
from tests.integration.test_gate_command import Bench
from tests.integration.test_imports import BENCH


async def test_a_file_is_brought_and_told(place: Place, tmp_path: Path) -> None:
    """Catches a refused import that ends like a measured one, options that do not arrive, and a file that is sent although it cannot be read."""
    file = tmp_path / "result.json"
    file.write_text(json.dumps(BENCH))
    with place.serving() as (url, _):
        bench = Bench(url, place)
        async with bench.client:
            status, out, _ = await bench.say("import", file)
            assert status == 3
            assert out.splitlines()[0].endswith("/imports/1")
            assert "Refused: this import does not say in which language the prompts were." in out
            assert "81.5" not in out
            status, out, _ = await bench.say("import", file, "--language", "ru")
            assert status == 0
            assert "Acceptance, V/D: 81.5%" in out
            assert "There is no verdict" in out
            status, out, _ = await bench.say("import", file, "--json")
            assert (status, json.loads(out)["supplied"]["language"]) == (0, "ru")
            status, out, _ = await bench.say("import", file, "--locale", "ru")
            assert "Доля принятых, V/D" in out
            status, _, error = await bench.say("import", file, "--tokenizer", "gpt2")
            assert status == 2
            assert "cannot be contradicted" in error
            file.write_text("{}")
            status, _, error = await bench.say("import", file)
            assert (status, "these are read" in error) == (2, True)
            status, _, error = await bench.say("import", tmp_path / "none.json")
            assert (status, "cannot be read" in error) == (2, True)


async def test_two_texts_of_metrics_are_sent_together(place: Place, tmp_path: Path) -> None:
    """Catches counters since the start of the server that pass for those of a measurement."""
    after, before = tmp_path / "after.txt", tmp_path / "before.txt"
    names = ("spec_decode_num_drafts", "spec_decode_num_draft_tokens", "spec_decode_num_accepted_tokens", "generation_tokens", "request_success")

    def text(*counts: int) -> str:
        return "".join(f'vllm:{name}_total{{model_name="m"}} {count}.0\n' for name, count in zip(names, counts, strict=True))

    before.write_text(text(10, 40, 20, 100, 4))
    after.write_text(text(60, 240, 183, 433, 12))
    with place.serving() as (url, _):
        bench = Bench(url, place)
        async with bench.client:
            status, _, error = await bench.say("import", after)
            assert (status, "two of them" in error) == (2, True)
            status, out, error = await bench.say("import", after, "--before", before, "--language", "en", "--tokenizer", "t", "--json")
            assert status == 0, error
            found = json.loads(out)["report"]["counts"]
            assert (found["rounds"], found["drafted"], found["verified"]) == (50, 200, 163)
            after.write_bytes(content("llama_metrics/ngram_after.txt"))
            before.write_bytes(content("llama_metrics/ngram_before.txt"))
            status, _, error = await bench.say("import", after, "--before", before)
            assert (status, "does not count its requests" in error) == (2, True)
            status, out, error = await bench.say("import", after, "--before", before, "--requests", 8, "--concurrency", 1, "--json")
            assert status == 3, error
            assert json.loads(out)["report"]["counts"]["undrafted"] == 213
