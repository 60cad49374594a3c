"""Every file of a tool gives the counts that were worked out by hand when it was written, and the traps in it are not fallen into."""

import json
from typing import Any

import pytest

from app.domain.estimate import Absent, Refusal
from app.domain.outside.imported import Imported
from app.domain.outside.supplied import Supplied
from app.imports.formats.base import NotImported
from app.imports.open import FORMATS, by_word, imported
from app.reports.format import say
from app.reports.imported import ImportedFigure, report
from tests.app.imports.samples import changed, content, document, told

# Of each tool the file of a speculating server.
SAMPLES = (
    "vllm_bench_serve/ngram.json", "vllm_requests/ngram.jsonl", "llama_timings/ngram.jsonl", "aiperf/profile_export.jsonl",
    "aiperf/profile_export_aiperf.json", "speed_bench/spec.json", "llama_metrics/ngram_after.txt", "vllm_metrics/ngram_after.txt",
)  # fmt: skip
WHOLE = Supplied(language="ru", tokenizer="t")


def read(name: str, **more: Any) -> Imported:
    return imported(content(name), **more)


@pytest.mark.parametrize(
    ("name", "format", "counts", "requests"),
    [
        ("vllm_bench_serve/ngram.json", "vllm-bench-serve", (8, 333, 50, 163, 200), 0),
        ("vllm_bench_serve/plain.json", "vllm-bench-serve", (8, 333, None, None, None), 0),
        ("vllm_requests/ngram.jsonl", "vllm-requests", (8, 424, 70, 182, 278), 8),
        ("vllm_requests/plain.jsonl", "vllm-requests", (8, 424, None, None, None), 8),
        ("llama_timings/ngram.jsonl", "llama-timings", (7, 369, None, 138, 203), 7),
        ("llama_timings/plain.jsonl", "llama-timings", (8, 433, None, None, None), 8),
        ("aiperf/profile_export.jsonl", "aiperf-jsonl", (8, 333, 50, 163, 200), 8),
        ("aiperf/profile_export_aiperf.json", "aiperf-summary", (8, 333, 50, 163, 200), 0),
        ("speed_bench/spec.json", "speed-bench", (10, 531, None, 226, 366), 8),
        ("speed_bench/baseline.json", "speed-bench", (10, 531, None, None, None), 8),
    ],
)
def test_counts_are_those_worked_out_by_hand(name: str, format: str, counts: tuple[int | None, ...], requests: int) -> None:
    """Catches warm-up that is added, keys that mean something else, and a file that another format takes for its own."""
    found = read(name)
    assert (found.format, told(found), len(found.requests)) == (format, counts, requests)
    assert found.total.counts.broken() == []
    assert not found.total.closure.suspect
    lacking = {each.count for each in found.total.absent}
    assert {field for field, value in zip(("rounds", "verified", "drafted"), counts[2:], strict=True) if value is None} <= lacking


@pytest.mark.parametrize(
    ("engine", "arm", "concurrency", "counts", "undrafted"),
    [
        ("llama", "ngram", 1, (8, 433, 35, 177, 258), 213),
        ("llama", "ngram", 2, (8, 433, 35, 177, 258), None),
        ("llama", "plain", 1, (8, 433, 0, 0, 0), 425),
        ("vllm", "ngram", 1, (8, 333, 50, 163, 200), 124),
        ("vllm", "ngram", None, (8, 333, 50, 163, 200), None),
        ("vllm", "plain", 1, (8, 333, None, None, None), None),
    ],
)
def test_metrics_of_before_and_after(engine: str, arm: str, concurrency: int | None, counts: tuple[int | None, ...], undrafted: int | None) -> None:
    """Catches totals since the server's start, and undrafted steps that are told although requests shared them."""
    folder = f"{engine}_metrics/{arm}"
    found = read(f"{folder}_after.txt", before=content(f"{folder}_before.txt"), requests=8, concurrency=concurrency)
    assert (found.format, told(found)) == (f"{engine}-metrics", counts)
    assert found.total.counts.undrafted == undrafted
    assert not found.total.closure.suspect


def test_llama_server_does_not_count_its_requests() -> None:
    """Catches a number of requests that is made up."""
    with pytest.raises(NotImported, match=r"^/requests: llama-server does not count"):
        read("llama_metrics/ngram_after.txt", before=content("llama_metrics/ngram_before.txt"))
    texts = {each: content(f"llama_metrics/ngram_{each}.txt").decode() for each in ("before", "after")}
    assert told(imported(json.dumps(texts | {"requests": 8}).encode())) == (8, 433, 35, 177, 258)


def test_a_number_of_requests_that_a_person_says_is_held_to_what_can_be() -> None:
    """Catches counts that close because they were made to: more requests than tokens, and a server that did nothing between the texts."""
    before, after = (content(f"llama_metrics/ngram_{each}.txt") for each in ("before", "after"))
    with pytest.raises(NotImported, match=r"^/requests: 434 requests cannot have delivered 433 tokens"):
        read("llama_metrics/ngram_after.txt", before=before, requests=434)
    with pytest.raises(NotImported, match="No token was delivered"):
        read("llama_metrics/ngram_after.txt", before=after, requests=8)
    found = read("llama_metrics/ngram_after.txt", before=before, requests=433)
    assert any("Nobody has read the answers" in each.text for each in report(found, Supplied(language="ru", tokenizer="t")).notes)


@pytest.mark.parametrize(
    ("requests", "concurrency", "kind", "said"),
    [
        (8, 1, "closes", "close with 8 requests, as a person told"),
        (8, None, "undrafted_implied", "With 8 requests, as a person told, the counts close if at least 213 steps"),
        (221, None, "closes", "close with 221 requests, as a person told"),
        (222, None, "overshoot", "With 222 requests, as a person told, the counts close with an overshoot of 1"),
        (433, None, "overshoot", "as a person told"),
    ],
)
def test_counts_that_close_with_a_persons_word_say_so(requests: int, concurrency: int | None, kind: str, said: str) -> None:
    """Catches "every delivered token is accounted for" of a number that somebody typed, and the number shown as the file's."""
    before = content("llama_metrics/ngram_before.txt")
    made = report(read("llama_metrics/ngram_after.txt", before=before, requests=requests, concurrency=concurrency), WHOLE)
    assert made.closure == kind
    closing = say(made.closing).replace("\u00a0", " ")
    assert said in closing
    assert "does not prove the number" in closing
    assert (made.known["requests"], made.told_by["requests"]) == (str(requests), "person")
    assert made.passport is not None
    assert made.passport.told_by["requests"] == "person"
    assert not any("person" in each.text for each in (*made.notes, *made.remarks))


@pytest.mark.parametrize("engine", ["llama", "vllm"])
def test_what_is_kept_of_two_texts_makes_the_same_counts(engine: str) -> None:
    """Catches a counter that is read and not kept, and counts made anew that differ from those of the texts."""
    folder, before = f"{engine}_metrics/ngram", content(f"{engine}_metrics/ngram_before.txt")
    first = read(f"{folder}_after.txt", before=before, requests=8)
    stored = Imported.model_validate_json(first.model_dump_json(exclude_defaults=True))
    assert 4 < len(stored.moved) < 40
    format = FORMATS[first.format]
    assert format.anew is not None
    for requests, concurrency in ((8, None), (8, 1), (8, 4)):
        whole = read(f"{folder}_after.txt", before=before, requests=requests, concurrency=concurrency)
        assert by_word(format, format.anew(stored, requests, concurrency)) == whole


def test_a_number_of_requests_that_the_server_counted_is_nobodys_word() -> None:
    """Catches a doubt of what vLLM counts itself."""
    made = report(read("vllm_metrics/ngram_after.txt", before=content("vllm_metrics/ngram_before.txt"), requests=8, concurrency=1), WHOLE)
    assert "as a person told" not in say(made.closing)
    assert "requests" not in made.known


def test_a_server_that_counted_others_too_is_not_taken_for_ours() -> None:
    """Catches warm-up and other clients between the two texts, where somebody said how many requests there were."""
    with pytest.raises(NotImported, match=r"^/requests: The server counted 8 requests between the two texts, not 7"):
        read("vllm_metrics/ngram_after.txt", before=content("vllm_metrics/ngram_before.txt"), requests=7)


def test_one_text_of_metrics_is_told_so_under_any_name() -> None:
    """Catches a format that is named and answers one text with a sentence about JSON objects."""
    for name in ("vllm-metrics", "llama-metrics", "vllm-requests"):
        with pytest.raises(NotImported, match="give two of them"):
            read("vllm_metrics/ngram_after.txt", format=name)


def test_metrics_the_wrong_way_round_and_of_no_request() -> None:
    """Catches negative differences, and figures of nothing."""
    with pytest.raises(NotImported, match="restarted"):
        read("vllm_metrics/ngram_before.txt", before=content("vllm_metrics/ngram_after.txt"))
    with pytest.raises(NotImported, match="No request ended"):
        read("vllm_metrics/ngram_after.txt", before=content("vllm_metrics/ngram_after.txt"))
    with pytest.raises(NotImported, match="give two of them"):
        read("vllm_metrics/ngram_after.txt")


def test_acceptance_by_position_of_rounds_that_drafted_so_far() -> None:
    """Catches depths that are taken for the longest draft, and conditional rates over rounds that never made the draft: by hand, from the steps."""
    steps = [each["metrics"]["speculative_decoding"] for each in document("vllm_requests/ngram.jsonl")]
    rounds = [pair for each in steps for pair in zip(each["per_step_drafted"], each["per_step_accepted"], strict=True)]
    found = report(read("vllm_requests/ngram.jsonl"), Supplied(language="ru", tokenizer="t"))
    assert {made for made, _ in rounds} > {4}
    for i in (1, 2, 3, 4):
        kept = sum(held >= i for _, held in rounds)
        below = {
            "acceptance_at": sum(made >= i for made, _ in rounds),
            "acceptance_at_all_rounds": len(rounds),
            "acceptance_given_previous": sum(made >= i and held >= i - 1 for made, held in rounds),
        }
        for id, n in below.items():
            cell = found.find(id, position=str(i))
            assert isinstance(cell, ImportedFigure), (id, i)
            assert cell.pooled.point == pytest.approx(kept / n), (id, i)
            assert (cell.pooled.of or cell.pooled.n, cell.pooled.low is not None) == (8, True)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_format_tells_what_it_says_it_can_tell(name: str) -> None:
    """Catches a table of formats that promises what no file gives, or leaves out what one does."""
    before = content(name.replace("_after", "_before")) if "_after" in name else None
    found = read(name, before=before, requests=8 if before else None, concurrency=1 if before else None)
    format = FORMATS[found.format]
    fields = {"emitted", "rounds", "drafted", "verified", "undrafted", "histogram", "kept_at", "drafted_at"}
    assert {field for field in fields if getattr(found.total.counts, field) is not None} == fields & {*format.gives}
    assert bool(found.requests) == format.singles


def test_what_the_tool_printed_stands_with_its_unit() -> None:
    """Catches 81.5 as a share, and our figure under the tool's name."""
    printed = {each.name: (round(each.value, 3), each.unit, each.figure) for each in read("vllm_bench_serve/ngram.json").printed}
    assert printed["spec_decode_acceptance_rate"] == (81.5, "percent", "acceptance_rate")
    assert printed["spec_decode_acceptance_length"] == (4.26, "tokens", "tokens_per_round")
    assert printed["spec_decode_per_position_acceptance_rates[3]"] == (0.74, "fraction", "acceptance_at_all_rounds")
    said = {each.name: (round(each.value, 4), each.unit, each.figure) for each in read("speed_bench/spec.json").printed}
    assert said["accept_rate"] == (0.6175, "fraction", "acceptance_rate")


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("vllm_requests/ngram.jsonl", ["draft_acceptance_rate", "mean_acceptance_length"]),
        ("aiperf/profile_export.jsonl", ["spec_decode_draft_acceptance_rate", "spec_decode_acceptance_length", "spec_decode_accepted_per_verified"]),
    ],
)
def test_what_the_tool_printed_of_every_request_is_held_against_ours_of_it(name: str, printed: list[str]) -> None:
    """Catches a tool's numbers that are passed over, or held against the figure of all requests together."""
    found = report(read(name), WHOLE)
    assert [each.name for each in found.beside] == printed
    for each in found.beside:
        assert each.same is True, each
        assert "in 8 of 8 it is equal to ours of the same request" in say(each.why)


def test_the_request_whose_own_number_is_furthest_from_ours_stands_there() -> None:
    """Catches a wrong number of one request that goes under among those of the others, and a reason that does not give it."""

    def wrong(lines: list[dict[str, Any]]) -> None:
        # One length without the target's own token; of one answer nothing is told.
        told = lines[5]["metrics"]["speculative_decoding"]
        told["mean_acceptance_length"] -= 1
        lines[2]["metrics"]["speculative_decoding"] = {"num_spec_steps": 0, "mean_acceptance_length": 1.0}

    made = changed("vllm_requests/ngram.jsonl", wrong)
    rate, length = report(made, WHOLE).beside
    assert rate.same is True
    assert length.same is False
    said = say(length.why)
    assert "in 1 of 7 it differs" in said
    assert made.requests[5].name in said
    assert "leaves out the target's own token" in said
    assert length.ours is not None
    assert length.value == pytest.approx(length.ours - 1)


def test_a_tool_that_prints_no_figure_of_ours_has_none_beside_ours() -> None:
    """Catches figures made up for a file that has none."""
    found = read("llama_metrics/ngram_after.txt", before=content("llama_metrics/ngram_before.txt"), requests=8)
    assert report(found, WHOLE).beside == ()


def test_means_over_requests_stand_beside_pooled_figures() -> None:
    """Catches 70.3 % and 81.5 % of one file under one name, or one of them left out."""
    found = read("aiperf/profile_export_aiperf.json")
    printed = {each.name: (round(each.value, 3), each.unit) for each in found.printed if each.figure == "acceptance_rate"}
    assert printed == {"spec_decode_overall_draft_acceptance_rate": (81.5, "percent"), "spec_decode_draft_acceptance_rate": (70.312, "percent")}
    beside = {each.name: each.why.text for each in report(found, Supplied(language="ru")).beside if each.same is False}
    assert len(beside) == 3
    assert all("mean of each request's own" in why for why in beside.values())
    assert (found.carried.tokenizer, found.carried.load, found.tool_version) == ("models/smollm2-bf16", "concurrency 1", "0.13.0")
    assert found.total.counts.histogram == (5, 2, 5, 1, 37)


RU = "Лодка вышла из гавани на рассвете и вернулась только к вечеру, когда поднялся ветер."
EN = "The boat left the harbour at dawn and came back in the evening, when the wind had risen."


def chat(text: str) -> Any:
    return lambda lines: [line.update(choices=[{"message": {"role": "assistant", "content": text}}]) for line in lines]


def completion(text: str) -> Any:
    return lambda lines: [line.update(choices=[{"text": text}]) for line in lines]


def content_of_llama(text: str) -> Any:
    return lambda lines: [line.update(content=text) for line in lines]


def generated(text: str) -> Any:
    return lambda file: file.update(generated_texts=[text] * 8)


@pytest.mark.parametrize(
    ("name", "answering", "n"),
    [
        ("vllm_requests/ngram.jsonl", chat, 8),
        ("vllm_requests/ngram.jsonl", completion, 8),
        ("llama_timings/ngram.jsonl", content_of_llama, 7),
        ("llama_timings/ngram.jsonl", chat, 7),
        ("vllm_bench_serve/ngram.json", generated, 8),
    ],
)
def test_answers_in_other_letters_than_the_languages_are_refused(name: str, answering: Any, n: int) -> None:
    """Catches English acceptance under a Russian label, a looping file that flatters, and somebody's text that is kept."""
    english = changed(name, answering(EN))
    assert EN[:20] not in english.model_dump_json()
    named = None if english.carried.tokenizer else "t"
    made = report(english, Supplied(language="ru", tokenizer=named))
    assert made.refusing == ("language",)
    assert isinstance(made.headline, Refusal)
    assert say(made.headline.reason) == f"Refused as Russian: {n} of {n} answers are written in Latin letters."
    assert made.headline.remedy is not None
    assert "language that the answers are written in" in say(made.headline.remedy)
    right = report(english, Supplied(language="en", tokenizer=named))
    assert right.refusing == ()
    notes = [say(each) for each in right.notes]
    assert any(f"Of {n} answers in the file {n} were read for loops and for Latin letters alone" in each for each in notes)
    assert not any("Nobody has read" in each for each in notes)
    looping = report(changed(name, answering("кульция, как объядожная " * 9)), Supplied(language="ru", tokenizer=named))
    assert looping.refusing == ("degenerate",)
    assert report(changed(name, answering(RU)), Supplied(language="ru", tokenizer=named)).refusing == ()


def test_short_answers_are_judged_together() -> None:
    """Catches a file of one-word answers in the other script, none of which has letters enough."""
    made = report(changed("vllm_requests/ngram.jsonl", chat("Yes, it is.")), WHOLE)
    assert made.refusing == ("language",)
    assert "100.0% of the letters of the answers are Latin" in say(made.answer)


def test_a_tenth_of_the_answers_may_loop_and_is_told() -> None:
    """Catches a loop that goes without a word, and one answer of eleven that refuses all."""

    def one(lines: list[dict[str, Any]]) -> None:
        lines.extend({**each, "id": f"again {place}"} for place, each in enumerate(lines[:3]))
        chat(RU)(lines)
        chat("кульция, как объядожная " * 9)(lines[:1])

    made = report(changed("vllm_requests/ngram.jsonl", one), WHOLE)
    assert made.refusing == ()
    assert any("1 of 11 answers repeat themselves; all stay in" in say(each) for each in made.notes)


def test_a_warm_up_is_no_measurement() -> None:
    """Catches the summary that AIPerf writes of a single phase, which looks like that of the run and may be the warm-up's."""

    def phase(file: dict[str, Any]) -> None:
        del file["warmup_metrics"]
        file["completed_request_count"]["avg"] = 2.0

    with pytest.raises(NotImported, match="summary of one phase"):
        changed("aiperf/profile_export_aiperf.json", phase)
    with pytest.raises(NotImported, match="no tool that is known here"):
        changed("aiperf/profile_export_aiperf.json", lambda file: file.update(metrics={}))


def test_a_file_carries_what_it_names_and_never_a_language() -> None:
    """Catches a tokenizer that is guessed from the model's name, and any language."""
    carried = read("vllm_bench_serve/ngram.json").carried
    assert (carried.target, carried.tokenizer, carried.engine, carried.longest_draft) == ("smollm2", "models/smollm2-bf16", "vllm", 4)
    assert carried.load == "request_rate inf, burstiness 1, max_concurrency 1"
    for name in ("vllm_requests/ngram.jsonl", "llama_timings/ngram.jsonl", "aiperf/profile_export.jsonl", "speed_bench/spec.json"):
        other = read(name).carried
        assert (other.tokenizer, other.language) == (None, None)


def test_a_server_that_was_down_is_no_result() -> None:
    """Catches zero tokens of zero requests taken for a measurement, and a path of somebody's machine kept with it."""

    def down(file: dict[str, Any]) -> None:
        file.update(completed=0, failed=8, total_output_tokens=0, errors=['File "/home/heron/vllm/serve.py", line 1'] * 8)

    with pytest.raises(NotImported) as error:
        changed("vllm_bench_serve/plain.json", down)
    assert "8 failed" in str(error.value)
    assert "heron" not in str(error.value)


def test_errors_of_a_file_are_never_kept() -> None:
    """Catches a traceback with the paths of a machine among what is stored."""

    def some(file: dict[str, Any]) -> None:
        file.update(completed=7, failed=1, errors=['File "/home/heron/vllm/serve.py", line 1'] + [""] * 7)

    found = changed("vllm_bench_serve/ngram.json", some)
    assert "heron" not in found.model_dump_json()
    assert any("requests failed" in each.text for each in found.remarks)


def test_positions_halved_by_two_ranks_are_seen() -> None:
    """Catches rates of positions that were overwritten by each engine rank: their sum is half of V/R."""

    def halve(file: dict[str, Any]) -> None:
        name = "spec_decode_per_position_acceptance_rates"
        file[name] = [rate / 2 for rate in file[name]]

    found = changed("vllm_bench_serve/ngram.json", halve)
    assert any("several engine ranks" in text for text in found.total.counts.broken())


def test_more_kept_than_drafted_is_broken() -> None:
    """Catches a rate above 1 that passes: the bonus token was counted."""

    def bonus(file: dict[str, Any]) -> None:
        file["spec_decode_accepted_tokens"] = 213

    assert any("V ≤ D is broken" in text for text in changed("vllm_bench_serve/ngram.json", bonus).total.counts.broken())


def test_counted_but_never_emitted() -> None:
    """Catches a public run of 80 requests refused for the 114 tokens that vLLM kept behind its stops."""

    def eagle(file: dict[str, Any]) -> None:
        file.update(completed=80, total_output_tokens=16990, spec_decode_num_drafts=4816, spec_decode_draft_tokens=33712)
        file.update(spec_decode_accepted_tokens=12208, spec_decode_per_position_acceptance_rates=[0.0] * 7)

    found = changed("vllm_bench_serve/ngram.json", eagle)
    assert str(found.total.closure) == "closes with overshoot 114"


def test_one_answer_without_its_drafts_takes_the_total_along() -> None:
    """Catches the sum over seven of eight answers called the total: after a stop string vLLM tells nothing of an answer's drafts."""

    def stop(lines: list[dict[str, Any]]) -> None:
        lines[2]["metrics"]["speculative_decoding"] = None

    found = changed("vllm_requests/ngram.jsonl", stop)
    assert told(found) == (8, 424, None, None, None)
    assert sum(each.reading.counts.rounds is not None for each in found.requests) == 7
    assert found.requests[2].reading.counts.rounds is None
    assert any("stop string" in each.text for each in found.remarks)
    made = report(found, WHOLE)
    for id in ("acceptance_rate", "tokens_per_round", "acceptance_at_all_rounds"):
        cell = made.find(id)
        assert isinstance(cell, Absent)
        said = say(cell.reason)
        assert said.startswith("1 of 8 requests do not tell"), said
        assert found.requests[2].name in said
        assert ("looked for: metrics.speculative_decoding" in said) == (id != "acceptance_at_all_rounds")


def test_an_answer_that_tells_no_round_drafted_nothing() -> None:
    """Catches a total that is lost to an answer whose own counter says that there was nothing, and a null object taken for that."""

    def none(lines: list[dict[str, Any]]) -> None:
        lines[2]["metrics"]["speculative_decoding"] = {"num_spec_steps": 0, "num_draft_tokens": None}

    found = changed("vllm_requests/ngram.jsonl", none)
    own = document("vllm_requests/ngram.jsonl")[2]["metrics"]["speculative_decoding"]
    assert told(found) == (8, 424, 70 - own["num_spec_steps"], 182 - own["num_accepted_draft_tokens"], 278 - own["num_draft_tokens"])
    assert found.requests[2].reading.absent == ()
    assert found.total.counts.histogram is not None
    assert isinstance(report(found, WHOLE).find("acceptance_rate"), ImportedFigure)


def test_warm_up_and_failures_of_aiperf_are_told() -> None:
    """Catches records that vanish without a word, and E by the client's tokenizer where the server's is there."""
    found = read("aiperf/profile_export.jsonl")
    assert {each.emitted_by for each in found.requests} == {"usage_completion_tokens"}
    assert [each.values for each in found.remarks] == [{"n": 2}]
    assert found.total.counts.histogram == (5, 2, 5, 1, 37)

    def client(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            del line["metrics"]["usage_completion_tokens"]
            line["metrics"]["output_sequence_length"]["value"] += 1
        lines[9]["error"] = {"type": "ConnectionError"}

    found = changed("aiperf/profile_export.jsonl", client)
    assert (found.total.counts.requests, {each.emitted_by for each in found.requests}) == (7, {"output_sequence_length"})
    assert len(found.remarks) == 3


def test_nothing_drafted_is_zero_where_others_were() -> None:
    """Catches a sample without drafts in a speculating run taken for unknown, and 0 of a plain run taken for observed."""
    requests = {each.name: each.reading.counts for each in read("speed_bench/spec.json").requests}
    drafted = {each["id"]: each["draft_n"] for each in document("speed_bench/spec.json")["results"]}
    assert {name: each.drafted for name, each in requests.items()} == drafted
    assert all(each.reading.counts.drafted is None for each in read("speed_bench/baseline.json").requests)
    first = read("llama_timings/ngram.jsonl").requests[0].reading.counts
    assert (first.drafted, first.rounds) == (0, 0)


def test_a_renamed_key_is_absent_and_never_zero() -> None:
    """Catches what happened to users of a renamed key: acceptance 0.0 and length 1.0 for months."""

    def rename(file: dict[str, Any]) -> None:
        file["spec_decode_num_rounds"] = file.pop("spec_decode_num_drafts")

    found = changed("vllm_bench_serve/ngram.json", rename)
    assert found.total.counts.rounds is None
    assert found.total.absent[0].looked_for == ("spec_decode_num_drafts",)


def test_two_runs_in_one_file_are_refused() -> None:
    """Catches a file that was appended to: every count twice."""
    with pytest.raises(NotImported, match="stands twice"):
        changed("aiperf/profile_export.jsonl", lambda lines: lines.extend(lines[-3:]))
    with pytest.raises(NotImported, match="differs between entries"):
        changed("vllm_requests/ngram.jsonl", lambda lines: lines[1].update(model="other"))
