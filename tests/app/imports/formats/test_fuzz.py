"""Whatever a file holds, it is refused with one sentence or it is read; and of what is read the identities hold, or they are named as broken."""

import gzip
import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.outside.imported import Imported
from app.domain.outside.untrusted import LARGEST
from app.imports.formats.base import NotImported
from app.imports.open import FORMATS, imported
from tests.app.imports.samples import content, document

FILES = (
    "vllm_bench_serve/ngram.json",
    "vllm_requests/ngram.jsonl",
    "llama_timings/ngram.jsonl",
    "aiperf/profile_export.jsonl",
    "aiperf/profile_export_aiperf.json",
    "speed_bench/spec.json",
)
MARK = "ⱷⱷⱷ"
WRONG: list[Any] = [
    None, True, -1, -10, 0, 7, 10**15, 10**16, 10**400, 0.5, -0.5, 1e308, "", "x", "7", MARK * 100, "y" * 250, "a\0b", "a\nb", "\ud800",
    [], {}, [[]], {"value": {}}, [1, "x", None], [-1], [10**16],
]  # fmt: skip
SPOILT = st.one_of(st.integers(-10, 10), st.sampled_from(WRONG))
quick = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


def outcome(data: bytes, **more: Any) -> Imported | None:
    """Fails on any other error than the one that is promised, on one that repeats the file's text, and on counts that no count can be."""
    try:
        found = imported(data, **more)
    except NotImported as error:
        said = str(error)
        assert MARK not in said
        assert len(said) < 1000
        assert said.isprintable()
        said.encode()
        return None
    for reading in (found.total, *(each.reading for each in found.requests)):
        counts = reading.counts
        values = [counts.emitted, counts.rounds, counts.drafted, counts.verified, counts.undrafted, counts.prefill_tokens]
        assert all(value is None or 0 <= value <= LARGEST * 100 for value in values)
        assert str(reading.closure)
        if not counts.broken() and counts.verified is not None:
            assert counts.drafted is None or counts.verified <= counts.drafted
    # It is kept as JSON, which is written in UTF-8 and has no NUL.
    kept = found.model_dump_json()
    assert "\\u0000" not in kept
    assert "a\\nb" not in kept
    assert Imported.model_validate_json(kept) == found
    return found


@quick
@given(st.binary(max_size=400), st.booleans())
def test_any_bytes(data: bytes, packed: bool) -> None:
    """Catches another error than a sentence."""
    outcome(gzip.compress(data) if packed else data)
    outcome(data, before=b"vllm:x_total 1\n")


@quick
@given(
    st.recursive(SPOILT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    st.sampled_from(sorted(FORMATS)),
)
def test_any_json_under_any_name(value: object, format: str) -> None:
    """Catches a reader that trusts who named the format."""
    outcome(json.dumps(value).encode(), format=format)


@pytest.mark.parametrize("name", FILES)
def test_every_place_of_a_true_file_with_every_wrong_value(name: str) -> None:
    """Catches a field whose type, sign or size is taken on trust."""
    value = document(name)
    whole = value[:2] + value[-1:] if isinstance(value, list) else value
    for inside, key in list(_places(whole)):
        kept = inside[key]
        for wrong in WRONG:
            inside[key] = wrong
            outcome(json.dumps(whole).encode())
        inside[key] = kept


@pytest.mark.parametrize("name", FILES)
@quick
@given(st.data())
def test_a_true_file_with_something_changed(name: str, data: st.DataObject) -> None:
    """Catches a field whose type, sign or absence is taken on trust, anywhere in a file."""
    value = document(name)
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(_places(value))
        inside, key = data.draw(st.sampled_from(places))
        if data.draw(st.booleans()):
            inside[key] = deepcopy(data.draw(SPOILT))
        else:
            del inside[key]
    outcome(json.dumps(value).encode())


@pytest.mark.parametrize("name", FILES)
@quick
@given(st.data())
def test_a_true_file_cut_off_or_with_bytes_exchanged(name: str, data: st.DataObject) -> None:
    """Catches half a file that is read as a whole one: what is left of it is refused, or is whole lines."""
    whole = content(name)
    cut = data.draw(st.integers(0, len(whole) - 1))
    found = outcome(whole[:cut])
    if found is not None:
        assert whole[:cut].strip().endswith(b"}")
    place = data.draw(st.integers(0, len(whole) - 4))
    piece = data.draw(st.sampled_from([b"NaN", b"9" * 50, b"-1", b'"', b"[", b"\xff", b"\0", b"\n"]))
    outcome(whole[:place] + piece + whole[place + len(piece) :])


@pytest.mark.parametrize("engine", ["llama", "vllm"])
@quick
@given(st.data())
def test_metrics_with_something_changed(engine: str, data: st.DataObject) -> None:
    """Catches a line of /metrics that is taken on trust."""
    after, before = content(f"{engine}_metrics/ngram_after.txt").decode(), content(f"{engine}_metrics/ngram_before.txt").decode()
    lines = after.split("\n")
    place = data.draw(st.integers(0, len(lines) - 1))
    spoilt = ["", "x", lines[place] + "0", lines[place].rpartition(" ")[0] + " NaN", lines[place].replace('"', ""), lines[place].replace("0", "1e99")]
    lines[place] = data.draw(st.sampled_from(spoilt))
    outcome("\n".join(lines).encode(), before=before.encode(), requests=data.draw(st.sampled_from([None, 0, 8, -1, 10**18])), concurrency=1)


def _places(value: Any) -> Any:
    """(what holds it, its key or place) of everything inside a JSON value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
