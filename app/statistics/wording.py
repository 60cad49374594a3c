"""The sentence of a verdict. Each case is one whole sentence or more, never glued from pieces, so that it can be translated.

A placeholder named as a counted noun (`prompts`, `trials`, `requests`, `blocks`, `runs`, `pairs`, `trial_pairs`) is printed with that noun;
`language` is a BCP-47 tag and is printed as the language's name.
"""

from dataclasses import dataclass
from typing import Protocol

from app.domain.estimate import Estimate
from app.domain.sentence import Kind, Quantity, Sentence, plain
from app.statistics import wording_bench, wording_load, wording_open
from app.statistics.verdict import FEWEST_PROMPTS, FEWEST_SEEDS, Cause, Decision, Evidence, Verdict, rule


class Said(Protocol):
    def __call__(self, values: dict[str, str | int | Quantity], *, known: bool) -> Sentence: ...


@dataclass(frozen=True)
class Subject:
    """What a verdict speaks of. `refusal` is the gate's sentence where the output is refused or lossy, `unfinished` what is said of a run that has
    not succeeded, `rate` that of an open load and `unstable` the arms that do not bear it. `served` says that an engine of its own decodes, in
    servers that take turns."""

    drafter: str
    language: str
    load: int
    trials: int
    acceptance: Estimate | None = None
    of_nodes: bool = False
    refusal: Sentence | None = None
    unfinished: Sentence | None = None
    rate: float | None = None
    unstable: tuple[str, ...] = ()
    served: bool = False


def quantity(kind: Kind, estimate: Estimate) -> Quantity:
    """An estimate inside a sentence. Raises ValueError when it has no point."""
    if estimate.point is None:
        raise ValueError("an estimate without a point cannot be said")
    return Quantity(kind=kind, value=estimate.point, low=estimate.low, high=estimate.high)


def decide(seen: Evidence, subject: Subject) -> Verdict:
    """The verdict and its sentence: the only place where a run is said to pay."""
    found = rule(seen)
    return Verdict(
        outcome=found.outcome,
        headline=seen.headline,
        margin=seen.margin,
        causes=found.causes,
        slower=found.slower,
        more=found.more,
        family=seen.family,
        noise_floor=seen.noise_floor,
        sentence=_sentence(seen, found, subject),
    )


def _sentence(seen: Evidence, found: Decision, subject: Subject) -> Sentence:
    if found.outcome != "cannot tell":
        return _decided(seen, found, subject)
    strongest = found.causes[0]
    said = _of_subject(strongest, seen, subject) or _of_bench(strongest, seen, subject)
    return said or (_of_trials if seen.of_trial_pairs else _of_numbers)(strongest, seen, found, subject)


def _values(seen: Evidence, subject: Subject) -> dict[str, str | int | Quantity]:
    assert seen.speedup is not None
    n = seen.speedup.n
    counts: dict[str, str | int | Quantity] = {"trial_pairs": n} if seen.of_trial_pairs else {"prompts": n, "trials": subject.trials}
    return {
        "language": subject.language,
        "requests": subject.load,
        "drafter": subject.drafter,
        "speedup": quantity("ratio", seen.speedup),
        **counts,
    } | ({} if subject.rate is None else {"rate": _rate(subject.rate)})


def _rate(value: float) -> Quantity:
    return Quantity(kind="asked_rate", value=value)


def _decided(seen: Evidence, found: Decision, subject: Subject) -> Sentence:
    values = _values(seen, subject)
    known = subject.acceptance is not None and subject.acceptance.point is not None
    if known and subject.acceptance is not None:
        values["acceptance"] = quantity("share_of_nodes" if subject.of_nodes else "share", subject.acceptance)
    if not seen.drafts:
        return _costs(seen, subject)
    pays, slower, does_not_pay = _deciders(seen, subject)
    if found.outcome == "pays":
        return pays(values, known=known)
    if found.slower:
        return slower(values, known=known)
    return does_not_pay(values | {"bar": Quantity(kind="ratio", value=1 + seen.margin)}, known=known)


def _costs(seen: Evidence, subject: Subject) -> Sentence:
    """Of a run without a single draft: its speed-up says what asking for drafts costs."""
    assert seen.speedup is not None
    values: dict[str, str | int | Quantity] = {
        "language": subject.language,
        "drafter": subject.drafter,
        "speedup": quantity("ratio", seen.speedup),
    }
    if seen.of_trial_pairs:
        return plain(
            "Does not pay: no draft was ever made. In %(language)s %(drafter)s runs at %(speedup)s of plain speed (%(trial_pairs)s), which is what "
            "asking for drafts costs.",
            **values,
            trial_pairs=seen.speedup.n,
        )
    return plain(
        "Does not pay: no draft was ever made. In %(language)s %(drafter)s runs at %(speedup)s of plain speed (%(prompts)s), which is what asking "
        "for drafts costs.",
        **values,
        prompts=seen.speedup.n,
    )


def _deciders(seen: Evidence, subject: Subject) -> tuple[Said, Said, Said]:
    """What says, under the run's load, that it pays, is slower, does not pay."""
    if subject.rate is not None:
        return wording_open.pays, wording_open.slower, wording_open.does_not_pay
    if seen.of_trial_pairs:
        return wording_load.pays, wording_load.slower, wording_load.does_not_pay
    return _pays, _slower, _does_not_pay


def _pays(values: dict[str, str | int | Quantity], *, known: bool) -> Sentence:
    if not known:
        return plain(
            "Pays. In %(language)s, at %(requests)s at a time, %(drafter)s runs at %(speedup)s of plain speed (%(prompts)s, %(trials)s). "
            "No acceptance can be given.",
            **values,
        )
    return plain(
        "Pays. In %(language)s, at %(requests)s at a time, %(drafter)s runs at %(speedup)s of plain speed (%(prompts)s, %(trials)s). "
        "Acceptance %(acceptance)s.",
        **values,
    )


def _slower(values: dict[str, str | int | Quantity], *, known: bool) -> Sentence:
    if not known:
        return plain(
            "Does not pay: it is slower. In %(language)s, at %(requests)s at a time, %(drafter)s runs at %(speedup)s of plain speed "
            "(%(prompts)s, %(trials)s). No acceptance can be given.",
            **values,
        )
    return plain(
        "Does not pay: it is slower. In %(language)s, at %(requests)s at a time, %(drafter)s runs at %(speedup)s of plain speed "
        "(%(prompts)s, %(trials)s), with %(acceptance)s of its drafts accepted.",
        **values,
    )


def _does_not_pay(values: dict[str, str | int | Quantity], *, known: bool) -> Sentence:
    if not known:
        return plain(
            "Does not pay. In %(language)s, at %(requests)s at a time, %(drafter)s runs at %(speedup)s of plain speed "
            "(%(prompts)s, %(trials)s); %(bar)s is the least that counts. No acceptance can be given.",
            **values,
        )
    return plain(
        "Does not pay. In %(language)s, at %(requests)s at a time, %(drafter)s runs at %(speedup)s of plain speed (%(prompts)s, %(trials)s); "
        "%(bar)s is the least that counts. Acceptance %(acceptance)s.",
        **values,
    )


def _of_subject(cause: Cause, seen: Evidence, subject: Subject) -> Sentence | None:
    match cause:
        case "not finished":
            return subject.unfinished or plain("The run has not finished, so nothing is decided yet.")
        case "no plain arm":
            return plain("Acceptance only. Plain decoding was not measured, so nothing is said about speed.")
        case "refused" | "lossy":
            return subject.refusal or plain("Cannot tell: the output is refused.")
        case "unstable" if subject.rate is not None:
            return wording_open.unstable(subject.unstable, subject.drafter, _rate(subject.rate))
        case "no interval" if subject.rate is not None and seen.speedup is None:
            return wording_open.no_interval()
        case "no interval" if seen.of_trial_pairs and seen.speedup is None:
            return wording_load.no_interval()
        case "no interval":
            return plain("Cannot tell: the speed-up has no interval, and without one nothing is decided.")
        case _:
            return None


def _of_bench(cause: Cause, seen: Evidence, subject: Subject) -> Sentence | None:
    if cause == "contended":
        return plain(
            "Cannot tell on this machine. Other processes disturbed %(contended)s of %(blocks)s of trials. "
            "A quieter machine would help, more prompts would not.",
            contended=seen.contended,
            blocks=seen.blocks,
        )
    if cause == "not level" and seen.noise_floor is not None:
        return wording_bench.not_level(quantity("ratio", seen.noise_floor), served=subject.served)
    if cause == "slow plain" and seen.control is not None:
        return plain(
            "Cannot tell: the plain arm is no fair baseline here. The library's own plain decoding takes %(control)s of its time, and a slow plain "
            "arm flatters the drafter.",
            control=quantity("ratio", seen.control),
        )
    if cause == "no control" and seen.speedup is not None:
        return plain(
            "Cannot tell: whether the plain arm is a fair baseline is not known. The library's own plain decoding was timed on %(known)s of "
            "%(prompts)s, and a slow plain arm flatters the drafter.",
            known=0 if seen.control is None else seen.control.n,
            prompts=seen.speedup.n,
        )
    if cause == "no draft" and seen.speedup is not None and seen.speedup.point is not None:
        return plain(
            "Cannot tell: no draft was ever made, so the drafter was not tried. In %(language)s %(drafter)s runs at %(speedup)s of plain speed, "
            "which is what asking for drafts costs.",
            language=subject.language,
            drafter=subject.drafter,
            speedup=quantity("ratio", seen.speedup),
        )
    if cause == "no draft":
        return plain("Cannot tell: no draft was ever made, so the drafter was not tried, and its speed has no number.")
    if cause == "few seeds" and seen.seeds is not None:
        return plain(
            "Cannot tell: answers are drawn, and %(seeds)s draws of a prompt in both arms are too few; %(least)s are the least.",
            seeds=seen.seeds,
            least=FEWEST_SEEDS,
        )
    if cause == "no noise floor" and seen.of_trial_pairs:
        return wording_load.no_floor()
    if cause == "no noise floor":
        return plain(
            "Cannot tell: plain was not measured both first and second on enough prompts, so it is not known how far two equal measurements "
            "differ here."
        )
    return None


def _of_trials(cause: Cause, seen: Evidence, found: Decision, subject: Subject) -> Sentence:
    values = _values(seen, subject) | {"bar": Quantity(kind="ratio", value=1 + seen.margin)}
    if cause == "few trial pairs":
        return wording_load.few(values, seen.fewest)
    if subject.rate is not None:
        return wording_open.family(values, seen.family) if cause == "family" else wording_open.undecided(values, found.more)
    return wording_load.family(values, seen.family) if cause == "family" else wording_load.undecided(values, found.more)


def _of_numbers(cause: Cause, seen: Evidence, found: Decision, subject: Subject) -> Sentence:
    values = _values(seen, subject) | {"bar": Quantity(kind="ratio", value=1 + seen.margin)}
    if cause == "few prompts":
        return plain("Cannot tell yet. %(prompts)s are too few; %(least)s are the least.", prompts=values["prompts"], least=FEWEST_PROMPTS)
    if cause == "family":
        return plain(
            "Cannot tell yet. %(drafter)s in %(language)s, at %(speedup)s of plain speed, is one of %(runs)s weighed together; "
            "among so many, chance may give as much.",
            **values | {"runs": seen.family},
        )
    if found.more is None:
        return plain(
            "Cannot tell yet. In %(language)s, at %(requests)s at a time, %(drafter)s runs at %(speedup)s of plain speed; the interval includes "
            "%(bar)s, the least that counts. An effect this small is not settled by a sensible number of prompts.",
            **values,
        )
    return plain(
        "Cannot tell yet. In %(language)s, at %(requests)s at a time, %(drafter)s runs at %(speedup)s of plain speed; the interval includes "
        "%(bar)s, the least that counts. About %(prompts)s more would settle an effect of this size.",
        **values | {"prompts": found.more},
    )
