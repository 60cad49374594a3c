"""Whether what a runner found is what was asked of it: a figure must not be of another model or of other prompts than its run says."""

from collections.abc import Iterator

from app.domain.catalogue import Offer
from app.domain.facts import PreflightFact
from app.domain.spec import RunSpec

Wrong = tuple[str, str]


def disagreements(fact: PreflightFact, spec: RunSpec, offer: Offer) -> Iterator[Wrong]:
    """(field, what is wrong with it). A folder has no name of its own and a suite that is not offered no known digest; those are not compared."""
    wanted = {"package": f"package:{spec.model.package}", "hub": spec.model.repository, "path": None}[spec.model.source]
    if wanted is not None and fact.target != wanted:
        yield "target", f"the run asks for {wanted}, this is {fact.target}"
    if spec.model.revision is not None and fact.revision != spec.model.revision:
        yield "revision", f"the run asks for {spec.model.revision}, this is {fact.revision}"
    digests = {suite.digest for suite in offer.suites if suite.id == spec.suite.id}
    if digests and fact.suite_digest not in digests:
        yield "suite_digest", f"the suite {spec.suite.id} that this runner offers is {_short(*digests)}, this is {_short(fact.suite_digest)}"


def _short(*digests: str) -> str:
    return " or ".join(digest[:12] for digest in sorted(digests))
