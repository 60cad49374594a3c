"""How runs end that could not be measured, and which of them are worth another attempt."""

import pytest

from runners.endings import ending_of
from runners.engine.external.faults import EngineFault
from runners.protocol.unmeasurable import Unmeasurable


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (EngineFault("engine_not_ready", "llama.cpp was not ready within 120 seconds; it never answered"), True),
        (EngineFault("engine_gone", "llama.cpp could not be reached: connection refused"), True),
        (EngineFault("engine_stalled", "llama.cpp sent nothing for 300 seconds"), True),
        (EngineFault("port_taken", "port 8001 of this machine is taken"), True),
        (EngineFault("engine_exited", "llama.cpp was ended by SIGKILL", again=True), True),
        (EngineFault("engine_exited", "llama.cpp exited with status 1"), False),
        (EngineFault("engine_wrong_model", "llama.cpp was asked for the model a and answered as b"), False),
        (EngineFault("engine_not_speculating", "llama.cpp does not speculate"), False),
        (Unmeasurable("tokenizers_differ", "The drafter's model has another tokenizer"), False),
    ],
)
def test_what_may_go_away_by_itself_is_worth_another_attempt(error: Unmeasurable, again: bool) -> None:
    """Catches "a retry will fail again" beside an engine that the system killed, and a retry that is offered to a wrong argument."""
    fact = ending_of(error)
    assert (fact.code, fact.retry_makes_sense) == (error.code, again)
