"""Trials on a real server process that has llama-server's interface and writes down what it really did."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import torch

from app.domain.facts import AnyFact, RequestFact, TrialFact
from app.domain.spec import Load
from runners.clock import Clock
from runners.engine.external.aliases import LlamaServer
from runners.engine.external.answer import Ask
from runners.engine.external.engines.base import Setup
from runners.engine.external.engines.llama_cpp import LlamaCpp
from runners.engine.external.faults import EngineFault
from runners.protocol.arms import Cancelled
from runners.protocol.kinds import KINDS
from runners.protocol.warmup import warm_up
from runners.served import server as server_module
from runners.served.bench import ServedBench
from runners.served.server import Server
from tests.runners.served import llama
from tests.simulated import NoWatch, Simulation, WordTokenizer

TOKENS = 24


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return llama.install(tmp_path)


class Numbers(WordTokenizer):
    """Its tokens are their own ids."""

    def decode(self, ids: Any, **_: Any) -> str:
        return " ".join(map(str, ids))


class Laboratory:
    """One job's trials on two servers."""

    def __init__(
        self,
        program: Path,
        folder: Path,
        *,
        model: str = "quick",
        mode: str = "ngram-simple",
        load: Load | None = None,
        context: int = 512,
        **over: Any,
    ) -> None:
        simulation = Simulation(tokens=TOKENS, **({"prompts": 6, "blocks": 1} | over))
        ready = simulation.ready()
        self.ready = replace(ready, spec=ready.spec.model_copy(update={"load": load or Load()}), tokenizer=Numbers())
        self.folder, self.model = folder, folder / f"{model}.gguf"
        self.model.touch()
        self.clock = Clock(torch.device("cpu"))
        alias = LlamaServer(kind="llama.cpp", server=program, roots=(folder,), arguments=("--truth", str(folder / "truth.jsonl")))
        setup = Setup(self.model, 0, slots=self.ready.spec.load.concurrency, context=context, cores=(0,))
        arms = {None: LlamaCpp("target"), 0: LlamaCpp("target", LlamaCpp.modes.validate_python({"mode": mode}))}
        called = {None: "llama.cpp of the plain arm", 0: "llama.cpp of the speculative arm"}
        servers = {seat: Server(engine, alias, setup, folder / f"{seat}.log", self.clock, called=called[seat]) for seat, engine in arms.items()}
        self.wanted: Callable[[int], bool] = lambda _: True

        def asking(request: Any) -> Ask:
            return Ask(request.ids, TOKENS, seed=request.seed, planned_at=request.planned_at)

        self.bench = ServedBench(servers, asking, self.clock, (1, 2, 3), wanted=lambda run: self.wanted(run))

    def start(self) -> "Laboratory":
        for server in self.bench.servers.values():
            self.bench.run(server.start())
        return self

    def trials(self) -> Any:
        ready: Any = self.ready
        watch: Any = NoWatch
        return KINDS[self.ready.spec.load.regime]({0: ready}, self.bench, [0], lambda _run, _fact: None, watch)

    def facts(self) -> list[AnyFact]:
        return [fact for _, fact in self.trials().headline()]

    def truth(self, *, started: bool = False) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in (self.folder / "truth.jsonl").read_text().splitlines()]
        return [line for line in lines if ("started" in line) == started]


@pytest.fixture
def laboratory(program: Path, tmp_path: Path) -> Iterator[Callable[..., Laboratory]]:
    made: list[Laboratory] = []

    def make(**over: Any) -> Laboratory:
        made.append(Laboratory(program, tmp_path, **over))
        return made[-1].start()

    yield make
    for each in made:
        each.bench.close()


def requests(facts: list[AnyFact], arm: str) -> list[RequestFact]:
    return [fact for fact in facts if isinstance(fact, RequestFact) and fact.arm == arm]


def trials(facts: list[AnyFact], arm: str) -> list[TrialFact]:
    return [fact for fact in facts if isinstance(fact, TrialFact) and fact.arm == arm]


@pytest.mark.parametrize("model", ["quick", "ends"])
def test_counts_of_requests_one_by_one_are_what_the_server_did(laboratory: Any, model: str) -> None:
    """Catches a prompt's second decode call taken for a step without a draft, a token counted twice, and a wrong cut of the last round."""
    lab = laboratory(model=model)
    facts = lab.facts()
    truth = {(tuple(each["prompt"]), each["arm"]): each for each in lab.truth()}
    ids = {request.prompt: request.ids for request in lab.ready.requests}
    own = requests(facts, "speculative")
    assert len(own) == len(requests(facts, "plain")) == 2 * len(ids)
    for fact in own:
        did = truth[ids[fact.prompt], True]
        assert (fact.drafted, fact.verified, fact.rounds, fact.undrafted, fact.emitted) == (did["D"], did["V"], did["R"], did["U"], did["E"])
        assert fact.prefill_tokens == 1
        assert fact.accepted is not None
        assert fact.discarded_bonus is not None
        assert fact.emitted == 1 + fact.accepted + fact.rounds + fact.undrafted - fact.discarded_bonus
    assert all(bool(fact.discarded_bonus) == (model == "ends") for fact in own), "that end of text lies within a round"
    for fact in requests(facts, "plain"):
        assert (fact.drafted, fact.rounds, fact.undrafted) == (0, 0, fact.emitted - 1)


@pytest.mark.parametrize(("load", "held"), [(Load(), 768), (Load(concurrency=2), 768)])
def test_what_a_slot_holds_is_the_servers_own_word(laboratory: Any, load: Load, held: int) -> None:
    """Catches a passport with the model's length, with that of all slots together, or with what was asked where the server rounds it up."""
    bench = laboratory(load=load, context=700).bench
    for server in bench.servers.values():
        assert bench.run(server.build()).context == held


def test_answers_of_both_arms_are_the_same_ids_and_every_token_has_a_time(laboratory: Any) -> None:
    facts = laboratory().facts()
    plain = {fact.prompt: fact.output_ids for fact in requests(facts, "plain")}
    for fact in requests(facts, "speculative"):
        assert fact.output_ids == plain[fact.prompt]
        assert sum(fact.step_tokens) == TOKENS
        assert fact.sent_at < fact.first_at <= fact.last_at


@pytest.mark.parametrize("load", [Load(), Load(concurrency=2)])
def test_the_counters_of_a_trial_are_the_sum_of_its_requests(laboratory: Any, load: Load) -> None:
    """Catches counters of a server's whole life taken for a trial's, and warm-up requests in them."""
    lab = laboratory(load=load)
    warm_up(lab.bench, lab.ready.requests, load.concurrency, 0.0)
    facts = lab.facts()
    for arm in ("plain", "speculative"):
        assert trials(facts, arm)
        for trial in trials(facts, arm):
            own = [fact for fact in requests(facts, arm) if fact.trial == trial.trial]
            assert trial.counted is not None
            counts = trial.counted.counts
            assert (counts.requests, counts.emitted) == (len(own), sum(fact.emitted for fact in own))
            assert (counts.drafted, counts.verified) == (sum(f.drafted or 0 for f in own), sum(f.verified or 0 for f in own))
            assert trial.foreign == 0


def test_what_nobody_tells_of_requests_at_the_same_time_is_not_told(laboratory: Any) -> None:
    """Catches rounds of one request read from counters that several share."""
    facts = laboratory(load=Load(concurrency=2)).facts()
    for fact in requests(facts, "speculative"):
        assert (fact.rounds, fact.undrafted, fact.accepted, fact.discarded_bonus) == (None, None, None, None)
        assert fact.drafted is not None
    in_flight = sorted(fact.sent_at for fact in requests(facts, "speculative") if fact.trial == 0)
    assert in_flight[1] < min(fact.last_at for fact in requests(facts, "speculative") if fact.trial == 0)


def test_planned_arrivals_are_kept_and_equal_for_both_arms(laboratory: Any) -> None:
    lab = laboratory(load=Load(kind="open", concurrency=2, rate=60.0))
    facts = lab.facts()
    planned = {(fact.prompt, fact.trial): fact.planned_at for fact in requests(facts, "plain")}
    assert len(planned) == 2 * len(lab.ready.requests)
    for fact in requests(facts, "speculative"):
        assert fact.planned_at == planned[fact.prompt, fact.trial]
        assert fact.planned_at is not None
        assert fact.sent_at >= fact.planned_at


def test_a_mode_that_remembers_requests_begins_every_trial_anew(laboratory: Any) -> None:
    """Catches a second trial that drafts out of the first one's answers. Plain is started as often, so that both begin alike."""
    lab = laboratory(mode="ngram-mod", load=Load(concurrency=2))
    lab.facts()
    starts = [line["started"] for line in lab.truth(started=True)]
    assert starts.count(True) == starts.count(False) == 1 + 2
    assert all(not psutil.pid_exists(line["pid"]) for line in lab.truth(started=True)[:-2])


def test_a_mode_that_forgets_is_started_once(laboratory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runners.engine.external.engines.llama_cpp.NgramSimple.memory", "request")
    lab = laboratory()
    lab.facts()
    assert len(lab.truth(started=True)) == 2


def test_requests_of_others_are_noticed(laboratory: Any) -> None:
    """Catches somebody else's drafts taken for ours: the request that they fell into tells no rounds, and the trial names how many there were."""
    lab = laboratory()
    one = lab.bench._one

    def disturbed(seat: Any, request: Any) -> Any:
        if seat == 0 and request.prompt == "p3":
            url = lab.bench.servers[0].serving.url
            httpx.post(f"{url}/completion", json={"prompt": [5, 5], "n_predict": 9}, timeout=10).raise_for_status()
        return one(seat, request)

    lab.bench._one = disturbed
    facts = lab.facts()
    assert all((fact.rounds is None) == (fact.prompt == "p3") for fact in requests(facts, "speculative"))
    assert {trial.foreign for trial in trials(facts, "speculative")} == {1}
    assert {trial.foreign for trial in trials(facts, "plain")} == {0}


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ("dies-5", "engine_exited", "^llama.cpp of the speculative arm was ended by SIGKILL; its last words:\n(.*\n)*out of memory"),
        ("refuses-5", "engine_refused", "^llama.cpp of the speculative arm answered 500 to /completion: slot lost"),
        ("quits-5", "engine_exited", "^llama.cpp of the speculative arm exited with status 1; its last words:\n(.*\n)*the worker is gone"),
    ],
)
@pytest.mark.parametrize("load", [Load(), Load(concurrency=2)])
def test_an_engine_that_fails_in_the_middle_ends_the_trials_with_its_words(laboratory: Any, load: Load, model: str, code: str, words: str) -> None:
    lab = laboratory(model=model, load=load)
    with pytest.raises(EngineFault, match=words) as fault:
        lab.facts()
    assert fault.value.code == code


@pytest.mark.parametrize(("seat", "arm"), [(None, "plain"), (0, "speculative")])
def test_an_engine_whose_guard_was_killed_ends_the_trials(laboratory: Any, monkeypatch: pytest.MonkeyPatch, seat: Any, arm: str) -> None:
    """Catches an answer that is kept of an engine which nobody watches any more, on a system that lets it run on."""
    lab = laboratory()
    one = lab.bench._while_wanted

    async def killed_behind(asked: Any, work: Any) -> Any:
        heard = await one(asked, work)
        if asked == seat:
            process = lab.bench.servers[seat].serving.process
            os.kill(process.pid, signal.SIGKILL)
            process.await_exit(5.0)
            monkeypatch.setattr(Server, "scrape", nothing)
        return heard

    async def nothing(_: Server) -> None:
        return None

    monkeypatch.setattr(lab.bench, "_while_wanted", killed_behind)
    with pytest.raises(EngineFault, match=f"^llama.cpp of the {arm} arm was ended by SIGKILL") as fault:
        lab.facts()
    assert (fault.value.code, fault.value.again) == ("engine_exited", True)


def test_what_was_measured_before_an_engine_fails_is_kept(laboratory: Any) -> None:
    """Not started anew, it dies in the second trial."""
    lab = laboratory(model="dies-8")
    lab.bench.renew = lambda seats: None
    seen: list[AnyFact] = []

    def measure() -> None:
        for _, fact in lab.trials().headline():
            seen.append(fact)

    with pytest.raises(EngineFault):
        measure()
    assert len(requests(seen, "speculative")) == 6
    assert {fact.trial for fact in requests(seen, "speculative")} == {0}


def test_an_arm_is_asked_when_the_others_are_at_rest(laboratory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an engine that goes on looking for a request on the cores of the one that is asked: vLLM halved the other arm's speed that way."""
    lab, seen = laboratory(), list[Any]()
    seats = {id(server): seat for seat, server in lab.bench.servers.items()}

    async def rested(server: Server) -> None:
        seen.append(("rests", seats[id(server)]))

    one = lab.bench._outcome
    monkeypatch.setattr(Server, "rest", rested)
    monkeypatch.setattr(lab.bench, "_outcome", lambda seat, *rest: seen.append(("answered", seat)) or one(seat, *rest))
    lab.facts()
    last = "nobody"
    for what, seat in seen:
        if what == "rests":
            last = "rested"
        else:
            assert last in ("rested", seat)
            last = seat
    assert ("rests", None) in seen
    assert ("rests", 0) in seen


def test_what_another_arm_takes_meanwhile_is_no_time_of_the_measurement(laboratory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches cores that both arms' servers share unseen: the watch over the cores takes for others' what `spent` leaves out."""
    lab = laboratory()
    taken = dict.fromkeys(lab.bench.servers, 0.0)
    for seat, server in lab.bench.servers.items():
        monkeypatch.setattr(server, "spent", lambda seat=seat: taken[seat])
    with lab.bench._turn(0):
        taken[0] += 2.0
        taken[None] += 0.5
    taken[None] += 1.0
    # A sleeping server's housekeeping is left to it.
    assert lab.bench.spent() == pytest.approx(3.0, abs=0.01)


def test_an_engine_that_never_rests_is_not_measured_beside_another(laboratory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "RESTLESS_SECONDS", 0.3)
    lab = laboratory(model="spins")
    with pytest.raises(EngineFault, match="takes its cores although nothing is asked of it") as fault:
        lab.facts()
    assert fault.value.code == "engine_restless"


def test_a_run_that_nobody_wants_ends_within_a_moment(laboratory: Any) -> None:
    """Catches a cancelled run that waits for an answer that never comes."""
    lab = laboratory(model="stalls-3")
    threading.Timer(1.0, lambda: setattr(lab, "wanted", lambda _: False)).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        lab.facts()
    assert time.monotonic() - began < 20


def test_no_server_outlives_its_bench(laboratory: Any) -> None:
    lab = laboratory()
    pids = [line["pid"] for line in lab.truth(started=True)]
    assert all(map(psutil.pid_exists, pids))
    assert lab.bench.spent() > 0
    lab.bench.close()
    assert not any(map(alive, pids))


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_answers_whose_ids_are_not_all_told_are_compared_by_text(laboratory: Any) -> None:
    """Catches answers called equal, or different, for the ids that a stream leaves out."""
    facts = laboratory(model="halves").facts()
    plain = {fact.prompt: fact for fact in requests(facts, "plain")}
    for fact in requests(facts, "speculative"):
        assert fact.output_ids is None
        assert fact.output_digest == plain[fact.prompt].output_digest
        assert (fact.emitted, sum(fact.step_tokens)) == (TOKENS, TOKENS)
    assert len({fact.output_digest for fact in plain.values()}) == len(plain)
