"""What a report of results measured elsewhere says: whether counts close, why figures are refused, and why there is no verdict."""

from app.domain.counts import Closure
from app.domain.estimate import Estimate
from app.domain.outside.imported import Imported
from app.domain.sentence import Kind, Quantity, Sentence, plain
from app.reports import imported_texts as texts

NO_VERDICT = plain("There is no verdict: a speed-up needs a plain arm under the same clock, and this file holds none.")
NAMELESS: dict[str, Sentence] = {
    "language": plain("Refused: this import does not say in which language the prompts were. Acceptance depends on it and does not transfer."),
    "tokenizer": plain(
        "Refused: this import does not say which tokenizer was used. Acceptance counts tokens; without the tokenizer it means nothing to anyone else."
    ),
}
NEITHER = plain(
    "Refused: this import says neither in which language the prompts were nor which tokenizer was used. Without them acceptance means nothing to "
    "anyone else."
)
ENTER_BOTH = plain("Enter the language of the prompts and the name of the tokenizer, and the figure appears.")
REMEDIES: dict[str, Sentence] = {
    "language": plain("Enter the language of the prompts, such as ru or en, and the figure appears."),
    "tokenizer": plain("Enter the name of the tokenizer, and the figure appears."),
    "identity": plain("Find out what the tool counted, mend its file or its version, and import it again."),
    "closure": plain("Have the tool write prefill, kept, round and undrafted tokens, and import the file again."),
    "forced": plain("Measure without it, and import that file."),
}
FINGERPRINT = plain("The tokenizer is known by its name alone, without a fingerprint: a re-trained one of the same name cannot be told apart.")
CLUSTERS = plain("Each request counts as a prompt of its own: the file does not say which of them ask the same.")
NOMINAL = plain("Drafted tokens were not counted: D is the longest draft times the rounds, so acceptance is at least what it says.")
SUMS = plain("The requests do not add up to the file's totals, so figures are of the totals and have no interval.")


def turns(entries: int, requests: int) -> Sentence:
    return plain(
        "What the file tells of several turns together counts once: %(requests)s stand in %(entries)s entries.", requests=requests, entries=entries
    )


def closing(imported: Imported) -> Sentence:
    """How the delivered tokens are accounted for, and by whose word."""
    closure = imported.total.closure
    if "requests" in imported.said and closure.kind != "unknown":
        return _closing_as_said(closure, imported.total.counts.requests)
    gap = abs(closure.gap)
    if closure.kind == "closes":
        return plain("The counts close: every delivered token is accounted for, %(prefill)s of them by the prefill.", prefill=closure.prefill or 0)
    if closure.kind == "overshoot":
        return plain("The counts close with an overshoot of %(tokens)s: this engine counts drafts before its stop check.", tokens=gap)
    if closure.kind == "undrafted_implied":
        return plain("The counts close if at least %(gap)s steps carried no draft: that is implied and was not observed.", gap=gap)
    if closure.kind == "open":
        return plain("Suspect: the counts do not close by %(tokens)s.", tokens=gap)
    return plain("Whether the counts close cannot be checked: delivered tokens, rounds or kept tokens are not told.")


def _closing_as_said(closure: Closure, requests: int) -> Sentence:
    """Where a person said how many requests there were, the prefill's tokens, one for each, are that person's word too."""
    gap = abs(closure.gap)
    if closure.kind == "closes":
        return plain(
            "The counts close with %(said)s requests, as a person told, and a token of the prefill for each: that does not prove the number, which "
            "the server does not count.",
            said=requests,
        )
    if closure.kind == "overshoot":
        return plain(
            "With %(said)s requests, as a person told, the counts close with an overshoot of %(tokens)s: this engine counts drafts before its stop "
            "check. That does not prove the number, which the server does not count.",
            said=requests,
            tokens=gap,
        )
    if closure.kind == "undrafted_implied":
        return plain(
            "With %(said)s requests, as a person told, the counts close if at least %(gap)s steps carried no draft: that is implied and was not "
            "observed. It does not prove the number, which the server does not count.",
            said=requests,
            gap=gap,
        )
    return plain(
        "Suspect: with %(said)s requests, as a person told, the counts do not close by %(tokens)s; the server does not count its requests.",
        said=requests,
        tokens=gap,
    )


def refusal(imported: Imported, language: str | None) -> tuple[str, Sentence, Sentence] | None:
    """What refuses every figure of these counts, or of the answers that they are of, why, and what helps; None where nothing does."""
    found = _of_counts(imported)
    return texts.refusal(imported, language) if found is None else (*found, REMEDIES[found[0]])


def _of_counts(imported: Imported) -> tuple[str, Sentence] | None:
    readings = [imported.total, *(request.reading for request in imported.requests)]
    forced = next((each.forced for each in readings if each.forced), None)
    if forced is not None:
        return "forced", plain("Refused as a headline: acceptance was made up and not measured (%(word)s).", word=forced)
    broken = [text for each in readings for text in each.counts.broken()]
    if broken:
        return "identity", plain("Refused: these counts contradict each other: %(reason)s.", reason=broken[0])
    if imported.total.closure.suspect:
        return "closure", closing(imported)
    suspect = [request.reading.closure for request in imported.requests if request.reading.closure.suspect]
    if suspect:
        return "closure", plain(
            "Suspect: the counts of %(failing)s of %(n)s requests do not close; the widest gap is %(gap)s tokens.",
            failing=len(suspect),
            n=len(imported.requests),
            gap=max(abs(each.gap) for each in suspect),
        )
    return None


def quantity(kind: Kind, found: Estimate) -> Quantity:
    """A point inside a sentence, with its interval where it has one. Raises ValueError where there is no point."""
    if found.point is None:
        raise ValueError("an estimate without a point is no number")
    return Quantity(kind=kind, value=found.point, low=found.low, high=found.high)
