"""The sentences of a verdict under an open load: median latency in place of speed, trial pairs in place of prompts (see app.statistics.wording)."""

from collections.abc import Collection

from app.domain.sentence import Quantity, Sentence, plain

Values = dict[str, str | int | Quantity]


def pays(values: Values, *, known: bool) -> Sentence:
    if not known:
        return plain(
            "Pays. In %(language)s, at %(rate)s, the median latency of plain is %(speedup)s of that of %(drafter)s (%(trial_pairs)s). "
            "No acceptance can be given.",
            **values,
        )
    return plain(
        "Pays. In %(language)s, at %(rate)s, the median latency of plain is %(speedup)s of that of %(drafter)s (%(trial_pairs)s). "
        "Acceptance %(acceptance)s.",
        **values,
    )


def slower(values: Values, *, known: bool) -> Sentence:
    if not known:
        return plain(
            "Does not pay: it is slower. In %(language)s, at %(rate)s, the median latency of plain is %(speedup)s of that of %(drafter)s "
            "(%(trial_pairs)s). No acceptance can be given.",
            **values,
        )
    return plain(
        "Does not pay: it is slower. In %(language)s, at %(rate)s, the median latency of plain is %(speedup)s of that of %(drafter)s "
        "(%(trial_pairs)s), with %(acceptance)s of its drafts accepted.",
        **values,
    )


def does_not_pay(values: Values, *, known: bool) -> Sentence:
    if not known:
        return plain(
            "Does not pay. In %(language)s, at %(rate)s, the median latency of plain is %(speedup)s of that of %(drafter)s (%(trial_pairs)s); "
            "%(bar)s is the least that counts. No acceptance can be given.",
            **values,
        )
    return plain(
        "Does not pay. In %(language)s, at %(rate)s, the median latency of plain is %(speedup)s of that of %(drafter)s (%(trial_pairs)s); "
        "%(bar)s is the least that counts. Acceptance %(acceptance)s.",
        **values,
    )


def no_interval() -> Sentence:
    return plain("Cannot tell: no two trials could be weighed against each other, so there is no ratio of latencies.")


def unstable(arms: Collection[str], drafter: str, rate: Quantity) -> Sentence:
    """`arms` do not bear the load."""
    if "speculative" not in arms:
        return plain(
            "Cannot tell by latency: at %(rate)s requests pile up in plain decoding, and %(drafter)s keeps up. What piles up has no steady latency "
            "to compare with; throughput and the highest stable rate are shown instead.",
            rate=rate,
            drafter=drafter,
        )
    if "plain" not in arms:
        return plain(
            "Cannot tell by latency: at %(rate)s requests pile up with %(drafter)s, and plain decoding keeps up. What piles up has no steady latency "
            "to compare with; throughput and the highest stable rate are shown instead.",
            rate=rate,
            drafter=drafter,
        )
    return plain(
        "Cannot tell by latency: at %(rate)s requests pile up both in plain decoding and with %(drafter)s. What piles up has no steady latency to "
        "compare; throughput and the highest stable rate are shown instead.",
        rate=rate,
        drafter=drafter,
    )


def family(values: Values, runs: int) -> Sentence:
    return plain(
        "Cannot tell yet. %(drafter)s in %(language)s, to which plain's median latency is %(speedup)s, is one of %(runs)s weighed together; "
        "among so many, chance may give as much.",
        **values | {"runs": runs},
    )


def undecided(values: Values, more: int | None) -> Sentence:
    if more is None:
        return plain(
            "Cannot tell yet. In %(language)s, at %(rate)s, the median latency of plain is %(speedup)s of that of %(drafter)s; the interval includes "
            "%(bar)s, the least that counts. An effect this small is not settled by a sensible number of trials.",
            **values,
        )
    return plain(
        "Cannot tell yet. In %(language)s, at %(rate)s, the median latency of plain is %(speedup)s of that of %(drafter)s; the interval includes "
        "%(bar)s, the least that counts. About %(trial_pairs)s more would settle an effect of this size.",
        **values | {"trial_pairs": more},
    )
