"""The sentences of a verdict under load: throughput in place of speed, trial pairs in place of prompts (see app.statistics.wording)."""

from app.domain.sentence import Quantity, Sentence, plain

Values = dict[str, str | int | Quantity]


def pays(values: Values, *, known: bool) -> Sentence:
    if not known:
        return plain(
            "Pays. In %(language)s, at %(requests)s at a time, %(drafter)s gives %(speedup)s of plain throughput (%(trial_pairs)s). "
            "No acceptance can be given.",
            **values,
        )
    return plain(
        "Pays. In %(language)s, at %(requests)s at a time, %(drafter)s gives %(speedup)s of plain throughput (%(trial_pairs)s). "
        "Acceptance %(acceptance)s.",
        **values,
    )


def slower(values: Values, *, known: bool) -> Sentence:
    if not known:
        return plain(
            "Does not pay: it is slower. In %(language)s, at %(requests)s at a time, %(drafter)s gives %(speedup)s of plain throughput "
            "(%(trial_pairs)s). No acceptance can be given.",
            **values,
        )
    return plain(
        "Does not pay: it is slower. In %(language)s, at %(requests)s at a time, %(drafter)s gives %(speedup)s of plain throughput "
        "(%(trial_pairs)s), with %(acceptance)s of its drafts accepted.",
        **values,
    )


def does_not_pay(values: Values, *, known: bool) -> Sentence:
    if not known:
        return plain(
            "Does not pay. In %(language)s, at %(requests)s at a time, %(drafter)s gives %(speedup)s of plain throughput "
            "(%(trial_pairs)s); %(bar)s is the least that counts. No acceptance can be given.",
            **values,
        )
    return plain(
        "Does not pay. In %(language)s, at %(requests)s at a time, %(drafter)s gives %(speedup)s of plain throughput (%(trial_pairs)s); "
        "%(bar)s is the least that counts. Acceptance %(acceptance)s.",
        **values,
    )


def no_floor() -> Sentence:
    return plain("Cannot tell: no two blocks kept both of their plain trials, so it is not known how far two equal measurements differ here.")


def no_interval() -> Sentence:
    return plain("Cannot tell: no two trials could be weighed against each other, so there is no speed-up of throughput.")


def few(values: Values, least: int) -> Sentence:
    return plain("Cannot tell yet. %(trial_pairs)s are too few; %(least)s are the least.", trial_pairs=values["trial_pairs"], least=least)


def family(values: Values, runs: int) -> Sentence:
    return plain(
        "Cannot tell yet. %(drafter)s in %(language)s, at %(speedup)s of plain throughput, is one of %(runs)s weighed together; "
        "among so many, chance may give as much.",
        **values | {"runs": runs},
    )


def undecided(values: Values, more: int | None) -> Sentence:
    if more is None:
        return plain(
            "Cannot tell yet. In %(language)s, at %(requests)s at a time, %(drafter)s gives %(speedup)s of plain throughput; the interval includes "
            "%(bar)s, the least that counts. An effect this small is not settled by a sensible number of trials.",
            **values,
        )
    return plain(
        "Cannot tell yet. In %(language)s, at %(requests)s at a time, %(drafter)s gives %(speedup)s of plain throughput; the interval includes "
        "%(bar)s, the least that counts. About %(trial_pairs)s more would settle an effect of this size.",
        **values | {"trial_pairs": more},
    )
