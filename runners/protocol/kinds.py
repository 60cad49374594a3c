"""Which trials a load takes."""

from app.domain.spec import Regime
from runners.protocol.closed import ClosedTrials
from runners.protocol.open import OpenTrials
from runners.protocol.paired import PairedTrials
from runners.protocol.trials import Trials

KINDS: dict[Regime, type[Trials]] = {"single": PairedTrials, "closed": ClosedTrials, "open": OpenTrials}
