"""Whether drafts branched. D then counts nodes, of which a path can be kept and no more, so that V/D is another figure than a chain's."""

from app.domain.sentence import plain
from app.metrics.frame import Frames
from app.metrics.select import counted_rounds

NODES = plain(
    "Trees were drafted, of which one path is kept at most: V/D is acceptance_rate_nodes here, and is no acceptance of chains. "
    "verified_per_position compares trees with chains."
)
BAR_OF_CHAINS = plain(
    "Trees were drafted: their nodes cannot all be kept, so the share of them that a round must keep says little. "
    "Tokens per round beside the costs of drafting and verifying say what it must deliver."
)


def branched(frames: Frames) -> bool:
    """A round that drafted more tokens than its longest path has was a tree."""
    if frames.trees:
        return True
    rounds = counted_rounds(frames)
    return bool((rounds["drafted"] > rounds["depth"]).any())
