"""Whether an answer loops, as service and runner alike judge it."""

from app.domain.degenerate import LIMIT, REPEAT, TAIL, is_degenerate, repeated_share

__all__ = ["LIMIT", "REPEAT", "TAIL", "is_degenerate", "repeated_share"]
