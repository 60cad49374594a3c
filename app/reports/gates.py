"""The checks that may refuse a run's figures (definitions § 5). A refusal is an answer with a reason.

Requests are never dropped one by one, which would select prompts by language: up to the limit all stay in and the share is printed.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from app.domain.counts import Closure, Counts
from app.domain.language import base_of
from app.domain.sentence import Quantity, Sentence, plain
from app.metrics.columns import Answer
from app.reports.answers import FEWEST_LETTERS, measured_language
from app.reports.report import Gate, Losslessness

# The share of a figure's requests that may fail a check.
TOLERATED = 0.1
# The share of its answers that a check must be able to judge: answers that can be judged are the longer ones, and fewer than half of all are no
# sample of the rest.
FEWEST_JUDGED = 0.5


def _share(value: float) -> Quantity:
    return Quantity(kind="share", value=value)


def degenerate(plain_answers: Sequence[Answer]) -> Gate:
    """Answers of the plain arm that repeat themselves, as the runner judged their text. One that was not judged neither passes nor refuses; where
    that is most of them, the check was not made, and that refuses."""
    known = [answer for answer in plain_answers if answer.degenerate is not None]
    asked = len(plain_answers)
    if len(known) < FEWEST_JUDGED * asked:
        said = _unjudged(len(known), asked)
        return Gate(name="degenerate", refused=True, failing=asked - len(known), n=asked, limit=1 - FEWEST_JUDGED, sentence=said)
    looping = [answer for answer in known if answer.degenerate]
    failing, n = len(looping), len(known)
    refused = n > 0 and failing > TOLERATED * n
    return Gate(name="degenerate", refused=refused, failing=failing, n=n, limit=TOLERATED, sentence=_looping(looping, n, refused), asked=asked)


def _unjudged(known: int, n: int) -> Sentence:
    if known == 0:
        return plain("Refused: no answer (of %(n)s) was judged for repeating itself. Loops are easy to guess, so acceptance might flatter.", n=n)
    return plain(
        "Refused: only %(known)s of %(n)s answers were judged for repeating themselves, and those are no sample of the rest. Loops are easy to "
        "guess, so acceptance might flatter.",
        known=known,
        n=n,
    )


def _looping(looping: Sequence[Answer], n: int, refused: bool) -> Sentence:
    failing = len(looping)
    if n == 0:
        return plain("There is no answer to judge for repeating itself.")
    if failing == 0:
        return plain("None of %(n)s answers repeats itself.", n=n)
    if not refused:
        return plain(
            "%(failing)s of %(n)s answers repeat themselves; all stay in, since up to %(limit)s may.", failing=failing, n=n, limit=_share(TOLERATED)
        )
    shares = [answer.repeated_share for answer in looping if answer.repeated_share is not None]
    if not shares:
        return plain(
            "Refused: %(failing)s of %(n)s answers repeat themselves. Loops are easy to guess, so acceptance would flatter.", failing=failing, n=n
        )
    return plain(
        "Refused: %(failing)s of %(n)s answers repeat themselves (%(repeated)s of their characters repeat). "
        "Loops are easy to guess, so acceptance would flatter.",
        failing=failing,
        n=n,
        repeated=_share(fmean(shares)),
    )


def answer_language(answers: Sequence[Answer], language: str) -> Gate:
    """Answers in another language than the prompts'. Undetermined ones, and those of profiles that ask for code or another language, are left out.

    Where most answers could not be determined the passport lacks the language of the answers, and a figure without a language is refused.
    """
    spoken = [measured_language(answer) for answer in answers if answer.answer_kind == "prompt"]
    known = [tag for tag in spoken if tag is not None]
    if len(known) < FEWEST_JUDGED * len(spoken):
        n, said = len(spoken), _unknown(len(known), len(spoken), language)
        return Gate(name="unknown language", refused=True, failing=n - len(known), n=n, limit=1 - FEWEST_JUDGED, sentence=said)
    others = [tag for tag in known if base_of(tag) != base_of(language)]
    failing, n = len(others), len(known)
    refused = n > 0 and failing > TOLERATED * n
    said = _spoken(language, others, n, len(spoken), refused=refused)
    return Gate(name="other language", refused=refused, failing=failing, n=n, limit=TOLERATED, sentence=said, asked=len(spoken))


def _unknown(known: int, n: int, language: str) -> Sentence:
    if known:
        return plain(
            "Refused: the language of only %(known)s of %(n)s answers is known, and those are no sample of the rest. Without what they repeat of the "
            "prompt, code and digits, the others have fewer than %(letters)s letters.",
            known=known,
            n=n,
            letters=FEWEST_LETTERS,
        )
    return plain(
        "Refused: the language of the answers is not known. Without what they repeat of the prompt, code and digits, no answer of those that "
        "should be in %(language)s (%(n)s) has %(letters)s letters.",
        n=n,
        language=language,
        letters=FEWEST_LETTERS,
    )


def _spoken(language: str, others: Sequence[str], n: int, asked: int, *, refused: bool) -> Sentence:
    if n == 0:
        return plain("These profiles ask for code or another language, so the language of the answers is not judged.")
    if not others and n < asked:
        return plain(
            "All of the %(n)s answers whose language could be determined, of %(asked)s, are in %(language)s.", n=n, asked=asked, language=language
        )
    if not others:
        return plain("All of %(n)s answers whose language is known are in %(language)s.", n=n, language=language)
    other = Counter(others).most_common(1)[0][0]
    label = f"{base_of(language)}→{base_of(other)}"
    if not refused:
        return plain(
            "%(failing)s of %(n)s answers are not in %(language)s; all stay in, since up to %(limit)s may.",
            failing=len(others),
            n=n,
            language=language,
            limit=_share(TOLERATED),
        )
    return plain(
        "Refused as %(language)s: %(failing)s of %(n)s answers are in another language. Kept and labelled %(label)s.",
        language=language,
        failing=len(others),
        n=n,
        label=label,
    )


def closure(counts: Sequence[Counts], *, counts_before_stop: bool = False) -> Gate:
    """Whether emitted tokens are accounted for. One request that does not close is enough to refuse."""
    found = [each.closure(counts_before_stop=counts_before_stop) for each in counts]
    suspect = [each for each in found if each.suspect]
    return Gate(
        name="closure",
        refused=bool(suspect),
        failing=len(suspect),
        n=len(found),
        limit=0.0,
        sentence=_closing(suspect, found),
    )


def _closing(suspect: Sequence[Closure], found: Sequence[Closure]) -> Sentence:
    if suspect:
        return plain(
            "Suspect: the counts of %(failing)s of %(n)s requests do not close; the widest gap is %(gap)s tokens.",
            failing=len(suspect),
            n=len(found),
            gap=max(abs(each.gap) for each in suspect),
        )
    said = Counter(str(each) for each in found if each.kind != "closes")
    if said:
        return plain("Counts: %(how)s.", how=said.most_common(1)[0][0])
    return plain("The counts of all %(n)s requests close.", n=len(found))


def identity(counts: Sequence[Counts]) -> Gate:
    """The identities of definitions § 1, each that is broken named."""
    broken = [each.broken() for each in counts]
    named = [text for texts in broken for text in texts]
    failing = sum(bool(texts) for texts in broken)
    said = plain("Refused: %(what)s.", what=named[0]) if named else plain("The counts of all %(n)s requests agree with each other.", n=len(counts))
    return Gate(name="identity", refused=bool(named), failing=failing, n=len(counts), limit=0.0, sentence=said)


def lossy(exact: Losslessness | None, *, declared_lossless: bool, labelled: bool) -> Gate:
    """A rule that may change the output, or one that did in float32, of which `exact` speaks, although it promised not to.

    A tie of logits may fall either way. Where plain does not repeat itself the machine's own noise is larger than a tie, and up to a tenth may part.
    """
    if not declared_lossless:
        said = (
            plain("Labelled lossy: this rule may change the output.")
            if labelled
            else plain("Refused as a headline: this rule may change the output, and the run is not labelled lossy.")
        )
        return Gate(name="lossy", refused=not labelled, failing=0, n=0, limit=0.0, sentence=said)
    if exact is None:
        said = plain("The rule is lossless by its proof; no answers were compared token for token.")
        return Gate(name="lossy", refused=False, failing=0, n=0, limit=0.0, sentence=said)
    if exact.equal == exact.n:
        return Gate(name="lossy", refused=False, failing=0, n=exact.n, limit=0.0, sentence=plain("The rule keeps the output."))
    repeats = exact.plain_equal == exact.plain_n
    parted = (exact.violations > 0 and repeats) or exact.violations > TOLERATED * exact.n
    unexplained = repeats and exact.violations + exact.unjudged > TOLERATED * exact.n
    refused = (parted or unexplained) and not labelled
    return Gate(
        name="lossy",
        refused=refused,
        failing=exact.violations + exact.unjudged,
        n=exact.n,
        limit=0.0 if repeats and exact.violations else TOLERATED,
        sentence=_parting(exact, refused),
    )


def _parting(exact: Losslessness, refused: bool) -> Sentence:
    differing, n = exact.n - exact.equal, exact.n
    if exact.violations and refused:
        return plain(
            "Refused: %(failing)s of %(n)s answers part from plain in float32 by a token that the target's own logits do not allow.",
            failing=exact.violations,
            n=n,
        )
    if exact.violations:
        return plain(
            "%(failing)s of %(n)s answers part from plain in float32 by a token that the target's own logits do not allow.",
            failing=exact.violations,
            n=n,
        )
    if refused:
        return plain(
            "Refused: %(failing)s of %(n)s answers part from plain in float32, where a lossless rule gives the same.", failing=exact.unjudged, n=n
        )
    if exact.unjudged:
        return plain("%(failing)s of %(n)s answers part from plain in float32.", failing=differing, n=n)
    return plain("%(failing)s of %(n)s answers part from plain in float32, all at ties of two tokens.", failing=differing, n=n)


REMEDIES: dict[str, Sentence] = {
    "requests failed": plain("Find out why requests ended without a whole answer, and measure again; nothing may choose which prompts count."),
    "degenerate": plain("Measure with a model that writes this language without looping, or with prompts that it answers."),
    "other language": plain("Ask so that the answer comes in the language of the prompt, or submit the run under the language of its answers."),
    "unknown language": plain("Ask for longer answers, or measure with a model that answers in this language instead of repeating the prompt."),
    "closure": plain("Count prefill, kept, round and undrafted tokens where they arise, and send the facts again."),
    "identity": plain("Count drafted and kept tokens without the target's own token, and send the facts again."),
    "forced acceptance": plain("Draft with a smaller model, or start the engine without the setting that makes acceptance up, and measure again."),
    "foreign traffic": plain("Measure on a server that nobody else uses meanwhile."),
    "engine totals": plain("Find out which tokens the engine counts that its requests do not tell, or the other way round, and measure again."),
    "lossy": plain("Label the run lossy, or use a rule that keeps the output."),
    "tokenizer": plain("Run it again: a run that gets past its checks records which tokenizer was used, and the figure appears."),
    "hardware": plain("Run it again: a run that gets past its checks records the machine."),
    "state": plain("Run it again to have its figures; what was measured until then stays in the facts."),
    "cause": plain("The same run would fail again: mend what it failed of first. What was measured until then stays in the facts."),
}
