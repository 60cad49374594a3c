"""What SGLang tells of its own work: `meta_info` in each answer of /generate, whose key names moved twice.

Drafts are not counted there: every version writes rounds · (draft tokens − 1), so D is nominal whoever multiplies. Whether they are a tree's nodes
stands in /server_info alone. Its gauges and `avg_spec_accept_length` are of the server's last interval or whole life: no run's figure is in them."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.counts import Counts
from app.domain.outside.reading import Absent, Reading
from app.domain.outside.untrusted import LONGEST_DRAFT, NotUnderstood, Told, absences, count, counts, section, word
from app.domain.outside.versions import Shape
from app.domain.sentence import plain

_ROUTE = "/generate"


@dataclass(frozen=True)
class Generation:
    """The names of kept and proposed drafts and of the histogram in the versions of `shape`."""

    shape: Shape
    kept: str
    proposed: str
    histogram: str


# The newest first: it writes the names of the one before as well.
GENERATIONS = (
    Generation(
        Shape(engine="sglang", name="≥ 0.5.12", said_in=_ROUTE, read_from="0.5.23"),
        "spec_num_correct_drafts", "spec_num_proposed_drafts", "spec_correct_drafts_histogram",
    ),
    Generation(
        Shape(engine="sglang", name="0.5.11", said_in=_ROUTE, read_from="verl #7543"),
        "spec_accepted_drafts", "spec_proposed_drafts", "spec_accept_histogram",
    ),
    Generation(
        Shape(engine="sglang", name="≤ 0.5.10", said_in=_ROUTE, read_from="verl #7543"),
        "spec_accept_token_num", "spec_draft_token_num", "spec_accept_histogram",
    ),
)  # fmt: skip
SHAPES = tuple(each.shape for each in GENERATIONS)

_META, _EMITTED, _ROUNDS = "meta_info", "meta_info.completion_tokens", "meta_info.spec_verify_ct"
_DRAFT_TOKENS, _TOPK = "speculative_num_draft_tokens", "speculative_eagle_topk"
_MADE_UP = "SGLANG_SIMULATE_ACC_LEN"


@dataclass(frozen=True)
class Server:
    """How a server drafts: `draft_tokens` a round, the target's own among them; `topk` branches at each."""

    version: str | None = None
    draft_tokens: int | None = None
    topk: int | None = None


def meta_info(body: Mapping[str, object], *, server: Server | None = None, forced: str | None = None) -> Reading:
    """One answer of /generate. `server` is what /server_info told; without it nobody knows whether drafts were chains, and `tree` is among the
    absent. Raises NotUnderstood."""
    server = server or Server()
    found = section(body, _META)
    names = _generation(found)
    kept, made = f"{_META}.{names.kept}", f"{_META}.{names.proposed}"
    told: Told = {
        "emitted": count(found, _EMITTED),
        "rounds": count(found, _ROUNDS),
        "drafted": count(found, made),
        "verified": count(found, kept),
    }
    if told["drafted"] is None and told["rounds"] is not None and server.draft_tokens:
        told["drafted"] = told["rounds"] * (server.draft_tokens - 1)
    looked_for = {"emitted": (_EMITTED,), "rounds": (_ROUNDS,), "drafted": _all("proposed"), "verified": _all("kept")}
    chain = server.topk == 1
    unknown = () if server.topk is not None else (Absent(count="tree", looked_for=(_TOPK,)),)
    return Reading(
        engine="sglang",
        shape=names.shape.name,
        counts=Counts(
            requests=1,
            **told,
            longest_draft=server.draft_tokens - 1 if chain and server.draft_tokens else None,
            histogram=counts(found, f"{_META}.{names.histogram}"),
        ),
        drafted_source="absent" if told["drafted"] is None else "nominal",
        absent=absences(looked_for, told) + unknown,
        tree=server.topk is not None and not chain,
        forced=forced,
    )


def _generation(found: Mapping[str, object] | None) -> Generation:
    """The one whose names are there; the newest where none is."""
    return next((each for each in GENERATIONS if found is not None and (each.kept in found or each.proposed in found)), GENERATIONS[0])


def _all(field: str) -> tuple[str, ...]:
    return tuple(f"{_META}.{getattr(each, field)}" for each in GENERATIONS)


def server_info(body: Mapping[str, object]) -> Server:
    """Of /server_info; its figures are the server's and are not read. Raises NotUnderstood."""
    draft_tokens = count(body, _DRAFT_TOKENS)
    if draft_tokens is not None and draft_tokens > LONGEST_DRAFT:
        raise NotUnderstood(plain("A draft of %(tokens)s tokens is longer than any engine makes.", tokens=str(draft_tokens)))
    return Server(version=word(body, "version"), draft_tokens=draft_tokens, topk=count(body, _TOPK))


def forced(environment: Mapping[str, str]) -> str | None:
    """The variable of the server's environment that makes acceptance up; None where there is none. It does so above 0; what is no number counts
    as set."""
    value = environment.get(_MADE_UP, "").strip()
    if not value:
        return None
    try:
        return _MADE_UP if not float(value) <= 0 else None
    except ValueError:
        return _MADE_UP
