"""What a served engine did wrong, in a sentence that a person can act on."""

from runners.protocol.unmeasurable import Unmeasurable

# What may go away by itself: a machine that is busy for a while, a connection that broke, a port that somebody holds.
PASSING = frozenset({"engine_not_ready", "engine_gone", "engine_cut", "engine_stalled", "port_taken"})


class EngineFault(Unmeasurable):
    """A served engine did not start, does not speculate, or did not answer as it was asked to. `again` is told where the code does not tell it."""

    def __init__(self, code: str, sentence: str, *, again: bool | None = None) -> None:
        super().__init__(code, sentence)
        self.again = code in PASSING if again is None else again
