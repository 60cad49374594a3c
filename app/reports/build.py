"""RunRecord → Report: the one place where facts become what is shown."""

from collections.abc import Sequence

from app.domain.bounds import Purpose
from app.domain.estimate import Cell, Figure
from app.domain.facts import TrialFact
from app.domain.passport import Passport, issue, precision
from app.domain.sentence import Quantity, Sentence, plain
from app.domain.spec import OWN_ENGINE
from app.domain.status import FINAL, RunState, cut
from app.domain.withheld import REASON
from app.metrics.columns import Requests
from app.metrics.frame import Frames
from app.reports import gates, headline
from app.reports.answers import judged, shares_by_language
from app.reports.cells import cells, cut_off, refusing, unmeasured, without_passport
from app.reports.economics import economics
from app.reports.engine_beside import own_words
from app.reports.engine_gates import engine_gates, keeps_output
from app.reports.family import family_of
from app.reports.kept import Measured, keep
from app.reports.latencies import ecdfs
from app.reports.lengths import length_rows
from app.reports.losslessness import losslessness
from app.reports.machine import hardware_digest
from app.reports.notes import notes
from app.reports.peak import peak_of
from app.reports.prompts import prompt_rows
from app.reports.record import RunRecord, frames_of, in_columns
from app.reports.report import CHAINS, NODES, Gate, Losslessness, Report
from app.reports.unanswered import requests_failed
from app.reports.undrafted import undrafted
from app.statistics.verdict import Evidence
from app.statistics.wording import Subject, decide


def build(record: RunRecord) -> Report:
    """The report of a run in any state. Only a succeeded run gets a verdict and figures: what another one measured before its end is whatever came
    first, so all of it is refused, and stays in the facts."""
    record = in_columns(record)
    return _built(record, _frames(record))[0]


def measured(record: RunRecord) -> Measured:
    """The report of a run, and beside it what a comparison needs."""
    record = in_columns(record)
    frames = _frames(record)
    report, evidence, subject = _built(record, frames)
    own = Requests.of(record.requests)
    names = dict(zip(own.text("prompt").tolist(), own.text("parallel").tolist(), strict=True))
    return Measured(report, keep(names, frames, report, evidence, subject), record.kin)


def _frames(record: RunRecord) -> Frames:
    return frames_of(_bare(record) if cut(record.state) else record)


def _bare(record: RunRecord) -> RunRecord:
    """Without anything that was measured."""
    return in_columns(record.model_copy(update={"requests": (), "trials": (), "costs": (), "divergences": ()}))


def _built(record: RunRecord, frames: Frames) -> tuple[Report, Evidence, Subject]:
    passport, lacking, refused = _passport(record), _missing(record), _cut_cells(record, frames)
    record = _bare(record) if cut(record.state) else record
    found = _losslessness(record)
    run_gates = _gates(record, found, None) if record.requests else ()
    shown = refused or _cells(record, frames, passport, found)
    chosen = headline.headline_of(record)
    evidence, subject = _evidence(record, frames, shown, run_gates, chosen), _subject(record, frames, shown, run_gates)
    verdict = decide(evidence, subject)
    report = Report(
        run=record.run,
        state=record.state.value,
        question=question(record),
        answer=verdict.sentence,
        spec=record.spec,
        passport=passport,
        missing=lacking,
        headline=chosen,
        verdict=verdict,
        gates=tuple(run_gates),
        losslessness=tuple(found),
        cells=tuple(shown),
        prompts=tuple(prompt_rows(record, frames, chosen, refused=refusing(run_gates) is not None)) if passport and record.state in FINAL else (),
        lengths=tuple(length_rows(record, frames)) if passport and record.state in FINAL and refusing(run_gates) is None else (),
        latencies=tuple(ecdfs(frames, shown)) if passport and record.state in FINAL else (),
        peak=peak_of(frames) if passport and record.state in FINAL and refusing(run_gates) is None else None,
        trials=_trials(record, run_gates, named=passport is not None),
        warmup=record.warmup,
        environment=record.environment,
        economics=economics(frames, shown),
        compiled=None if record.preflight is None else record.preflight.compiled,
        learned=record.learned,
        notes=(*undrafted(shown, refused=refusing(run_gates) is not None), *notes(record, frames, found, run_gates)),
        beside=own_words(record, frames, shown) if passport and record.state in FINAL else (),
    )
    return report, evidence, subject


def question(record: RunRecord) -> Sentence:
    """What the run is asked."""
    spec = record.spec
    if spec.load.rate is not None:
        return plain(
            "Does %(drafter)s pay off in %(language)s at %(rate)s?",
            drafter=spec.drafter_title,
            language=spec.language,
            rate=Quantity(kind="asked_rate", value=spec.load.rate),
        )
    return plain(
        "Does %(drafter)s pay off in %(language)s at %(requests)s at a time?",
        drafter=spec.drafter_title,
        language=spec.language,
        requests=spec.load.concurrency,
    )


def _trials(record: RunRecord, run_gates: Sequence[Gate], *, named: bool) -> tuple[TrialFact, ...]:
    """A refused run, and one that has not ended, show no speculative trial: beside plain's, its time would be the ratio. One that is not `named`, for
    want of a passport, shows no engine's counters: their quotients would be the refused figures. Facts are kept."""
    hidden = refusing(run_gates) is not None or record.state not in FINAL
    shown = (trial for trial in record.trials if not (hidden and trial.arm == "speculative"))
    return tuple(trial if named else trial.model_copy(update={"counted": None}) for trial in shown)


def _missing(record: RunRecord) -> tuple[str, ...]:
    """Passport fields that a measured run lacks; language has been required since the spec."""
    if not record.requests:
        return ()
    return tuple(name for name, fact in (("tokenizer", record.preflight), ("hardware", record.environment)) if fact is None)


def _passport(record: RunRecord) -> Passport | None:
    if record.preflight is None or record.environment is None:
        return None
    answers = judged(record.requests, "speculative", sampled=record.spec.sampling.temperature > 0) or _plain_answers(record)
    return issue(record.spec, record.preflight, record.environment, shares_by_language(answers.answers()), hardware_digest(record.environment))


def _plain_answers(record: RunRecord) -> Requests:
    return judged(record.requests, "plain", sampled=record.spec.sampling.temperature > 0)


def _losslessness(record: RunRecord) -> list[Losslessness]:
    """The headline's own, and the float32 trial's where there is one, which a served engine has not. Greedy only."""
    if record.preflight is None or record.spec.sampling.temperature > 0:
        return []
    asked: list[tuple[str, Purpose]] = [(precision(record.preflight.dtype, record.preflight.quantisation), "headline")]
    asked += [("float32", "losslessness")] if record.spec.engine == OWN_ENGINE else []
    found = [losslessness(record.requests, dtype, purpose, record.divergences) for dtype, purpose in asked]
    return [each for each in found if each is not None]


def _gates(record: RunRecord, found: Sequence[Losslessness], profile: str | None) -> tuple[Gate, ...]:
    """The gates over a run's requests, or over those of one profile; losslessness is a matter of the whole run."""
    sampled = record.spec.sampling.temperature > 0
    every = Requests.of(record.requests)
    requests = every if profile is None else every.where(every.told("profile", profile))
    speculative = judged(requests, "speculative", sampled=sampled or (record.preflight is not None and record.preflight.timed_controller))
    plain_answers = judged(requests, "plain", sampled=sampled)
    counts = (speculative or plain_answers).counts()
    return (
        gates.identity(counts),
        gates.closure(counts, counts_before_stop=record.spec.engine != OWN_ENGINE),
        *(engine_gates(record.requests, record.trials, record.preflight) if record.spec.engine != OWN_ENGINE else ()),
        requests_failed(requests, ended=record.state in FINAL),
        gates.degenerate((plain_answers or speculative).answers()),
        gates.answer_language((speculative or plain_answers).answers(), record.spec.language),
        _lossy(record, found),
    )


def _lossy(record: RunRecord, found: Sequence[Losslessness]) -> Gate:
    """Our own loop is held to its float32 trial, where every divergence is judged by logits; a served engine, which has neither, to its headline."""
    declared, labelled = record.preflight is None or record.preflight.lossless, "lossy" in record.spec.labels
    if record.spec.engine != OWN_ENGINE:
        return keeps_output(next(iter(found), None), declared_lossless=declared, labelled=labelled)
    exact = next((each for each in found if each.dtype == "float32"), None)
    return gates.lossy(exact, declared_lossless=declared, labelled=labelled)


def _cut_cells(record: RunRecord, frames: Frames) -> list[Cell]:
    """The cells of a run that measured something and was cut off."""
    reason, lacking = _unfinished(record), _missing(record)
    if reason is None or not cut(record.state) or not record.requests:
        return []
    again = record.state != RunState.FAILED or record.finish is None or record.finish.retry_makes_sense
    return without_passport(lacking[0], frames.load.regime) if lacking else cut_off(reason, frames.load.regime, again=again)


def _cells(record: RunRecord, frames: Frames, passport: Passport | None, found: Sequence[Losslessness]) -> list[Cell]:
    if not record.requests or record.state not in FINAL:
        # Figures come when a run has ended: looking while it runs would choose when to stop.
        return unmeasured(_unfinished(record) or plain("Nothing was measured."), frames.load.regime)
    if passport is None:
        return without_passport(_missing(record)[0], frames.load.regime)
    whole = _gates(record, found, None)
    if any(gate.name == "unknown language" and gate.refused for gate in whole):
        # The passport of the run lacks the language of its answers, and every profile's figure carries that passport.
        return cells(frames, passport, lambda _: whole)
    by_profile: dict[str | None, tuple[Gate, ...]] = {None: whole}

    def gates_of(profile: str | None) -> tuple[Gate, ...]:
        if profile not in by_profile:
            by_profile[profile] = _gates(record, found, profile)
        return by_profile[profile]

    return cells(frames, passport, gates_of)


def _evidence(record: RunRecord, frames: Frames, shown: Sequence[Cell], run_gates: Sequence[Gate], chosen: str) -> Evidence:
    speedup = headline.estimate_of(next((cell for cell in shown if cell.id == chosen and not cell.part), None))
    gate = refusing(run_gates)
    family = family_of(record.kin, record.spec.margin, speedup)
    blocks, void = headline.blocks_of(frames)
    return Evidence(
        headline=chosen,
        margin=record.spec.margin,
        speedup=speedup,
        noise_floor=headline.noise_floor(frames, chosen),
        control=headline.control(frames),
        controlled=record.spec.controlled,
        blocks=blocks,
        contended=void,
        seeds=headline.seeds_of(frames, chosen),
        finished=record.state == RunState.SUCCEEDED,
        plain=headline.has_plain(frames),
        drafts=not undrafted(shown, refused=gate is not None),
        refused=gate is not None and gate.name != "lossy",
        lossy=gate is not None and gate.name == "lossy",
        unstable=bool(headline.unstable(frames)),
        family=family.size,
        still_pays=family.still_pays,
    )


def _subject(record: RunRecord, frames: Frames, shown: Sequence[Cell], run_gates: Sequence[Gate]) -> Subject:
    of_trees, of_chains = (next((c for c in shown if c.id == id and not c.part), None) for id in (NODES, CHAINS))
    acceptance = of_trees if isinstance(of_trees, Figure) else of_chains
    gate = refusing(run_gates)
    return Subject(
        drafter=record.spec.drafter_title,
        language=record.spec.language,
        load=record.spec.load.concurrency,
        rate=record.spec.load.rate,
        unstable=headline.unstable(frames),
        trials=headline.passes_used(frames),
        acceptance=acceptance.pooled if isinstance(acceptance, Figure) else None,
        of_nodes=acceptance is of_trees and acceptance is not None,
        refusal=gate.sentence if gate else None,
        unfinished=_unfinished(record),
        served=record.spec.engine != OWN_ENGINE,
    )


def _unfinished(record: RunRecord) -> Sentence | None:
    """What is said of a run that has not succeeded."""
    if record.state == RunState.SUCCEEDED:
        return None
    if record.state == RunState.FAILED:
        reason = record.finish.reason if record.finish else ""
        if reason == REASON:
            return plain(REASON)
        return plain("The run failed: %(reason)s", reason=reason) if reason else plain("The run failed before it could say why.")
    if record.state == RunState.CANCELLED:
        return plain("The run was cancelled.")
    assert record.state not in FINAL
    return plain("Waiting in the queue.") if record.state == RunState.QUEUED else plain("Measuring; there is no answer yet.")
