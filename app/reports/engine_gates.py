"""The checks of what a served engine tells of itself (definitions § 1 and § 5): its own counters, and whether its speculation keeps the output."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.domain.facts import PreflightFact, RequestFact, TrialFact
from app.domain.outside.reading import Reading
from app.domain.sentence import Quantity, Sentence, plain
from app.metrics.columns import Requests
from app.metrics.terms import ARMS, DONE
from app.reports.gates import TOLERATED, lossy
from app.reports.report import Gate, Losslessness

# What both sides count, by its sign in the definitions.
SIGNS = {"emitted": "E", "drafted": "D", "verified": "V", "rounds": "R", "undrafted": "U"}
# More answers than this cannot part by chance where plain repeats all but a tenth of its own.
MOST_PARTED = 0.5

Difference = tuple[int, str, int, int]


def engine_gates(requests: Sequence[RequestFact], trials: Sequence[TrialFact], preflight: PreflightFact | None) -> tuple[Gate, ...]:
    """Over whole headline trials of both arms, whichever profile of text a figure is of: counters tell no profiles."""
    own = [trial for trial in trials if trial.purpose == "headline" and trial.arm in ARMS]
    return forced(own, itself=_itself(preflight)), foreign(own), totals(Requests.of(requests), own)


def _itself(preflight: PreflightFact | None) -> bool:
    """Whether the drafter's weights are the target's."""
    return preflight is not None and preflight.weights_digest is not None and preflight.drafter_weights_digest == preflight.weights_digest


def forced(trials: Sequence[TrialFact], *, itself: bool) -> Gate:
    """Acceptance that a setting of the engine makes up, or that comes of a model which drafts for `itself`, says nothing of drafter, text and
    language. The latter is still worth a run: it shows what an engine counts, since nearly every draft is to be kept."""
    read = [trial.counted for trial in trials if trial.counted is not None]
    found = [each.forced for each in read if each.forced is not None]
    if found:
        said = plain("Refused: acceptance was made up by %(word)s, so it says nothing of drafter, text and language.", word=found[0])
    elif itself:
        said = plain(
            "Refused: the drafter's model is the target itself, so its drafts are kept whatever the text; this tries an engine's counters out."
        )
    elif read:
        said = plain("No setting of the engine is known to make acceptance up.")
    else:
        said = plain("The engine's own counters were not read.")
    failing = len(read) if itself else len(found)
    return Gate(name="forced acceptance", refused=itself or bool(found), failing=failing, n=len(read), limit=0.0, sentence=said)


def foreign(trials: Sequence[TrialFact]) -> Gate:
    """Requests of others are in the counters and slow down ours."""
    known = [trial for trial in trials if trial.foreign is not None]
    others = sum(trial.foreign or 0 for trial in known)
    n = sum(max(trial.counted.counts.requests if trial.counted is not None else 0, trial.foreign or 0) for trial in known)
    if others:
        said = plain(
            "Suspect: %(failing)s of %(n)s requests that the server answered meanwhile were not ours, so neither its counters nor its times are of "
            "these prompts alone.",
            failing=others,
            n=n,
        )
    elif known:
        said = plain("The server answered no requests but ours.")
    else:
        said = plain("The engine does not tell how many requests it answered, so those of others would not show.")
    return Gate(name="foreign traffic", refused=others > 0, failing=others, n=n, limit=0.0, sentence=said)


def totals(requests: Requests, trials: Sequence[TrialFact]) -> Gate:
    """What single requests tell must add up to what the engine counted meanwhile, count by count, wherever both tell it. A trial in which something
    broke off, or in which others asked too, is not held to it: what the engine did for that is in its counters alone."""
    compared, differing = 0, list[Difference]()
    for trial in trials:
        if trial.counted is None or trial.foreign:
            continue
        own = requests.where(requests.told("purpose", "headline") & requests.told("arm", trial.arm) & (requests.whole("trial") == trial.trial))
        if not len(own) or not own.told("finish", *DONE).all():
            continue
        pairs = list(_both(own, trial.counted))
        compared += bool(pairs)
        differing += [(trial.trial, sign, ours, theirs) for sign, ours, theirs in pairs if ours != theirs][:1]
    said = _adding_up(compared, differing)
    return Gate(name="engine totals", refused=bool(differing), failing=len(differing), n=compared, limit=0.0, sentence=said)


def _both(own: Requests, counted: Reading) -> Iterator[tuple[str, int, int]]:
    """(sign, by the requests, by the counters); N is the number of requests. What is assumed and not counted is nobody's word."""
    yield "N", len(own), counted.counts.requests
    for name, sign in SIGNS.items():
        ours, theirs = own.number(name), getattr(counted.counts, name)
        nominal = name == "drafted" and (counted.drafted_source != "observed" or not own.told("drafted_source", "observed").all())
        if theirs is not None and not nominal and not np.isnan(ours).any():
            yield sign, int(ours.sum()), theirs


def _adding_up(compared: int, differing: Sequence[Difference]) -> Sentence:
    if differing:
        trial, sign, ours, theirs = differing[0]
        return plain(
            "Suspect: in trial %(trial)s the requests add up to %(sign)s = %(ours)s, and the engine's own counters say %(theirs)s.",
            trial=trial,
            sign=sign,
            ours=ours,
            theirs=theirs,
        )
    if compared:
        return plain("In %(n)s trials the requests add up to what the engine counted itself.", n=compared)
    return plain("The engine tells no totals to hold the requests against.")


def changes_output(found: Losslessness) -> bool | None:
    """Whether speculation says something else than plain, where nobody can tell ties from faults by logits.

    It does where plain repeats itself and more than a tenth of the answers part from it. None where that cannot be told: plain was not repeated, or
    does not repeat itself either, unless it does so nearly always and most of the answers part.
    """
    share = 1 - found.equal / found.n
    if share == 0:
        return False
    if not found.plain_n or found.plain_equal is None:
        return None
    own = 1 - found.plain_equal / found.plain_n
    if own == 0:
        return share > TOLERATED
    return True if own <= TOLERATED and share > MOST_PARTED else None


def keeps_output(found: Losslessness | None, *, declared_lossless: bool, labelled: bool) -> Gate:
    """A served engine shows no logits: its answers are held against plain's, and plain's against themselves."""
    if not declared_lossless:
        return lossy(None, declared_lossless=False, labelled=labelled)
    if found is None:
        said = plain("The engine calls its rule lossless; no answers were compared token for token.")
        return Gate(name="lossy", refused=False, failing=0, n=0, limit=0.0, sentence=said)
    refused = changes_output(found) is True and not labelled
    return Gate(name="lossy", refused=refused, failing=found.n - found.equal, n=found.n, limit=TOLERATED, sentence=_kept(found, refused=refused))


def _kept(found: Losslessness, *, refused: bool) -> Sentence:
    counts = {"failing": found.n - found.equal, "n": found.n}
    if found.equal == found.n:
        return plain("The rule keeps the output.")
    if found.plain_n is None or found.plain_equal is None:
        return plain(
            "%(failing)s of %(n)s answers part from plain, and plain was not repeated, so nobody knows whether the engine repeats itself.", **counts
        )
    changed, again = changes_output(found), {"again": found.plain_n - found.plain_equal, "repeats": found.plain_n}
    if refused:
        return plain(
            "Refused: the engine changes the output. %(failing)s of %(n)s answers part from plain, and plain parts from itself in %(again)s of "
            "%(repeats)s.",
            **counts,
            **again,
        )
    if changed:
        return plain(
            "The engine changes the output: %(failing)s of %(n)s answers part from plain, and plain parts from itself in %(again)s of %(repeats)s.",
            **counts,
            **again,
        )
    if changed is None:
        return plain(
            "%(failing)s of %(n)s answers part from plain, and plain parts from itself in %(again)s of %(repeats)s: the engine does not repeat "
            "itself, and speculation is not blamed.",
            **counts,
            **again,
        )
    return plain(
        "%(failing)s of %(n)s answers part from plain, which repeats itself; up to %(limit)s may be ties of two tokens, which nobody can judge "
        "without logits.",
        **counts,
        limit=Quantity(kind="share", value=TOLERATED),
    )
