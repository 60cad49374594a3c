"""The result of `vllm bench serve --save-result`: totals alone, speculation read from the server's counters around the main run (read from and run
with vLLM 0.32)."""

from app.domain.counts import Counts
from app.domain.outside.imported import MOST_TOGETHER, Carried, Imported, Printed
from app.domain.outside.reading import Reading
from app.domain.outside.texts import Texts, texts_of
from app.domain.sentence import Sentence, plain
from app.imports.formats._build import absent, drafted, reading
from app.imports.formats._node import Node, first_object, top
from app.imports.formats.base import Document, Format, NotImported

NAME = "vllm-bench-serve"
TOOL = "vllm bench serve"
_KNOWN_BY = {"backend", "completed", "total_output_tokens", "request_throughput"}
_ROUNDS, _DRAFTED, _VERIFIED = "spec_decode_num_drafts", "spec_decode_draft_tokens", "spec_decode_accepted_tokens"
_RATES = "spec_decode_per_position_acceptance_rates"
# The tool's own figures: name, unit, the figure of ours that it corresponds to.
_PRINTED = (
    ("spec_decode_acceptance_rate", "percent", "acceptance_rate"),
    ("spec_decode_acceptance_length", "tokens", "tokens_per_round"),
    ("output_throughput", "tokens per second", "throughput"),
    ("mean_tpot_ms", "milliseconds", "time_per_output_token"),
    ("mean_ttft_ms", "milliseconds", "ttft"),
)
_LOAD = ("request_rate", "burstiness", "max_concurrency")


def _looks_like(document: Document) -> bool:
    return first_object(document).keys() >= _KNOWN_BY


def _read(document: Document) -> Imported:
    if isinstance(document.value, list):
        # --append-result writes one result after the other.
        if len(document.value) != 1:
            raise NotImported(plain("The file holds %(n)s results; import them one by one.", n=len(document.value)))
        document = Document(document.value[0])
    result = top(document)
    completed, failed = result.need("completed").as_count(), result.count("failed") or 0
    if completed == 0:
        result.wrong(plain("No request was answered, %(failed)s failed; the server was perhaps down. There is nothing to import.", failed=failed))
    if completed > MOST_TOGETHER:
        result.wrong(plain("The file holds %(given)s requests; at most %(most)s are taken.", given=completed, most=MOST_TOGETHER))
    rates = _rates(result)
    total = _total(result, completed, rates)
    carried = Carried(
        target=result.text("model_id"),
        tokenizer=result.text("tokenizer_id"),
        engine="vllm" if total.engine == "vllm" else None,
        longest_draft=len(rates) or None,
        load=_load(result),
        measured_at=result.text("date"),
    )
    return Imported(
        format=NAME, tool=TOOL, carried=carried, total=total, printed=_printed(result, rates), texts=_texts(result), remarks=_remarks(total, failed),
    )  # fmt: skip


def _texts(result: Node) -> Texts | None:
    """Of --save-detailed; a request that failed has an empty one there."""
    found = result.fields.get("generated_texts")
    return texts_of(each for each in found if isinstance(each, str)) if isinstance(found, list) else None


def _rates(result: Node) -> list[float]:
    found = result.at(_RATES)
    rates = [] if found is None else [each.as_share() for each in found.entries()]
    drafted(len(rates))
    return rates


def _total(result: Node, completed: int, rates: list[float]) -> Reading:
    rounds, drafted, verified = (result.count(name) for name in (_ROUNDS, _DRAFTED, _VERIFIED))
    told = {"rounds": (_ROUNDS, rounds), "drafted": (_DRAFTED, drafted), "verified": (_VERIFIED, verified)}
    counts = Counts(
        requests=completed,
        emitted=result.need("total_output_tokens").as_count(),
        rounds=rounds,
        drafted=drafted,
        verified=verified,
        longest_draft=len(rates) or None,
        # The tool divides by R; a sum that is not V then breaks the identity, as it should.
        kept_at=tuple(round(rate * rounds) for rate in rates) if rates and rounds is not None else None,
    )
    missing = absent(**{count: name for count, (name, value) in told.items() if value is None})
    # The counters are those of vLLM's server; without them any server of the same interface may have answered.
    served = any(value is not None for _, value in told.values())
    return reading("vllm" if served else "openai", NAME, counts, missing, before_stop=served)


def _load(result: Node) -> str | None:
    """In the tool's own words; a rate without end is the text "inf" there."""
    said = [f"{name} {found.as_written()}" for name in _LOAD if (found := result.at(name)) is not None]
    return ", ".join(said) or None


def _printed(result: Node, rates: list[float]) -> tuple[Printed, ...]:
    found = [(name, result.number(name), unit, figure) for name, unit, figure in _PRINTED]
    figures = [Printed(name=name, value=value, unit=unit, figure=figure) for name, value, unit, figure in found if value is not None]
    by_place = [
        Printed(name=f"{_RATES}[{place}]", value=rate, unit="fraction", figure="acceptance_at_all_rounds") for place, rate in enumerate(rates[:64])
    ]
    return (*figures, *by_place)


def _remarks(total: Reading, failed: int) -> tuple[Sentence, ...]:
    said = []
    if failed:
        said.append(plain("%(failed)s requests failed; what was drafted for them is in the counters all the same.", failed=failed))
    if total.engine == "vllm":
        said.append(plain("The counters are the whole server's: what other clients asked for meanwhile is in them; warm-up before the run is not."))
    else:
        said.append(plain("The file has no counters of speculation: it was off, or the server keeps none."))
    return tuple(said)


FORMAT = Format(NAME, TOOL, ("emitted", "rounds", "drafted", "verified", "kept_at"), _looks_like, _read)
