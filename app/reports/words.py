"""Names that people read for ids that programs read. `mark` and `both` only make texts known to the extractor."""

from app.domain.status import RunState
from app.reports.translate import gettext


def mark(text: str) -> str:
    return text


def both(one: str, many: str) -> tuple[str, str]:
    return one, many


NAMES: dict[str, str] = {
    "acceptance_rate": mark("Acceptance, V/D"),
    "acceptance_rate_nodes": mark("Acceptance of tree nodes, V/D"),
    "verified_per_position": mark("Kept per verified position"),
    "accepted_per_round": mark("Accepted per round"),
    "tokens_per_round": mark("Tokens per round"),
    "tokens_per_target_forward": mark("Tokens per target forward"),
    "tokens_per_forward_all": mark("Tokens per forward, all requests"),
    "accepted_share": mark("Share of output that was drafted, A/E"),
    "acceptance_at": mark("Acceptance at a position, of rounds that drafted so far"),
    "acceptance_at_all_rounds": mark("Acceptance at a position, of all rounds"),
    "acceptance_given_previous": mark("Acceptance at a position, given the previous was accepted"),
    "acceptance_by_position": mark("Acceptance along the output"),
    "acceptance_by_context": mark("Acceptance by context length"),
    "draft_coverage": mark("Steps that carried a draft"),
    "layer_passes_per_token": mark("Layer passes per token"),
    "experts_per_verify": mark("Experts read by a verification"),
    "expert_reuse": mark("Experts shared within a verification"),
    "speedup_end_to_end": mark("Speed-up end to end"),
    "speedup_decode": mark("Speed-up of decoding"),
    "speedup_throughput": mark("Speed-up of throughput"),
    "latency_ratio": mark("Latency, plain ÷ speculative"),
    "throughput": mark("Throughput"),
    "max_stable_rate": mark("Highest stable rate"),
    "time_per_output_token": mark("Time per output token"),
    "delivery_gap": mark("Gap between deliveries"),
    "ttft": mark("Time to first token"),
    "request_latency": mark("Request latency"),
    "queueing": mark("Queueing"),
    "draft_cost": mark("Cost of a draft, in plain steps"),
    "verify_cost": mark("Cost of a verification, in plain steps"),
    "predicted_speedup": mark("Predicted speed-up"),
    "break_even_acceptance": mark("Break-even acceptance"),
    "break_even_load": mark("Break-even load"),
    "fertility": mark("Fertility"),
    "chars_per_round": mark("Characters per round"),
    "window_speedup": mark("Speed-up by window"),
    "memory_overhead": mark("Memory overhead"),
    "losslessness": mark("Losslessness"),
    "control_ratio": mark("Control against plain"),
}

STATES: dict[str, str] = {
    RunState.QUEUED: mark("queued"),
    RunState.LEASED: mark("starting"),
    RunState.RUNNING: mark("running"),
    RunState.SUCCEEDED: mark("finished"),
    RunState.FAILED: mark("failed"),
    RunState.CANCELLED: mark("cancelled"),
}

OUTCOMES: dict[str, str] = {
    "pays": mark("pays"),
    "does not pay": mark("does not pay"),
    "cannot tell": mark("cannot tell"),
    "refused": mark("refused"),
}

# Values of parts and of the load that are words of ours, and the states of a facet.
VOCABULARY = (
    mark("word"), mark("character"), mark("prompts"), mark("outputs"), mark("characters"), mark("words"), mark("tokens"), mark("closed"),
    mark("degenerate"), mark("other language"), mark("unknown language"), mark("closure"), mark("identity"), mark("controller"),
    mark("open"), mark("context length"), mark("shared cache"), mark("state"), mark("answer language"), mark("suite digest"), mark("lossless"),
    mark("lossy"), mark("requests failed"), mark("forced acceptance"), mark("foreign traffic"), mark("engine totals"),
    mark("weights"), mark("KV cache"), mark("total time"), mark("tokens per delivery"),
)  # fmt: skip
# What other rooms say in English: titles of errors (docstrings of app.errors.AppError and its kin) and why a run waits.
ELSEWHERE = (
    mark("There is no such run"), mark("There is nothing here"), mark("The request cannot be understood"), mark("Something broke on our side"),
    mark("This token may not do that"), mark("A token is needed"), mark("The database does not answer"),
    mark("This does not fit the present state"), mark("No runner can measure this"), mark("Nothing can be measured yet"),
    mark("These runs cannot be compared yet"), mark("This run has ended already"),
)  # fmt: skip
WAITING = (
    mark("No runner offers this model. The run waits; `bezmen runner` starts one."),
    mark("A runner has other prompts under the name of this uploaded suite. The run waits; cancel it, and upload the suite under another name."),
    mark("The runner that can measure this is offline. The run waits; `bezmen runner` starts one."),
    mark("The runner is busy with another run."),
    mark("The runner is busy with a probe."),
)
# The end of a run on a private suite (app/domain/withheld.py).
WITHHELD = mark("The suite is private, so the runner's own words are withheld; the code says what kind of end it was.")

# Which speed-up it is, where several kinds stand in one column.
SPEEDUPS: dict[str, str] = {
    "speedup_end_to_end": mark("end to end"), "speedup_decode": mark("decoding"), "speedup_throughput": mark("throughput"),
    "latency_ratio": mark("latency"),
}  # fmt: skip

ARMS: dict[str, str] = {"plain": mark("plain"), "speculative": mark("speculative"), "control": mark("control")}


def name_of(id: str, locale: str) -> str:
    """The name of a figure, or its id where it has none."""
    return gettext(NAMES.get(id, id), locale)


def speedup_of(id: str, locale: str) -> str:
    return gettext(SPEEDUPS.get(id, id), locale)


def state_of(state: str, locale: str) -> str:
    return gettext(STATES.get(state, state), locale)


def outcome_of(outcome: str, locale: str) -> str:
    return gettext(OUTCOMES.get(outcome, outcome), locale)


def judged_of(state: str, outcome: str, locale: str) -> str:
    """What a run came to: its verdict, or its state where it has none, since only a run that succeeded is judged."""
    return outcome_of(outcome, locale) if state == RunState.SUCCEEDED else state_of(state, locale)


def arm_of(arm: str, locale: str) -> str:
    return gettext(ARMS.get(arm, arm), locale)
