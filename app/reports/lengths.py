"""How deep drafts went and how many of their tokens were kept, round by round."""

from collections.abc import Sequence

import numpy as np

from app.domain.facts import RequestFact
from app.metrics.frame import Frames
from app.reports.prompts import counted_requests
from app.reports.record import RunRecord
from app.reports.report import LengthRow

MOST_ROWS = 64


def length_rows(record: RunRecord, frames: Frames) -> list[LengthRow]:
    """Rows of as many rounds each as it takes for at most MOST_ROWS of them. Over the requests that counts come from; none where
    one of them does not list its rounds."""
    counted = list(counted_requests(record, frames))
    if not all(fact.listed for fact in counted):
        return []
    requests = [fact for fact in counted if fact.rounds]
    latest = max((len(fact.round_depth) for fact in requests), default=0)
    width = -(-latest // MOST_ROWS) or 1
    return [_row(requests, first, first + width) for first in range(0, latest, width)]


def _row(requests: Sequence[RequestFact], first: int, after: int) -> LengthRow:
    """Rounds `first` … `after` − 1, counted from 0; the last row may end before. A tree is as long as its longest path: no more of it can be kept."""
    drafted = np.concatenate([fact.round_depth[first:after] for fact in requests])
    kept = np.concatenate([fact.round_verified[first:after] for fact in requests])
    low, high = np.percentile(drafted, [25, 75])
    return LengthRow(
        first=first + 1,
        last=min(after, max(len(fact.round_depth) for fact in requests)),
        requests=sum(len(fact.round_depth) > first for fact in requests),
        drafted=float(drafted.mean()),
        low=float(low),
        high=float(high),
        kept=float(kept.mean()),
    )
