"""Drafts a tree over another drafter: the likeliest paths by its own probabilities, verified in one forward."""

import difflib
from collections.abc import Sequence
from typing import Annotated, Any, Self

import torch
from pydantic import BaseModel, Field, ValidationError, model_validator
from torch import Tensor

from app.discovery import subclasses_of
from app.domain.drafting import most_nodes, settings
from app.domain.fit import no_tree_over
from app.domain.spec import ModelSource
from runners.drafters.base import Drafter, More, Params
from runners.engine.companion import Companion
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft, Resume
from runners.engine.growth import Growth
from runners.engine.target import Stretch, Target
from runners.engine.tree import Look, Tree

# Of all levels looked at, in the order of their seats: the law behind each token, and the target's states there.
Seen = tuple[list[Tensor], list[Tensor]]


class TreeTopkParams(Params):
    of: Annotated[
        str, Field(min_length=1, max_length=64, title="Drafter behind the tree", description="by name; it must know what follows any path")
    ] = "layerskip"
    settings: Annotated[
        str, Field(max_length=1000, title="Parameters of that drafter", description="as name=value, several with commas between them")
    ]
    nodes: Annotated[int, Field(ge=1, le=256, title="Nodes", description="the most tokens of a tree, all of which are verified in one forward")] = 32
    width: Annotated[
        int, Field(ge=1, le=16, title="Width", description="continuations of a path, and paths followed at a time; the draft length is the depth")
    ] = 4

    @model_validator(mode="after")
    def _fits_its_drafter(self) -> Self:
        self.inner()
        return self

    def drafter(self) -> type[Drafter]:
        """Raises ValueError where there is no such drafter, or it does not branch."""
        found = {name: each for name, each in subclasses_of("runners.drafters", Drafter).items() if each.branches}  # type: ignore[type-abstract]
        if self.of not in found:
            near = difflib.get_close_matches(self.of, found, n=1)
            raise ValueError(no_tree_over(self.of, near[0] if near else None, list(found)))
        return found[self.of]

    def inner(self) -> Any:
        """The drafter's own parameters. Raises ValueError where it does not take them."""
        given = settings(self.settings)
        try:
            return self.drafter().Params.model_validate(given)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'parameters'}: {e['msg']}" for e in error.errors(include_url=False))
            raise ValueError(f"settings of {self.of}: {wrong}") from error


class TreeTopk(Drafter):
    """Level by level, `width` tokens behind each of the `width` likeliest paths; of all of them the `nodes` with the likeliest paths are verified
    together. Greedy they are the likeliest tokens (so grow the trees of EAGLE-2, arXiv 2406.16858, § 4.1); sampled they are drawn without replacement
    (Sequoia, arXiv 2402.12374, § 3.2), and which of them stay is decided without a look at what was drawn (runners.engine.growth; that rule is
    ours). The controller's draft length is the depth. A draft ends early where nothing deeper could be among the chosen.
    """

    name = "tree-topk"
    summary = "a tree of the likeliest paths of another drafter, verified in one forward"
    Params = TreeTopkParams
    always_drafts = True
    trees = True
    params: TreeTopkParams

    def __init__(self, params: TreeTopkParams, target: Target, chance: Chance | None = None, companion: Companion | None = None) -> None:
        super().__init__(params, target, chance)
        beside: dict[str, Any] = {} if companion is None else {"companion": companion}
        self.base, self.companion = params.drafter()(params.inner(), target, self.chance, **beside), companion

    @classmethod
    def wants(cls, params: TreeTopkParams) -> ModelSource | None:
        return params.drafter().wants(params.inner())

    @classmethod
    def source(cls, params: BaseModel) -> type[Drafter]:
        assert isinstance(params, TreeTopkParams)
        return params.drafter()

    def forced(self) -> str | None:
        return self.base.forced()

    def most(self, longest: int) -> int:
        return most_nodes(self.params.nodes, self.params.width, longest)

    @classmethod
    def columns(cls, params: BaseModel, longest: int) -> int:
        assert isinstance(params, TreeTopkParams)
        return max(params.nodes, params.width * longest)

    def stretches(self, longest: int) -> set[Stretch]:
        return {Stretch(0, self.target.layers, self.most(longest) + 1)}

    def reset(self) -> None:
        self.base.reset()

    def begin(self, slot: int, ids: Sequence[int]) -> None:
        self.base.begin(slot, ids)

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        del more
        growths = [Growth(ids[-1], self.params.nodes, self.params.width) for ids in batch.ids]
        active, depth, seats = [r for r in range(len(batch)) if limits[r] > 0], 0, 0
        laws: list[Tensor] = []
        states: list[Tensor] = []
        while active:
            open_rows = batch.rows(active)
            look = Look.at([growths[r].spots() for r in active], self.target.device)
            logits, hidden = self.base.behind(open_rows, look)
            law = self._add([growths[r] for r in active], open_rows, logits, seats)
            seats, depth = seats + look.tokens.numel(), depth + 1
            if law is not None:
                laws.append(law.flatten(0, 1))
            if hidden is not None and self.base.exit_layer is not None:
                states.append(hidden.flatten(0, 1))
            active = [r for r in active if limits[r] > depth and growths[r].advance()]
        return self._draft(growths, (laws, states))

    def _add(self, growths: Sequence[Growth], batch: Batch, logits: Tensor, seats: int) -> Tensor | None:
        """Adds the children of all that was looked at; `logits` `[A, w, V]` stand behind it. Returns the law that they were drawn from, or None."""
        for a, growth in enumerate(growths):
            for i, index in enumerate(growth.frontier):
                growth.at(index).seat = seats + a * logits.shape[1] + i
        if self.chance.law.greedy:
            best = logits.float().softmax(dim=-1).topk(min(self.params.width, logits.shape[-1]), dim=-1)
            shares, tokens = best.values.tolist(), best.indices.tolist()
            for a, growth in enumerate(growths):
                for i, index in enumerate(growth.frontier):
                    for token, share in zip(tokens[a][i], shares[a][i], strict=True):
                        growth.add(index, token, share, share)
            return None
        law = self.chance.law.probabilities(logits)
        self._draw(growths, batch, law)
        return law

    def _draw(self, growths: Sequence[Growth], batch: Batch, law: Tensor) -> None:
        """Children drawn without replacement, the next of every path in turn; a law of few tokens ends early."""
        rest, pairs = law.clone(), [(a, i) for a, growth in enumerate(growths) for i in range(len(growth.frontier))]
        for _ in range(self.params.width):
            best = rest.max(dim=-1).values.tolist()
            pairs = [(a, i) for a, i in pairs if best[a][i] > 0]
            if not pairs:
                return
            rows, ways = torch.tensor(pairs, device=law.device).T
            drawn = self.chance.dice.pick([batch.slots[a] for a, _ in pairs], rest[rows, ways]).to(law.device)
            shares = law[rows, ways, drawn].tolist()
            rest[rows, ways, drawn] = 0.0
            for (a, i), token, share in zip(pairs, drawn.tolist(), shares, strict=True):
                growths[a].add(growths[a].frontier[i], token, share, best[a][i])

    def _draft(self, growths: Sequence[Growth], seen: Seen) -> Draft:
        chosen = [growth.chosen() for growth in growths]
        width, device = max(map(len, chosen)), self.target.device
        if width == 0:
            return Draft.empty(len(growths), device)
        tokens = [[growth.sprouts[index].token for index in own] + [0] * (width - len(own)) for growth, own in zip(growths, chosen, strict=True)]
        parents, columns = zip(*(growth.shape(own) for growth, own in zip(growths, chosen, strict=True)), strict=True)
        return Draft(
            torch.tensor(tokens, dtype=torch.long, device=device),
            tuple(map(len, chosen)),
            probabilities=self._laws(growths, chosen, width, seen[0]),
            resume=self._resume(growths, chosen, width, seen[1]),
            tree=Tree(parents, columns),
        )

    def _laws(self, growths: Sequence[Growth], chosen: Sequence[Sequence[int]], width: int, laws: list[Tensor]) -> Tensor | None:
        """`[B, n, V]` behind each chosen token's parent."""
        if not laws:
            return None
        seats = [[growth.at(growth.sprouts[index].parent).seat or 0 for index in own] for growth, own in zip(growths, chosen, strict=True)]
        return torch.cat(laws)[torch.tensor([own + [0] * (width - len(own)) for own in seats], device=self.target.device)]

    def _resume(self, growths: Sequence[Growth], chosen: Sequence[Sequence[int]], width: int, states: list[Tensor]) -> Resume | None:
        if not states or self.base.exit_layer is None:
            return None
        seats = [[growth.at(index).seat for index in (-1, *own)] for growth, own in zip(growths, chosen, strict=True)]
        missing = tuple(tuple(node for node, seat in enumerate(own) if seat is None) for own in seats)
        known = [[seat or 0 for seat in own] + [0] * (width + 1 - len(own)) for own in seats]
        return Resume(self.base.exit_layer, torch.cat(states)[torch.tensor(known, device=self.target.device)], missing)
