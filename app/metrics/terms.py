"""What counts as finished and as timed, for every figure alike."""

from app.domain.sentence import plain

DONE = ("eos", "length", "stop")
# What took less than any clock can tell was not timed; as a divisor it would be an endless speed.
LEAST_SECONDS = 1e-9
# A count by its name, and by its sign in the definitions.
COUNTS = {
    "drafted": plain("drafted tokens, D"), "verified": plain("kept tokens, V"), "rounds": plain("rounds, R"),
    "undrafted": plain("steps without a draft, U"), "accepted": plain("delivered drafts, A"), "emitted": plain("delivered tokens, E"),
    "prefill_tokens": plain("tokens of the prefill, P"), "kept_at": plain("rounds by position"),
}  # fmt: skip
# The two arms of every pair, plain first.
ARMS = ("plain", "speculative")
