"""Whether what is asked for can be measured by anybody, and if not, which field says so."""

from collections.abc import Iterable, Iterator, Sequence

from app.domain.catalogue import SAID, HandedSuite, Offer, OfferedModel, OfferedSuite, Part, ServedEngine
from app.domain.defaults import with_defaults
from app.domain.fit import beyond
from app.domain.language import base_of
from app.domain.probe import ProbeSpec
from app.domain.spec import NAMED_IN, OWN_ENGINE, Choice, ModelSource, RunSpec
from app.errors import MOST_NAMED, did_you_mean, pointer
from app.runners_registry.parameters import faults

Field = dict[str, str]
NO_OFFER = "No runner has ever said what it offers, so nothing can be measured yet; `bezmen runner` starts one."


def problems(spec: RunSpec, offers: Sequence[Offer]) -> list[Field]:
    """Every field for which no offer has an answer; empty when one runner can measure all of it (its labels apart)."""
    found = _lacking(spec, offers)
    if not found and not any(serves(spec, offer) for offer in offers):
        return [_field("no runner offers model, engine, drafter, suite and load of this run together")]
    return found


def _lacking(spec: RunSpec, offers: Sequence[Offer]) -> list[Field]:
    having = [offer.on(spec.engine) for offer in offers if spec.engine in offer.engines]
    model = list(_served(spec, offers)) or list(_model(spec.model, having or offers))
    return [*_named(spec, offers), *model, *_suite(spec, offers)]


def lacking(probe: ProbeSpec, offers: Sequence[Offer]) -> list[Field]:
    """The same of a probe, which decodes nothing and reads the suites that come with runners alone."""
    found = [*_model(probe.model, offers), *_own_suite(probe, offers)]
    if not found and not any(probes(probe, offer) for offer in offers):
        return [_field("no runner offers model and suite of this probe together")]
    return found


def probes(probe: ProbeSpec, offer: Offer) -> bool:
    """Whether this runner alone can probe all of it."""
    return not [*_model(probe.model, [offer]), *_own_suite(probe, [offer])]


def _own_suite(probe: ProbeSpec, offers: Sequence[Offer]) -> Iterator[Field]:
    own = [suite for offer in offers for suite in offer.suites if not isinstance(suite, HandedSuite)]
    named = [suite for suite in own if suite.id == probe.suite]
    if not named:
        yield _field(did_you_mean("suite", probe.suite, (suite.id for suite in own)), "suite")
        return
    for place, language in enumerate(probe.languages):
        if not any(_speaks(suite, language) for suite in named):
            known = sorted({tag for suite in named for tag in suite.languages})
            yield _field(f"suite {probe.suite} has no prompts in {language}; it has {', '.join(known)}", "languages", place)
    for place, language in enumerate(probe.languages):
        twin = next((other for other in probe.languages[:place] if _alike(language, other, named)), None)
        if twin is not None:
            yield _field(f"{language} names the prompts of {twin} once more; name every language once", "languages", place)


def _alike(one: str, other: str, suites: Sequence[OfferedSuite]) -> bool:
    """Whether both tags stand for the same prompts: they have one base, and the suites do not tell them apart."""
    return base_of(one) == base_of(other) and not any({one, other} <= set(suite.languages) for suite in suites)


def serves(spec: RunSpec, offer: Offer) -> bool:
    """Whether this runner alone can measure all of it (its labels apart)."""
    return not _lacking(spec, [offer]) and spec.load.concurrency <= offer.max_concurrency


def resolved(spec: RunSpec, offers: Iterable[Offer]) -> RunSpec:
    """The run with the defaults of the first of these that can measure it; as it is where none can."""
    return next((with_defaults(spec, offer) for offer in offers if serves(spec, offer)), spec)


def labelled(spec: RunSpec, offer: Offer) -> bool:
    return all(offer.labels.get(name) == value for name, value in spec.wanted_labels.items())


def _field(detail: str, *path: object) -> Field:
    return {"pointer": pointer(path), "detail": detail}


def _named(spec: RunSpec, offers: Sequence[Offer]) -> Iterator[Field]:
    having = [offer.on(spec.engine) for offer in offers if spec.engine in offer.engines]
    if having:
        yield from _drafter(spec, having, offers)
        yield from ({"pointer": at, "detail": said} for at, said in beyond(spec))
    else:
        # What an unknown engine would have nobody knows.
        yield _field(did_you_mean("engine", spec.engine, {name for offer in offers for name in offer.engines}), "engine")
    if spec.compile and not any(offer.compiles for offer in having or offers):
        yield _field(
            "no runner can compile: that needs a C++ compiler and the header files of Python there; install them, or leave it out", "compile"
        )
    if spec.engine == OWN_ENGINE:
        yield from _part("controller", spec.controller, [part for offer in having for part in offer.controllers])
        yield from _part("verifier", spec.verifier, [part for offer in having for part in offer.verifiers])
    most = max((offer.max_concurrency for offer in offers), default=1)
    if spec.load.concurrency > most:
        yield _field(f"no runner serves more than {most} requests at once", "load", "concurrency")


def _drafter(spec: RunSpec, having: Sequence[Offer], offers: Sequence[Offer]) -> Iterator[Field]:
    """`having` are what `offers` have for the engine of the run."""
    name, parts = spec.drafter.name, [part for offer in having for part in offer.drafters]
    others = {engine for offer in offers for engine in offer.engines if name in {part.name for part in offer.on(engine).drafters}}
    if others and spec.engine not in others:
        yield _field(f'There is no drafter "{name}" on engine {spec.engine}; it belongs to {", ".join(sorted(others))}.', "drafter", "name")
    else:
        yield from _part("drafter", spec.drafter, parts)


def _part(kind: str, choice: Choice, parts: Sequence[Part]) -> Iterator[Field]:
    same = [part for part in parts if part.name == choice.name]
    if not same:
        yield _field(did_you_mean(kind, choice.name, (part.name for part in parts)), kind, "name")
        return
    # Runners of different versions may take different parameters; one that takes these is enough.
    tried = [list(faults(part.schema_, choice.params)) for part in same]
    for path, wrong in min(tried, key=len):
        yield _field(wrong, kind, "params", *path)


def _model(model: ModelSource, offers: Sequence[Offer]) -> Iterator[Field]:
    offered = [item for offer in offers for item in offer.models]
    named = [item for item in offered if item.source == model.source and item.name == model.title]
    if not named:
        # The zoo's names are written where those of packages are; of another source nothing can be meant there.
        near = [item.name for item in offered if item.source == model.source] or [f"{item.source}:{item.name}" for item in offered]
        yield _field(did_you_mean("zoo model" if model.source == "zoo" else "model", model.title, near), "model", NAMED_IN[model.source])
        return
    if all(item.revision not in (None, model.revision) for item in named):
        revisions = sorted({str(item.revision) for item in named})
        yield _field(f"this model is offered at revision {', '.join(revisions)}", "model", "revision")
    if model.file is not None and all(item.file not in (None, model.file) for item in named):
        yield _field(did_you_mean("file", model.file, (item.file for item in named if item.file)), "model", "file")
    if not any(_has_dtype(item, model) for item in named):
        dtypes = sorted({dtype for item in named for dtype in item.dtypes})
        yield _field(f"no runner runs this model in {model.dtype}; there is {', '.join(dtypes)}", "model", "dtype")


def _served(spec: RunSpec, offers: Sequence[Offer]) -> Iterator[Field]:
    """A model that runners have and this engine does not serve, or serves in nobody knows what."""
    engines = [engine for offer in offers if (engine := offer.at(spec.engine)) is not None]
    if not engines:
        return
    named, models = f"{spec.model.source}:{spec.model.title}", sorted({model for each in engines for model in each.models})
    if named not in models and any(named == f"{item.source}:{item.name}" for offer in offers for item in offer.models):
        yield _field(f"engine {spec.engine} does not serve {named}; it serves {_listed(models)}", "model", NAMED_IN[spec.model.source])
    elif spec.model.dtype == "auto" and not any(each.starts for each in engines):
        yield _field(f"engine {spec.engine} runs already and does not tell what it computes in; name {_listed(SAID)}", "model", "dtype")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "") if names else "none"


def _has_dtype(item: OfferedModel, model: ModelSource) -> bool:
    return model.dtype == "auto" or model.dtype in item.dtypes


def _suite(spec: RunSpec, offers: Sequence[Offer]) -> Iterator[Field]:
    offered = [suite for offer in offers for suite in offer.suites]
    named = [suite for suite in offered if suite.id == spec.suite.id]
    if not named:
        yield _field(did_you_mean("suite", spec.suite.id, (suite.id for suite in offered)), "suite", "id")
        return
    if clash(spec.suite.id, offers):
        digests = " and ".join(sorted({suite.digest[:12] for suite in named}))
        said = f"two suites are named {spec.suite.id} with different digests, {digests}; the uploaded one must be named otherwise"
        yield _field(said, "suite", "id")
        return
    profiles = {profile for suite in named for profile in suite.profiles}
    for place, profile in enumerate(spec.suite.profiles or ()):
        if profile not in profiles:
            yield _field(did_you_mean("profile", profile, profiles), "suite", "profiles", place)
    if not any(_speaks(suite, spec.language) for suite in named):
        languages = sorted({language for suite in named for language in suite.languages})
        yield _field(f"suite {spec.suite.id} has no prompts in {spec.language}; it has {', '.join(languages)}", "language")


def with_suites(offer: Offer, stored: Iterable[OfferedSuite]) -> Offer:
    """The offer of a runner that is handed the prompts of these suites. One with the id of a suite of its own and another digest stays beside
    that, so that the two are seen to clash and neither is measured in the place of the other."""
    own = {(suite.id, suite.digest) for suite in offer.suites}
    return offer.model_copy(update={"suites": (*offer.suites, *(suite for suite in stored if (suite.id, suite.digest) not in own))})


def clash(id: str, offers: Iterable[Offer]) -> bool:
    """Whether the runner of one of these offers has a suite of this id and is handed other prompts under it."""
    return any(len({isinstance(suite, HandedSuite) for suite in offer.suites if suite.id == id}) > 1 for offer in offers)


def _speaks(suite: OfferedSuite, language: str) -> bool:
    return base_of(language) in {base_of(known) for known in suite.languages}


def merged(parts: Iterable[Part]) -> list[Part]:
    """One part a name: the first that was offered under it."""
    found: dict[str, Part] = {}
    for part in parts:
        found.setdefault(part.name, part)
    return list(found.values())


def alike(engines: Iterable[ServedEngine]) -> list[ServedEngine]:
    """One engine an alias, with what any runner has under it; the kind, and who starts it, as it was offered first."""
    found: dict[str, ServedEngine] = {}
    for engine in engines:
        first = found.setdefault(engine.name, engine)
        models = tuple(dict.fromkeys((*first.models, *engine.models)))
        more = {"drafters": tuple(merged((*first.drafters, *engine.drafters))), "models": models}
        found[engine.name] = first.model_copy(update=more | {"plain": first.plain or engine.plain, "observed": first.observed and engine.observed})
    return list(found.values())
