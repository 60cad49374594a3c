"""Whether what a runner found is what was asked of it: a figure must not be of another model or of other prompts than its run says."""

from collections.abc import Iterator

from app.domain.catalogue import Offer
from app.domain.facts import PreflightFact
from app.domain.spec import RunSpec

Wrong = tuple[str, str]


def disagreements(fact: PreflightFact, spec: RunSpec, offer: Offer, *, private: bool = False) -> Iterator[Wrong]:
    """(field, what is wrong with it). A folder has no name of its own and a suite that is not offered no known digest; those are not compared.
    `private` says whether the run's suite is."""
    wanted = {"package": f"package:{spec.model.package}", "hub": spec.model.repository, "path": None}[spec.model.source]
    if wanted is not None and fact.target != wanted:
        yield "target", f"the run asks for {wanted}, this is {fact.target}"
    if spec.model.revision is not None and fact.revision != spec.model.revision:
        yield "revision", f"the run asks for {spec.model.revision}, this is {fact.revision}"
    yield from _of_the_drafter(fact, spec)
    if spec.compile and fact.compiled is None:
        yield "compiled", "the run asks for compiled forwards, and this tells of none"
    if fact.compiled is not None and not spec.compile:
        yield "compiled", "the run does not ask for compiled forwards, and this tells of some"
    digests = {suite.digest for suite in offer.suites if suite.id == spec.suite.id}
    if digests and fact.suite_digest not in digests:
        yield "suite_digest", f"the suite {spec.suite.id} that this runner offers is {_short(*digests)}, this is {_short(fact.suite_digest)}"
    if fact.suite_private != private:
        state = "private" if private else "public"
        yield "suite_private", f"the suite {spec.suite.id} is {state}"


def _of_the_drafter(fact: PreflightFact, spec: RunSpec) -> Iterator[Wrong]:
    """A drafter that is asked for by the name of a model (SOURCE:NAME) must have run with that one. A folder has no name of its own."""
    asked = spec.drafter.params.get("model")
    if not isinstance(asked, str):
        return
    source, _, name = asked.partition(":")
    wanted = {"package": asked, "hub": name.partition("@")[0]}.get(source)
    if fact.drafter_checkpoint is None:
        yield "drafter_checkpoint", f"the run asks for {asked} as the drafter's model, and this tells of none"
    elif wanted is not None and fact.drafter_checkpoint != wanted.partition("#")[0]:
        yield "drafter_checkpoint", f"the run asks for {wanted} as the drafter's model, this is {fact.drafter_checkpoint}"


def _short(*digests: str) -> str:
    return " or ".join(digest[:12] for digest in sorted(digests))
