"""What counts as finished and as timed, for every figure alike."""

DONE = ("eos", "length", "stop")
# What took less than any clock can tell was not timed; as a divisor it would be an endless speed.
LEAST_SECONDS = 1e-9
# The two arms of every pair, plain first.
ARMS = ("plain", "speculative")
