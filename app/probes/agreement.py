"""Whether what a runner found is what the probe asks for: another model's perplexity under this one's name would look like a finding."""

from collections.abc import Iterator

from app.domain.catalogue import Offer
from app.domain.probe import LastLayers, ProbeFound, ProbeSpec
from app.domain.tokenizer import fingerprint_said

Wrong = tuple[str, str]


def disagreements(found: ProbeFound, spec: ProbeSpec, offer: Offer, fewest_tokens: int) -> Iterator[Wrong]:
    """(field, what is wrong with it)."""
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
    digests = {suite.digest for suite in offer.suites if suite.id == spec.suite}
    if digests and found.suite_digest not in digests:
        yield "suite_digest", f"the suite {spec.suite} that this runner offers is another one than {found.suite_digest[:12]}"
    if isinstance(spec.ablation, LastLayers) and spec.ablation.count >= found.layers:
        yield "layers", f"{spec.ablation.count} layers cannot be left out of {found.layers}"
    yield from _of_texts(found, spec, fewest_tokens)


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
