"""Why an estimate has no interval, or no point: said once, so that every figure says it alike."""

from app.domain.sentence import Sentence, plain

FEWEST_CLUSTERS = 6
# Clusters of other kinds from which an interval is read. Noise shared by a trial shows only between trials (tests hold both against simulation).
FEWEST_TRIAL_PAIRS = 4
FEWEST_BLOCKS = 3
PAIRS_PER_BLOCK = 2


def totals_only() -> Sentence:
    return plain("No interval: only totals were given, so nothing says how much prompts differ.")


def one_request() -> Sentence:
    return plain("No interval: one request says nothing about how much prompts differ.")


def few(n: int) -> Sentence:
    return plain(
        "No interval: %(prompts)s carry this figure; fewer than %(least)s say too little about how they differ.", prompts=n, least=FEWEST_CLUSTERS
    )


def few_requests(n: int) -> Sentence:
    return plain(
        "No interval: %(requests)s carry this figure; fewer than %(least)s say too little about how they differ.", requests=n, least=FEWEST_CLUSTERS
    )


def few_trial_pairs(n: int) -> Sentence:
    return plain("No interval from %(trial_pairs)s; %(least)s are the least.", trial_pairs=n, least=FEWEST_TRIAL_PAIRS)


def few_blocks(n: int) -> Sentence:
    return plain("No interval from %(blocks)s; %(least)s are the least.", blocks=n, least=FEWEST_BLOCKS)


def boundary() -> Sentence:
    return plain("No interval: a share of exactly 0% or 100% has none by this method.")


def nothing_counted() -> Sentence:
    return plain("No interval: nothing was counted above 0, so there is no logarithm to take.")


def no_spread() -> Sentence:
    return plain("No interval: every prompt gave the same value.")


def no_spread_of_requests() -> Sentence:
    return plain("No interval: every request gave the same value.")


def no_spread_of_trials() -> Sentence:
    return plain("No interval: every trial gave the same value.")


def nothing_to_divide_by() -> Sentence:
    return plain("There is no figure: what it is divided by is 0.")
