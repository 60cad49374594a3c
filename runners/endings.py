"""How a run ended that could not be measured: a word for a program and a sentence for a person."""

import torch

from app.domain.facts import FinishFact
from runners.drafters.base import UnfitDrafter
from runners.engine.ablation import UnfitAblation
from runners.engine.families import UnsupportedModel
from runners.models.allowlist import ModelRefused
from runners.models.load import NoSuchModel
from runners.models.package import NoWeights
from runners.parts import UnknownPart
from runners.protocol.bench import Cancelled
from runners.protocol.unmeasurable import Unmeasurable
from runners.workloads.suite import SuiteError
from runners.workloads.tokenizers import NoFastTokenizer

CODES: dict[type[Exception], str] = {
    UnknownPart: "unknown_part",
    UnfitDrafter: "unfit_drafter",
    UnsupportedModel: "unsupported_model",
    UnfitAblation: "unfit_ablation",
    ModelRefused: "model_refused",
    NoWeights: "no_weights",
    NoSuchModel: "no_such_model",
    NoFastTokenizer: "no_fast_tokenizer",
    SuiteError: "suite_refused",
}
EXPECTED: tuple[type[Exception], ...] = (*CODES, Unmeasurable, Cancelled, torch.OutOfMemoryError)
MEASURED = FinishFact(outcome="succeeded", code="measured")


def ending_of(error: Exception) -> FinishFact:
    """The last word for one of EXPECTED; any other error is a fault of ours, and its last words belong into the log."""
    if isinstance(error, Cancelled):
        return FinishFact(outcome="cancelled", code="cancelled", reason="The run was cancelled.")
    if isinstance(error, torch.OutOfMemoryError):
        return FinishFact(outcome="failed", code="out_of_memory", reason=f"The device ran out of memory: {error}"[:2000])
    code, again = (error.code, error.again) if isinstance(error, Unmeasurable) else (CODES[type(error)], False)
    return FinishFact(outcome="failed", code=code, reason=str(error)[:2000], retry_makes_sense=again)
