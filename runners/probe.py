"""A probe in the measuring process: one text after the other through the whole model and through the model without a part."""

from collections.abc import Iterator
from pathlib import Path

import torch
import transformers
from torch import Tensor

from app.domain.language import Language
from app.domain.probe import FEWEST_TOKENS, LONGEST_TEXT, Component, LastLayers, ProbeEnd, ProbeFound, ProbeSpec, ProbeText
from app.domain.prompt import Prompt
from app.domain.spec import Choice, RunSpec, SuiteChoice
from app.domain.suite import selection
from app.domain.tokenizer import TokenizerIdentity
from runners.endings import EXPECTED, ending_of
from runners.engine import ablation
from runners.engine.families import check_family
from runners.engine.hybrid_target import HybridTarget
from runners.engine.target import Target
from runners.engine.targets import ModelTarget, target_of
from runners.environment import describe, pick_device, pin
from runners.models.allowlist import Allowlist, tokenizer_names
from runners.models.load import Located, config_of, load_tokenizer, locate_model
from runners.models.shelf import Shelf
from runners.probe_job import END, ProbeJob
from runners.protocol.found import subject
from runners.protocol.preflight import check_language, check_memory, memory_needed, pick_dtype
from runners.protocol.unmeasurable import Unmeasurable
from runners.workloads import suite as suites
from runners.workloads.tokenizers import identify, matches

WHOLE = ablation.LastLayers(0)
Texts = list[tuple[Language, Prompt, list[int]]]


def work(folder: Path, shelf: Shelf) -> None:
    """The job in a folder, to its end, which lies there whole or not at all. Any error that is nobody's but ours goes on."""
    job = ProbeJob.read(folder)
    pin(list(job.cores))
    try:
        end = ProbeEnd(found=found(job, shelf))
    except EXPECTED as error:
        said = ending_of(error)
        end = ProbeEnd(code=said.code, reason=said.reason or said.code, retry_makes_sense=said.retry_makes_sense)
    draft = folder / f"{END}.part"
    draft.write_text(end.model_dump_json())
    draft.rename(folder / END)


def found(job: ProbeJob, shelf: Shelf) -> ProbeFound:
    """Raises one of EXPECTED."""
    spec, device = job.spec, pick_device()
    located = locate_model(spec.model, Allowlist.installed(job.roots, job.hub), job.cache)
    check_family(config_of(located))
    tokenizer = load_tokenizer(located)
    identity = identify(tokenizer, located.name)
    suite = suites.load(spec.suite)
    texts: Texts = []
    for language in spec.languages:
        asked = plain_run(spec, language)
        check_tokenizer(spec, identity)
        prompts = selection(suite, language, asked.suite).prompts
        check_language(asked, prompts)
        texts += [(language, prompt, list(tokenizer(prompt.text)["input_ids"])[: LONGEST_TEXT + 1]) for prompt in prompts]
    check_size(texts, spec)
    target = _target(located, pick_dtype(plain_run(spec, spec.languages[0]), device), shelf, device)
    return ProbeFound(
        environment=describe(device, list(job.cores)),
        **subject(located, str(target.dtype).removeprefix("torch."), identity, suite),
        layers=target.layers,
        draft_share=draft_share(target, spec),
        engine_version=f"bezmen on transformers {transformers.__version__}",
        texts=tuple(read(texts, target, spec)),
    )


def check_tokenizer(spec: ProbeSpec, identity: TokenizerIdentity) -> None:
    """Raises Unmeasurable where the model uses another one than whoever asked believes."""
    if not matches(spec.tokenizer, identity, tokenizer_names(spec.model)):
        raise Unmeasurable(
            "tokenizer_differs",
            f"The probe stopped before reading: you named {spec.tokenizer}, the model uses {identity.name} ({identity.fingerprint[:12]}).",
        )


def plain_run(spec: ProbeSpec, language: Language) -> RunSpec:
    """The plain decoding of the same prompts, of which the same is required."""
    suite = SuiteChoice(id=spec.suite, limit=spec.limit)
    return RunSpec(model=spec.model, drafter=Choice(name="none"), language=language, tokenizer=spec.tokenizer, suite=suite)


def check_size(texts: Texts, spec: ProbeSpec) -> None:
    """Raises Unmeasurable with the count where a language has too few tokens behind which something comes."""
    for language in spec.languages:
        tokens = sum(max(len(ids) - 1, 0) for tag, _, ids in texts if tag == language)
        if tokens < FEWEST_TOKENS:
            raise Unmeasurable(
                "few_tokens",
                f"{spec.suite} has {tokens} tokens in {language} in {spec.limit} prompts at most; a probe needs {FEWEST_TOKENS}. "
                "Ask for more prompts, or for another suite.",
            )


def read(texts: Texts, target: Target, spec: ProbeSpec) -> Iterator[ProbeText]:
    part = part_of(spec)
    for language, prompt, ids in texts:
        if len(ids) > 1:
            yield compared(language, prompt.id, ids, ablation.logits(target, ids[:-1], WHOLE), ablation.logits(target, ids[:-1], part))


def compared(language: Language, prompt: str, ids: list[int], whole: Tensor, ablated: Tensor) -> ProbeText:
    """Logits `[n, V]` of both behind the first n of n + 1 tokens."""
    after = torch.tensor(ids[1:], device=whole.device)[:, None]
    losses = [-each.float().log_softmax(-1).gather(1, after).sum().item() for each in (whole, ablated)]
    agreeing = (whole.argmax(-1) == ablated.argmax(-1)).tolist()
    digits = "".join("1" if same else "0" for same in agreeing)
    # Rounding may leave a certain text a little below 0.
    return ProbeText(
        language=language, prompt=prompt, tokens=len(digits), loss=max(losses[0], 0.0), ablated_loss=max(losses[1], 0.0), agreeing=digits
    )


def part_of(spec: ProbeSpec) -> ablation.Ablation:
    return ablation.Component() if isinstance(spec.ablation, Component) else ablation.LastLayers(spec.ablation.count)


def draft_share(target: Target, spec: ProbeSpec) -> float | None:
    """What is left of the layers, an attention and an MLP being half of one; None where the target does not tell what its parts are."""
    if isinstance(spec.ablation, LastLayers):
        return 1 - spec.ablation.count / target.layers
    if isinstance(target, HybridTarget):
        return float(target.wiring.passes(0, target.layers, frozenset(target.attentions)) / target.layers)
    return None


def _target(located: Located, dtype: torch.dtype, shelf: Shelf, device: torch.device) -> ModelTarget:
    shelf.make_room(located, dtype, device)
    check_memory(memory_needed(located, dtype, 1, LONGEST_TEXT, loaded=shelf.holds(located, dtype)))
    return target_of(shelf.model(located, dtype, device).model, slots=1, context=LONGEST_TEXT + 1, eos=frozenset())
