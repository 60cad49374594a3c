"""Whether what a runner found is what was asked of it: a figure must not be of another model or of other prompts than its run says."""

from collections.abc import Iterator

from app.domain.catalogue import Offer
from app.domain.drafting import asked_model, innermost, longest_draft
from app.domain.facts import UNTOLD, PreflightFact, RequestFact
from app.domain.spec import OWN_ENGINE, RunSpec
from app.domain.tokenizer import fingerprint_said

Wrong = tuple[str, str]
DTYPES = ("float32", "bfloat16", "float16")
OWN_CACHE = ("no draft cache", "not shared")


def disagreements(fact: PreflightFact, spec: RunSpec, offer: Offer, *, private: bool = False) -> Iterator[Wrong]:
    """(field, what is wrong with it). A folder has no name of its own and a suite that is not offered no known digest; those are not compared.
    `private` says whether the run's suite is."""
    yield from _of_the_engine(fact, spec, offer)
    offer = offer.on(spec.engine)
    yield from _of_target(fact, spec)
    yield from _of_dtype(fact, spec, offer)
    yield from _of_the_cache(fact, spec, offer)
    yield from _of_tokenizer(fact, spec)
    yield from _of_suite(fact, spec, offer, private=private)
    yield from _of_rule(fact, spec, offer)


def _of_target(fact: PreflightFact, spec: RunSpec) -> Iterator[Wrong]:
    wanted = spec.model.found_as
    if wanted is not None and fact.target != wanted:
        yield "target", f"the run asks for {wanted}, this is {fact.target}"
    if spec.model.revision is not None and fact.revision != spec.model.revision:
        yield "revision", f"the run asks for {spec.model.revision}, this is {fact.revision}"
    yield from _of_the_drafter(fact, spec)
    if (spec.chat_template == "none") != (fact.chat_template_digest is None):
        told = "none" if fact.chat_template_digest is None else "one"
        yield "chat_template_digest", f"the run asks for the chat template {spec.chat_template}, and this tells of {told}"
    if spec.compile and fact.compiled is None:
        yield "compiled", "the run asks for compiled forwards, and this tells of none"
    if fact.compiled is not None and not spec.compile:
        yield "compiled", "the run does not ask for compiled forwards, and this tells of some"


def _of_the_engine(fact: PreflightFact, spec: RunSpec, offer: Offer) -> Iterator[Wrong]:
    """Without its plain arm a run shows acceptance alone, so nobody may leave that out who has one."""
    served = offer.at(spec.engine)
    if not fact.plain_arm and (served is None or served.plain):
        yield "plain_arm", f"engine {spec.engine} has a plain arm, and this tells of none"
    if served is None and (fact.engine_command or fact.engine_arguments):
        yield "engine_command", f"{spec.engine} is no engine that a runner starts, and this tells of a command"


def _of_dtype(fact: PreflightFact, spec: RunSpec, offer: Offer) -> Iterator[Wrong]:
    asked = spec.model.dtype
    if asked != "auto" and fact.dtype != asked:
        yield "dtype", f"the run asks for {asked}, this is {fact.dtype}"
    if asked == "auto" and fact.dtype != (offer.auto_dtype or fact.dtype):
        yield "dtype", f"the run asks for auto, which this runner offers as {offer.auto_dtype}, and this is {fact.dtype}"
    if fact.dtype not in DTYPES:
        yield "dtype", f"no run can ask for {fact.dtype}; there is {', '.join(DTYPES)}"


def _of_the_cache(fact: PreflightFact, spec: RunSpec, offer: Offer) -> Iterator[Wrong]:
    name = innermost(spec.drafter).name
    shares = shares_cache(spec, offer)
    if shares and fact.shared_cache in OWN_CACHE:
        yield "shared_cache", f"{name} is offered as a drafter over the target's own cache, and this tells of {fact.shared_cache}"
    if shares is False and fact.shared_cache == "observed":
        yield "shared_cache", f"{name} is offered as a drafter without the target's cache, and this tells of a shared one"


def shares_cache(spec: RunSpec, offer: Offer) -> bool | None:
    """Whether the tokens of this run come out of the target's own layers; None where its runner does not say."""
    name = innermost(spec.drafter).name
    return next((part.shares_cache for part in offer.on(spec.engine).drafters if part.name == name), None)


def _of_tokenizer(fact: PreflightFact, spec: RunSpec) -> Iterator[Wrong]:
    """A tokenizer is called by its fingerprint, by the name that the run gives it, or by that of its model."""
    said = fingerprint_said(spec.tokenizer)
    if said is not None:
        agreed = fact.tokenizer.fingerprint.startswith(said)
    else:
        agreed = fact.tokenizer.name.lower() in {spec.tokenizer.lower(), fact.target.lower()}
    if not agreed:
        yield "tokenizer", f"the run names {spec.tokenizer}, this is {fact.tokenizer.short}"


def _of_suite(fact: PreflightFact, spec: RunSpec, offer: Offer, *, private: bool) -> Iterator[Wrong]:
    digests = {suite.digest for suite in offer.suites if suite.id == spec.suite.id}
    if digests and fact.suite_digest not in digests:
        yield "suite_digest", f"the suite {spec.suite.id} that this runner offers is {_short(*digests)}, this is {_short(fact.suite_digest)}"
    if fact.suite_private != private:
        state = "private" if private else "public"
        yield "suite_private", f"the suite {spec.suite.id} is {state}"
    prompts = sum(fact.profiles.values())
    if spec.suite.limit is not None and prompts > spec.suite.limit:
        yield "profiles", f"the run asks for at most {spec.suite.limit} prompts, these are {prompts}"
    strange = set(fact.profiles) - set(spec.suite.profiles or fact.profiles)
    if strange:
        yield "profiles", f"the run does not ask for {', '.join(sorted(strange))}"


def _of_rule(fact: PreflightFact, spec: RunSpec, offer: Offer) -> Iterator[Wrong]:
    """A rule is as lossless as the runner that has it says; one that it does not offer says nothing."""
    said = next((part.lossless for part in offer.verifiers if part.name == spec.verifier.name), None)
    if said is not None and fact.lossless != said:
        words = {True: "lossless", False: "lossy"}
        yield "lossless", f"the verifier {spec.verifier.name} is offered as {words[said]}, this calls it {words[fact.lossless]}"


def strays(fact: RequestFact, spec: RunSpec) -> Iterator[Wrong]:
    """The same of one request, for which the spec alone is enough: requests are many, and an offer is long."""
    if fact.emitted > spec.max_new_tokens:
        yield "emitted", f"the run asks for at most {spec.max_new_tokens} tokens, these are {fact.emitted}"
    if fact.finish == "length" and fact.emitted != spec.max_new_tokens:
        yield "finish", f"an answer of {fact.emitted} tokens did not end at the {spec.max_new_tokens} that the run asks for"
    most = longest_draft(spec)
    if fact.arm == "speculative" and most is not None and fact.longest_draft is not None and fact.longest_draft > most:
        yield "longest_draft", f"the run asks for drafts of at most {most} tokens, these may have {fact.longest_draft}"
    if fact.arm != "speculative" and fact.rounds:
        yield "rounds", f"the arm {fact.arm} decodes without drafts, and this tells of {fact.rounds} rounds"
    if spec.engine == OWN_ENGINE:
        yield from _untold(fact)


def _untold(fact: RequestFact) -> Iterator[Wrong]:
    """Our own loop counts everything itself; only somebody else's may be silent."""
    for name in UNTOLD:
        if getattr(fact, name) is None:
            yield name, f"the engine {OWN_ENGINE} counts it, and this does not tell it"
    if fact.rounds and not len(fact.round_drafted) == len(fact.round_slots) == fact.rounds:
        yield "round_drafted", f"the engine {OWN_ENGINE} lists its {fact.rounds} rounds, and this does not"


def _of_the_drafter(fact: PreflightFact, spec: RunSpec) -> Iterator[Wrong]:
    """A drafter that is asked for by the name of a model (SOURCE:NAME) must have run with that one. A folder has no name of its own."""
    asked = asked_model(spec.drafter)
    if asked is None:
        return
    source, _, name = asked.partition(":")
    wanted = {"package": asked, "zoo": asked, "hub": name.partition("@")[0]}.get(source)
    if fact.drafter_checkpoint is None:
        yield "drafter_checkpoint", f"the run asks for {asked} as the drafter's model, and this tells of none"
    elif wanted is not None and fact.drafter_checkpoint != wanted.partition("#")[0]:
        yield "drafter_checkpoint", f"the run asks for {wanted} as the drafter's model, this is {fact.drafter_checkpoint}"


def _short(*digests: str) -> str:
    return " or ".join(digest[:12] for digest in sorted(digests))
