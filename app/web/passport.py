"""The passport as it is read: a line of few terms, a full list in five groups, two lists side by side."""

import shlex
from dataclasses import dataclass
from functools import partial

from app.domain.observations import LearnedFact
from app.domain.passport import Passport, stays_quantised
from app.domain.spec import OWN_ENGINE, Choice, Load, RunSpec, Sampling
from app.reports.axes import ENGINES_OWN
from app.reports.fields import field_name, field_value
from app.reports.format import decimal, number, say
from app.reports.loads import spoken
from app.reports.report import Comparison, Report
from app.reports.translate import gettext
from app.reports.words import mark

Term = tuple[str, str]
Row = tuple[str, str, bool]
# Blocks that are named, of those that at least this share of the draft tokens was drafted without.
SHOWN, OFTEN = 24, 0.5


def compact(report: Report, locale: str) -> list[Term]:
    """Target, drafter, language, tokenizer, load: always these, in this order; behind them how answers are drawn, if they are."""
    found = report.passport
    drawn = [(gettext("sampling", locale), sampling(report.spec.sampling, locale))] if report.spec.sampling.temperature > 0 else []
    return [*(asked(report.spec, locale) if found is None else _measured(found, locale)), *drawn]


def asked(spec: RunSpec, locale: str) -> list[Term]:
    """The same five terms before anything was measured; the tokenizer is what the submitter believes."""
    return [
        (gettext("target", locale), spec.model.title),
        (gettext("drafter", locale), part(spec.drafter, spec.engine)),
        (gettext("language", locale), spec.language),
        (gettext("tokenizer", locale), gettext("%(name)s, to be checked", locale) % {"name": spec.tokenizer}),
        (gettext("load", locale), load(spec.load, locale)),
    ]


def _measured(found: Passport, locale: str) -> list[Term]:
    same = gettext("same", locale) if found.tokenizers_agree else f"≠ {found.drafter_tokenizer.short}"
    precision = found.quantisation or found.dtype
    return [
        (gettext("target", locale), f"{found.target} {precision}"),
        (gettext("drafter", locale), part(found.drafter, found.engine)),
        (gettext("language", locale), language(found, locale)),
        (gettext("tokenizer", locale), f"{found.tokenizer.short}, {same}"),
        (gettext("load", locale), load(found.load, locale)),
    ]


def part(choice: Choice, engine: str = OWN_ENGINE) -> str:
    """`ngram (max_ngram 3)`, of a served engine `ngram-simple (llama; size_n 3)`"""
    params = ", ".join(f"{name} {value}" for name, value in choice.said.items())
    said = "; ".join(text for text in ("" if engine == OWN_ENGINE else engine, params) if text)
    return f"{choice.name} ({said})" if said else choice.name


def load(found: Load, locale: str) -> str:
    return spoken(found, locale)


def sampling(found: Sampling, locale: str) -> str:
    """`greedy`, or `temperature 0.7, top-k 50, seed 1`; greedy decoding draws nothing, so nothing else is said of it."""
    if found.temperature == 0:
        return gettext("greedy", locale)
    named = ((mark("temperature"), found.temperature), ("top-k", found.top_k), ("top-p", found.top_p), (mark("seed"), found.seed))
    return ", ".join(f"{gettext(name, locale)} {_shortest(value, locale)}" for name, value in named if value is not None)


def _shortest(value: float, locale: str) -> str:
    return str(value) if isinstance(value, int) else decimal(value, len(f"{value:.4f}".rstrip("0").partition(".")[2]), locale)


def language(found: Passport, locale: str) -> str:
    """`ru`, or `ru (answers: ru 75 %, en 25 %)` where the answers say something else."""
    others = {tag: share for tag, share in found.answer_language.items() if tag != found.language and share > 0}
    if not others:
        return found.language
    ordered = sorted(found.answer_language.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{tag} {number('share', share, locale=locale).value}" for tag, share in ordered)
    return f"{found.language} (" + gettext("answers", locale) + f": {shares})"


def full(report: Report, locale: str) -> list[tuple[str, list[Row]]]:
    """Everything in five groups; an empty value is printed as not recorded. The third member says that the value is a fingerprint."""
    p = report.passport
    if p is None:
        return []

    word, row = partial(gettext, locale=locale), partial(_row, locale=locale)

    def value(field: str) -> str:
        return field_value(field, str(getattr(p, field)), locale)

    profiles = ", ".join(f"{name} {count}" for name, count in p.profiles.items())
    stop = ", ".join(repr(text) for text in p.stop) or word("none")
    return [
        (word("What"), [
            row("target", p.target), row("revision", p.revision), row("weights", p.weights_digest, True),
            row("dtype", _dtype(p.dtype, p.quantisation, locale)),
            row("quantisation", p.quantisation or word("none")), row("parallel layout", value("parallel_layout")), row("drafter", part(p.drafter)),
            row("drafter checkpoint", p.drafter_checkpoint or word("none of its own")), row("drafter memory", value("drafter_memory")),
            row("draft length", part(p.controller) if p.engine == OWN_ENGINE else word(ENGINES_OWN)),
            *_learned(report.learned, locale),
            *_drafter_model(p, locale),
            row("verification", f"{part(p.verifier)}, " + (word("lossless") if p.lossless else word("lossy"))),
        ]),
        (word("Words"), [
            row("language", language(p, locale)), *_determined(report, locale),
            row("tokenizer", p.tokenizer.name), row("tokenizer fingerprint", p.tokenizer.fingerprint, True),
            row("drafter's tokenizer", p.drafter_tokenizer.name), row("drafter's fingerprint", p.drafter_tokenizer.fingerprint, True),
            row("prompts", f"{p.suite} {p.suite_version}"), row("prompts' digest", p.suite_digest, True), row("profiles", profiles),
            row("chat template", p.chat_template_digest or word("none"), p.chat_template_digest is not None),
            row("thinking", p.thinking or word("none")),
        ]),
        (word("How"), [
            row("load", load(p.load, locale)), row("sampling", sampling(p.sampling, locale)), row("stop strings", stop),
            row("ignores end of text", word("yes") if p.ignore_eos else word("no")), row("token limit", decimal(p.max_new_tokens, 0, locale)),
            row("context length", word("unknown") if p.context_length is None else decimal(p.context_length, 0, locale)),
            row("prefix cache", value("prefix_cache")),
            row("cache dtype", p.cache_dtype),
            row("cache shared by draft and verification", value("shared_cache")),
            row("verification in one batched forward", value("batched_verification")),
        ]),
        (word("Where"), [
            row("engine", f"{p.engine} {p.engine_version}"), *_served(p, locale),
            row("forwards", word("compiled") if p.compile else word("eager") if p.engine == OWN_ENGINE else word("as the engine has them")),
            row("hardware", p.hardware), row("hardware digest", p.hardware_digest, True),
        ]),
        (word("Definition"), [row("definitions of figures", p.definition), row("interval level", number("share", 0.95, locale=locale).value)]),
    ]  # fmt: skip


def _learned(found: LearnedFact | None, locale: str) -> list[Row]:
    """The blocks that a drafter which chooses as it goes left out most, and the costs that it chose by."""
    if found is None:
        return []
    row, names = partial(_row, locale=locale), (gettext("attention", locale), "MLP")
    most = sorted((block for block, share in enumerate(found.left_out) if share >= OFTEN), key=lambda block: (-found.left_out[block], block))
    said = [f"{names[block % 2]} {block // 2 + 1} ({number('share', found.left_out[block], locale=locale).value})" for block in sorted(most[:SHOWN])]
    more = "" if len(most) <= SHOWN else " …"
    rows = [row("blocks left out of most drafts", ", ".join(said) + more if said else gettext("none", locale))]
    if found.attention is not None and found.mlp is not None:
        costs = {"attention": number("seconds", found.attention, locale=locale).value, "mlp": number("seconds", found.mlp, locale=locale).value}
        rows.append(row("costs that they were chosen by", gettext("attention %(attention)s, MLP %(mlp)s a token", locale) % costs))
    return rows


def _determined(report: Report, locale: str) -> list[Row]:
    """Of how many answers the language could be told, out of those that it was to be told of."""
    gate = next((gate for gate in report.gates if gate.name in ("other language", "unknown language")), None)
    if gate is None or not (asked := gate.n if gate.name == "unknown language" else gate.asked):
        return []
    known = gate.n - gate.failing if gate.name == "unknown language" else gate.n
    said = gettext("%(n)s of %(asked)s", locale) % {"n": decimal(known, 0, locale), "asked": decimal(asked, 0, locale)}
    row = partial(_row, locale=locale)
    return [row("answers whose language could be determined", said)]


def _served(p: Passport, locale: str) -> list[Row]:
    """What tells a served engine from another of its version. One that a runner only attached to was started by somebody else."""
    if p.engine == OWN_ENGINE:
        return []
    row = partial(_row, locale=locale)
    command = shlex.join(p.engine_command) if p.engine_command else gettext("not known: it ran already", locale)
    return [
        row("engine's build", p.engine_build), row("command of the speculative arm", command, bool(p.engine_command)),
        row("arguments of the runner's own", shlex.join(p.engine_arguments) if p.engine_arguments else gettext("none", locale)),
    ]  # fmt: skip


def _drafter_model(p: Passport, locale: str) -> list[Row]:
    """What tells the drafter's own model, where it has one."""
    if p.drafter_checkpoint is None:
        return []
    row = partial(_row, locale=locale)
    return [
        row("drafter revision", p.drafter_revision), row("drafter weights", p.drafter_weights_digest, True),
        row("drafter dtype", _dtype(p.drafter_dtype, p.drafter_quantisation, locale)),
        row("drafter quantisation", p.drafter_quantisation or gettext("none", locale)),
    ]  # fmt: skip


def _dtype(dtype: str | None, quantisation: str | None, locale: str) -> str | None:
    """The type alone would say that the weights are of it."""
    if dtype is None or not stays_quantised(quantisation):
        return dtype
    words = {"dtype": dtype, "quantisation": quantisation}
    return gettext("%(dtype)s between operations; the weights stay %(quantisation)s", locale) % words


def _row(term: str, value: object, mono: bool = False, *, locale: str) -> Row:
    return (gettext(term, locale), "" if value is None else str(value), mono)


@dataclass(frozen=True)
class Contrasted:
    """One field in which passports differ: what each says, whether that is the question, and the words that forbid comparing."""

    field: str
    values: tuple[str, ...]
    expected: bool
    forbids: str


def side_by_side(comparison: Comparison, locale: str) -> list[Contrasted]:
    """Differing fields; those that forbid first, those that are the question last."""
    rows = [
        Contrasted(
            field_name(d.field, locale),
            tuple(field_value(d.field, value, locale) for value in d.values),
            d.expected,
            "" if d.forbids is None else say(d.forbids, locale),
        )
        for d in comparison.differences
    ]
    return sorted(rows, key=lambda row: (not row.forbids, row.expected))
