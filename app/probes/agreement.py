"""Whether what a runner found is what the probe asks for: another model's perplexity under this one's name would look like a finding."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.domain.catalogue import Offer
from app.domain.probe import LEAST_WITHOUT_ATTENTION, LONGEST_TEXT, MOST_NATS, LastLayers, ProbeFound, ProbeSpec, share_of
from app.domain.prompt import Prompt
from app.domain.tokenizer import fingerprint_said

Wrong = tuple[str, str]
SHOWN = 3
# A tokenizer may put a few tokens of its own before and behind a text.
FRAME = 8
CLOSE = 1e-9


@dataclass(frozen=True)
class Known:
    """What the service knows without this runner's word: the model's `layers` and `shares` (what is left of a plain step without its attention), as
    every offer, pre-flight and probe of the same model or weights has told them; whether it is `dense`; and the digest of the suite with the
    prompts that are asked for, by language, None where it does not come with this installation."""

    layers: frozenset[int] = frozenset()
    shares: frozenset[float] = frozenset()
    dense: bool = False
    suite: tuple[str, Mapping[str, Sequence[Prompt]]] | None = None


def disagreements(found: ProbeFound, spec: ProbeSpec, offer: Offer, known: Known, fewest_tokens: int) -> Iterator[Wrong]:
    """(field, what is wrong with it)."""
    yield from _of_model(found, spec)
    yield from _of_layers(found, spec, known)
    digests = {suite.digest for suite in offer.suites if suite.id == spec.suite}
    if found.suite_digest not in digests:
        yield "suite_digest", f"the suite {spec.suite} that this runner offers is another one than {found.suite_digest[:12]}"
    yield from _of_texts(found, spec, fewest_tokens)
    if known.suite is None:
        return
    digest, prompts = known.suite
    if found.suite_digest != digest:
        yield "suite_digest", f"the suite {spec.suite} that comes with Bezmen is {digest[:12]}, this is {found.suite_digest[:12]}"
    yield from _of_prompts(found, prompts)


def _of_model(found: ProbeFound, spec: ProbeSpec) -> Iterator[Wrong]:
    model = spec.model
    wanted = model.found_as
    if wanted is not None and found.target != wanted:
        yield "target", f"the probe asks for {wanted}, this is {found.target}"
    if model.revision is not None and found.revision != model.revision:
        yield "revision", f"the probe asks for {model.revision}, this is {found.revision}"
    if model.dtype not in ("auto", found.dtype):
        yield "dtype", f"the probe asks for {model.dtype}, this is {found.dtype}"
    said = fingerprint_said(spec.tokenizer)
    names = {spec.tokenizer.lower(), found.target.lower()}
    if not (found.tokenizer.fingerprint.startswith(said) if said is not None else found.tokenizer.name.lower() in names):
        yield "tokenizer", f"the probe names {spec.tokenizer}, this is {found.tokenizer.short}"


def _of_layers(found: ProbeFound, spec: ProbeSpec, known: Known) -> Iterator[Wrong]:
    """What a draft costs decides what is said of speed, so nobody's word is taken for it."""
    others = known.layers - {found.layers}
    if others:
        yield "layers", f"the model has {_listed(others)} layers as offers, runs and probes of it told before, this tells of {found.layers}"
    if isinstance(spec.ablation, LastLayers):
        if spec.ablation.count >= found.layers:
            yield "layers", f"{spec.ablation.count} layers cannot be left out of {found.layers}"
            return
        shares = {share_of(spec.ablation, found.layers, None) or 0.0}
    elif known.dense:
        yield "layers", "the probe leaves out the attention of a hybrid, and this model has no other mixer"
        return
    else:
        shares = set(known.shares)
    told = found.draft_share
    if told is None:
        return
    if any(not math.isclose(told, share, abs_tol=CLOSE) for share in shares):
        yield "draft_share", f"a draft token costs {_listed(shares)} of a plain step by the layers of this model, this tells of {told:g}"
    elif not LEAST_WITHOUT_ATTENTION <= told < 1 and not isinstance(spec.ablation, LastLayers):
        yield "draft_share", f"a hybrid without its attention keeps half of its layers or more, and not all; this tells of {told:g}"


def _of_texts(found: ProbeFound, spec: ProbeSpec, fewest_tokens: int) -> Iterator[Wrong]:
    strange = {text.language for text in found.texts} - set(spec.languages)
    if strange:
        yield "texts", f"the probe does not ask for {', '.join(sorted(strange))}"
    if len({(text.language, text.prompt) for text in found.texts}) < len(found.texts):
        yield "texts", "a text is told of twice"
    for language in spec.languages:
        tokens, texts = found.tokens(language), sum(text.language == language for text in found.texts)
        if tokens < fewest_tokens:
            yield "texts", f"{tokens} tokens in {language} are fewer than the {fewest_tokens} that a probe needs"
        if texts > spec.limit:
            yield "texts", f"the probe asks for at most {spec.limit} texts in {language}, these are {texts}"
    for text in found.texts:
        worst = max(text.loss, text.ablated_loss) / text.tokens
        if worst > MOST_NATS:
            yield "texts", f"a loss of {worst:.4g} nats a token in {text.prompt} is no loss of a language model; {MOST_NATS:g} are the most"
            return


def _of_prompts(found: ProbeFound, prompts: Mapping[str, Sequence[Prompt]]) -> Iterator[Wrong]:
    """Texts of a runner's own choice under the name of a suite, some of the asked ones left out, and more tokens than a text has bytes."""
    for language, asked in prompts.items():
        wanted, told = {prompt.id: prompt for prompt in asked}, {text.prompt: text for text in found.texts if text.language == language}
        absent, strange = sorted(wanted.keys() - told.keys()), sorted(told.keys() - wanted.keys())
        if absent:
            yield "texts", f"the probe asks for {_first(absent)} in {language}, of which nothing is told"
        if strange:
            yield "texts", f"the probe does not ask for {_first(strange)} in {language}"
        for id in sorted(wanted.keys() & told.keys()):
            most = min(len(wanted[id].text.encode()) + FRAME, LONGEST_TEXT)
            if told[id].tokens > most:
                yield "texts", f"{id} has {most} tokens at most, this tells of {told[id].tokens}"
                break


def _first(ids: Sequence[str]) -> str:
    return ", ".join(ids[:SHOWN]) + (f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else "")


def _listed(numbers: frozenset[int] | set[float]) -> str:
    return " or ".join(f"{number:g}" for number in sorted(numbers))
