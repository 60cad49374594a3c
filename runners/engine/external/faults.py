"""What a served engine did wrong, in a sentence that a person can act on."""

from runners.protocol.unmeasurable import Unmeasurable


class EngineFault(Unmeasurable):
    """A served engine did not start, does not speculate, or did not answer as it was asked to."""
