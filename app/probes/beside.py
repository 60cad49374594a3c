"""Predictions beside measurements: runs whose drafter is the very model without the part, of the same weights, tokenizer and language."""

from app.domain.language import Language
from app.domain.probe import LastLayers, ProbeFound, ProbeSpec, share_of
from app.domain.spec import RunSpec
from app.domain.status import RunState
from app.reports.probe import Beside, predicted
from app.reports.report import CHAINS, Report
from app.runs.schemas import RunFilter
from app.runs.service import Runs

MOST = 5
CONSTANT, DEFAULT_LENGTH = "constant", 4
CEILING = "tokens_per_round"


async def beside(spec: ProbeSpec, found: ProbeFound, runs: Runs) -> tuple[Beside, ...]:
    """The newest of them in each language, MOST at most."""
    return tuple([one for language in spec.languages for one in await _in(language, spec, found, runs)])


async def _in(language: Language, spec: ProbeSpec, found: ProbeFound, runs: Runs) -> list[Beside]:
    name = "layerskip" if isinstance(spec.ablation, LastLayers) else "component"
    page = await runs.page(RunFilter(language=language, drafter=name, state=RunState.SUCCEEDED, limit=200))
    fitting = [run.id for run in page.items if drafts_so(run.spec, spec, found)]
    reports = [await runs.report(run) for run in fitting[:MOST]]
    return [made for report in reports if (made := _beside(report, language, spec, found)) is not None]


def drafts_so(run: RunSpec, spec: ProbeSpec, found: ProbeFound) -> bool:
    """Whether a greedy run drafts with the model that was probed, in drafts of one length."""
    params = run.drafter.params
    part = isinstance(spec.ablation, LastLayers) and params.get("exit_layer") == found.layers - spec.ablation.count
    whole = not isinstance(spec.ablation, LastLayers) and params.get("kept", 0) == 0
    same = run.model.model_copy(update={"dtype": "auto"}) == spec.model.model_copy(update={"dtype": "auto"})
    return same and (part or whole) and run.controller.name == CONSTANT and run.sampling.temperature == 0


def _beside(report: Report, language: Language, spec: ProbeSpec, found: ProbeFound) -> Beside | None:
    """None where the run was of other weights, another precision or tokenizer, or that is not known."""
    passport, acceptance = report.passport, report.find(CHAINS)
    if passport is None or acceptance is None:
        return None
    ours = (found.weights_digest, found.revision, found.dtype, found.tokenizer.fingerprint)
    if (passport.weights_digest, passport.revision, passport.dtype, passport.tokenizer.fingerprint) != ours:
        return None
    share, texts = share_of(spec.ablation, found.layers, found.draft_share), [text for text in found.texts if text.language == language]
    length = int(report.spec.controller.params.get("length", DEFAULT_LENGTH))
    return Beside(
        run=report.run,
        language=language,
        drafter=report.spec.drafter.name,
        suite=report.spec.suite.id,
        same_text=passport.suite_digest == found.suite_digest,
        predicted=predicted(texts, length, share),
        acceptance=acceptance,
        tokens_per_round=report.find(CEILING),
        speedup=report.find(report.headline),
        headline=report.headline,
    )
